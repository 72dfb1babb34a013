"""Replaying a file of episodes against the patches in force: what a team runs in its own checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from abstrag.engine.refinement import packaged_evaluator
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.refine.episode import Episode, read_episodes
from abstrag.refine.evaluator import Evaluator, K
from abstrag.refine.replay import ReplayedCase, ReplayReport, replay
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.refining import refiner_of
from abstrag.workspace.workspace import Workspace


def replay_file(
    path: Path, workspace: Workspace, *, evaluator: Evaluator | None = None
) -> ReplayReport:
    """Judge the episodes of a file without any patch and with those in force.

    Args:
        path: JSON lines of target, query and, where known, gold.
        workspace: Whose documents and patches; targets that are files are indexed into its store.
        evaluator: Who says what is evidence; none means the packaged judge, which is not even
            loaded when every episode has gold.
    """
    episodes = read_episodes(path)
    cases: list[ReplayedCase] = []
    for target in dict.fromkeys(episode.target for episode in episodes):
        document = workspace.document(target)
        own = [episode for episode in episodes if episode.target == target]
        refiner = refiner_of(document)
        cases += replay(
            refiner.system,
            own,
            evaluator or _evaluator(own, document),
            before=refiner.initial,
            after=refiner.state,
            patches=len(document.patches),
        )
    return ReplayReport(tuple(cases))


def gold_evaluator(*, k: int = K, compression: str = "distractors") -> Evaluator:
    """Return an evaluator for episodes that all have gold: nothing else is evidence."""
    return Evaluator(_takes_nothing, k=k, compression=compression, name="gold")


def _evaluator(episodes: Sequence[Episode], document: SearchableDocument) -> Evaluator:
    if all(episode.gold for episode in episodes):
        return gold_evaluator()
    return packaged_evaluator(title=document.index.document.title)


def _takes_nothing(query: Query, segments: Sequence[Segment]) -> list[float]:  # noqa: ARG001
    return [0.0] * len(segments)
