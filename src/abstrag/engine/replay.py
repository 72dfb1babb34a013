"""Replaying a file of episodes against the patches in force: what a team runs in its own checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from abstrag.engine.library import Library
from abstrag.engine.refinement import Refiner, local_judges, packaged_evaluator
from abstrag.engine.searcher import Searcher
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.policy.store import DEFAULT_FAMILY, PolicyStore
from abstrag.rank.relevance import DEFAULT_PRESET, Preset
from abstrag.refine.episode import Episode, read_episodes
from abstrag.refine.evaluator import Evaluator, K
from abstrag.refine.ledger import Ledger, text_hash
from abstrag.refine.replay import ReplayedCase, ReplayReport, replay
from abstrag.stores.open import Target, default_store, open_store


def replay_file(
    path: Path,
    *,
    store_root: Path | None = None,
    family: str = DEFAULT_FAMILY,
    documents: Target | None = None,
    evaluator: Evaluator | None = None,
    preset: Preset = DEFAULT_PRESET,
) -> ReplayReport:
    """Judge the episodes of a file without any patch and with those in force.

    Args:
        path: JSON lines of target, query and, where known, gold.
        store_root: the policy folder; none means the user's own.
        family: whose patches.
        documents: the store to index targets into; none means the user's own.
        evaluator: who says what is evidence; none means the packaged judge, which is not even
            loaded when every episode has gold.
        preset: how factors are weighed.
    """
    episodes = read_episodes(path)
    ledger = Ledger(PolicyStore.open(store_root, family))
    cases: list[ReplayedCase] = []
    with open_store(documents or default_store()) as store:
        library = Library(store)
        for target in dict.fromkeys(episode.target for episode in episodes):
            searcher = Searcher(library.open(target), preset=preset)
            own = [episode for episode in episodes if episode.target == target]
            judge = evaluator or _evaluator(own, searcher)
            refiner = Refiner(searcher, local_judges(searcher, judge), ledger=ledger)
            cases += replay(
                refiner.system,
                own,
                judge,
                before=refiner.initial,
                after=refiner.state,
                patches=len(ledger.kept(text_hash(searcher.index))),
            )
    return ReplayReport(tuple(cases))


def gold_evaluator(*, k: int = K, compression: str = "distractors") -> Evaluator:
    """Return an evaluator for episodes that all have gold: nothing else is evidence."""
    return Evaluator(_takes_nothing, k=k, compression=compression, name="gold")


def _evaluator(episodes: Sequence[Episode], searcher: Searcher) -> Evaluator:
    if all(episode.gold for episode in episodes):
        return gold_evaluator()
    return packaged_evaluator(title=searcher.index.document.title)


def _takes_nothing(query: Query, segments: Sequence[Segment]) -> list[float]:  # noqa: ARG001
    return [0.0] * len(segments)
