"""Replay: are cases that were solved without any patch still solved with those in force?"""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.model.record import record
from abstrag.refine.evaluator import Evaluator, Signals
from abstrag.refine.feedback import Episode
from abstrag.refine.overlay import StatefulSearch
from abstrag.refine.state import State


@record
class ReplayedCase:
    """One episode, without patches and with them; a solved one has to keep all it rests on."""

    target: str
    query: str
    sufficient_before: bool
    sufficient: bool
    patches: int  # in force for the document

    @property
    def regressed(self) -> bool:
        """True when the patches cost the case its evidence."""
        return self.sufficient_before and not self.sufficient


@record
class ReplayReport:
    """What a replay found."""

    cases: tuple[ReplayedCase, ...]

    @property
    def regressions(self) -> tuple[ReplayedCase, ...]:
        """The cases that patches made worse."""
        return tuple(case for case in self.cases if case.regressed)


def replay(
    system: StatefulSearch,
    episodes: Iterable[Episode],
    evaluator: Evaluator,
    *,
    before: State,
    after: State,
    patches: int,
) -> tuple[ReplayedCase, ...]:
    """Judge every episode of one document under two states."""

    def look(episode: Episode, state: State) -> Signals:
        scoring = system.scoring(episode.query, state)
        ranking = scoring.ranking(evaluator.k)
        return evaluator.signals(episode, ranking, scoring.document.segments)

    def replayed(episode: Episode) -> ReplayedCase:
        old, new = look(episode, before), look(episode, after)
        return ReplayedCase(
            target=episode.target,
            query=episode.query,
            sufficient_before=old.sufficient,
            sufficient=new.sufficient and old.survives(new),
            patches=patches,
        )

    return tuple(replayed(episode) for episode in episodes)
