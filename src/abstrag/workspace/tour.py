"""The bundled documents: the example of the paper, and the tour of refinement with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from abstrag.documents.load import load
from abstrag.indexing.pipeline import index
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Ranking
from abstrag.model.record import record
from abstrag.model.segment import Segment
from abstrag.refine.feedback import Noted, SaidStep
from abstrag.refine.outcome import Refinement
from abstrag.search.relevance import FAST
from abstrag.stores.sqlite import MEMORY
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace

DEMO_QUERY: Final = "Give me all collaborations between LLM companies and chip suppliers in 2024"
DEMO_SENTENCE: Final = (
    "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."
)
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


def demo_document(name: str = "chips.md") -> Document:
    """Load the bundled article, or another of the bundled documents."""
    with as_file(files("abstrag.data") / "demo" / name) as path:
        return load(path)


def demo_background() -> Background:
    """Load the Background that goes with it."""
    with as_file(files("abstrag.data") / "demo" / "chips.toml") as path:
        return Background.load(path)


def demo_index(*, with_background: bool = True) -> DocumentIndex:
    """Index the bundled article."""
    background = demo_background() if with_background else EMPTY
    return index(demo_document(), background=background)


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
    return demo_document("water.md")


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
        log=tuple(
            f"{entry.payload['action']} {entry.payload['id']}: {entry.reason}"
            for entry in workspace.patches.log()
        ),
    )


# The tour of feedback: the bundled report under the default preset, and nobody knows the answers.
#
# A question is asked that the report does not answer; another is mended without gold, or the loop
# says what it tried; a person says that a step is right, and the next question profits; it is
# undone.

UNANSWERED: Final = "Which airline lost the most luggage?"
FAILING_FEEDBACK: Final = "How much sewage was spilled in March?"
ASKED: Final = "Which employee raised the alarm?"
STEP: Final = SaidStep("employee", "worker")
NEXT: Final = "Which employee repairs the clocks?"


@record
class FeedbackTour:
    """Everything the tour shows, in order."""

    unanswered: Ranking  # of a question that the report has no answer to
    refined: Refinement  # what the loop tries where nobody says what is evidence
    noted: Noted  # a person calls a step right
    before: Ranking  # another question, as it would have gone
    after: Ranking  # and as it goes now
    exact: bool  # once it is taken back, state and ranking are what they were


def feedback_workspace(folder: Path) -> Workspace:
    """Open a workspace with the shipped models and a policy folder of its own."""
    return Workspace(WorkspaceConfig(store=MEMORY, policy=folder, family="tour"))


def feedback_tour(workspace: Workspace) -> FeedbackTour:
    """Go through it, step by step."""
    name = workspace.document(tour_document()).index.document.id
    unanswered = workspace.document(name).search(UNANSWERED)
    refined = workspace.document(name).refine(FAILING_FEEDBACK)
    before = workspace.document(name).search(NEXT)
    noted = workspace.document(name).feedback(ASKED, right=[STEP])
    after = workspace.document(name).search(NEXT)
    for patch in noted.patches:
        workspace.patches.revert(patch.id)
    last = workspace.document(name).search(NEXT)
    return FeedbackTour(unanswered, refined, noted, before, after, exact=last == before)
