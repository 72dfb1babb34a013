"""The tour of refinement: a bundled report, questions about it, and their evidence by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from abstrag.documents.load import load
from abstrag.model.document import Document
from abstrag.model.query import Query
from abstrag.model.ranking import Ranking
from abstrag.model.record import record
from abstrag.model.segment import Segment
from abstrag.refine.outcome import Refinement
from abstrag.search.relevance import FAST
from abstrag.stores.location import MEMORY
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace

FAILING: Final = "Where did sewage enter the river?"
PROFITING: Final = "How much sewage was spilled in March?"
SPREADING: Final = "Which employee raised the alarm?"
EVIDENCE: Final[Mapping[str, str]] = {
    FAILING: "Untreated wastewater reached the Alder below the old mill, at kilometre twelve.",
    PROFITING: (
        "The station lost 1,900 cubic metres of wastewater before anybody could switch it on again."
    ),
    SPREADING: (
        "A worker on the late bus saw the dark basin and telephoned the fire brigade at three."
    ),
}


@dataclass(frozen=True, slots=True)
class LabelJudge:
    """A judge that knows the answers: for each question, the one sentence people marked."""

    evidence: Mapping[str, str]

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Say 1 of the marked sentence and 0 of every other."""
        return [float(segment.text == self.evidence.get(query.text)) for segment in segments]


@record
class Tour:
    """Everything the tour shows, in order."""

    refined: Refinement  # a query that fails, and the patch that mends it
    second_before: Ranking  # another query, as it would have gone
    second: Ranking  # and as it goes with the patch, unrefined
    refused: Refinement  # a patch that would let too much in
    reverted: Ranking  # the first query once the patch is taken back
    exact: bool  # state and ranking are those before the patch, to the last digit
    log: tuple[str, ...]  # the audit log, one line an entry


def tour_workspace(folder: Path) -> Workspace:
    """Open a workspace with a policy folder of its own, whose judge knows the answers."""
    config = WorkspaceConfig(
        store=MEMORY, policy=folder, family="tour", options=SearchOptions(preset=FAST)
    )
    return Workspace(config, judge=LabelJudge(EVIDENCE))


def tour_document() -> Document:
    """Load the bundled report."""
    with as_file(files("abstrag.data") / "demo" / "water.md") as path:
        return load(path)


def tour(workspace: Workspace) -> Tour:
    """Go through it, step by step."""
    name = workspace.document(tour_document()).index.document.id
    before = workspace.document(name)
    unrefined, second_before = before.search(FAILING), before.search(PROFITING)
    refined = before.refine(FAILING)
    after = workspace.document(name)
    second = after.search(PROFITING)
    refused = after.refine(SPREADING)
    for patch in refined.patches:
        workspace.patches.revert(patch.id)
    last = workspace.document(name)
    reverted = last.search(FAILING)
    return Tour(
        refined=refined,
        second_before=second_before,
        second=second,
        refused=refused,
        reverted=reverted,
        exact=not last.patches and reverted == unrefined,
        log=tuple(_line(entry.payload, entry.reason) for entry in workspace.patches.log()),
    )


def _line(payload: Mapping[str, object], reason: str) -> str:
    return f"{payload['action']} {payload['id']}: {reason}"
