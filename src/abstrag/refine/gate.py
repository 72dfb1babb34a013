"""The acceptance gate: a patch passes only if nothing got worse and something got better.

A pure function of what every episode looked like before and after (Eqs. 7 and 8). Sufficiency is
asked of the controls, compression of the trigger and its kin, and progress of the whole file:
Φ = (sufficient cases, gold among the first K) must rise in lexicographic order. A patch that
solves nothing is therefore never kept, and a run of accepted patches climbs and cannot go round
in circles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

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


OVERLAP: Final = 0.5  # of the first K, before and after, in place of controls
_IDLE: Final = "it solves nothing: the first hits of no query change"
_TINY: Final = 1e-9  # a change of a sum of shares that is nothing but rounding


@record
class GateVerdict:
    """Whether a patch stays, and every reason why not."""

    accepted: bool
    reasons: tuple[str, ...] = ()  # empty when accepted
    lifts: bool = False  # solves nothing, harms nothing, and the gold ranks higher: a vote, no more


@record
class Controls:
    """What the gate enforces: everything, except to measure what each part is for.

    The two controls without `progress` are the paper's gate; only with it does a run converge. What
    changes the first hits of no query is refused either way.
    """

    sufficiency: bool = True
    compression: bool = True
    progress: bool = True


ALL: Final = Controls()
Cases = Mapping[str, Signals]  # query → what it looks like


def decide(
    before: Cases,
    after: Cases,
    *,
    triggers: Collection[str],
    controls: Collection[str],
    kept: float | None = None,
    enforce: Controls = ALL,
) -> GateVerdict:
    """Compare every episode of the file under the state in force and under that of a patch.

    The triggers are the failure at hand and its kin, the controls solved cases. `kept`, the share
    of the trigger's first K that stays, stands in for controls where no case is solved yet (corpus
    mode): a patch may lift evidence into a ranking, and may not turn the ranking over.
    """
    reasons = _doubts(after, [*triggers, *controls])
    if enforce.sufficiency:
        reasons += _losses(before, after, controls)
        if kept is not None and kept < OVERLAP:
            reasons.append(f"only {kept:.0%} of the first hits stay, at least {OVERLAP:.0%} must")
    if enforce.compression:
        reasons += _spread(before, after, triggers)
    if enforce.progress and (lacking := _progress(before, after)):
        lifts = not reasons and _lifts(before, after, triggers)
        return GateVerdict(False, (*reasons, *lacking), lifts)
    if not enforce.progress and all(
        (was.first, was.sufficient) == (after[name].first, after[name].sufficient)
        for name, was in before.items()
    ):
        reasons.append(_IDLE)
    return GateVerdict(not reasons, tuple(reasons))


def potential(cases: Cases) -> tuple[int, int]:
    """Φ: how many cases are sufficient, and how much of what people call evidence is found."""
    return sum(c.sufficient for c in cases.values()), sum(c.found for c in cases.values())


def kept_share(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of the earlier hits that are still there; all of none is all."""
    return len(set(before) & set(after)) / len(before) if before else 1.0


def _doubts(after: Cases, names: Collection[str]) -> list[str]:
    """Return the cases whose verdict is doubtful because the judges disagree."""
    return [
        f"the judges disagree about “{name}” ({after[name].dissent:.0%} dissent)"
        for name in sorted(set(names))
        if not after[name].certain
    ]


def _losses(before: Cases, after: Cases, controls: Collection[str]) -> list[str]:
    """Return the solved cases that would lose evidence, even if other evidence replaces it."""
    return [
        f"control “{name}” loses its evidence"
        for name in sorted(controls)
        if not before[name].survives(after[name])
    ]


def _spread(before: Cases, after: Cases, triggers: Collection[str]) -> list[str]:
    return [
        f"“{name}” spreads out: compression {before[name].compression:.2f} → "
        f"{after[name].compression:.2f}"
        for name in sorted(triggers)
        if after[name].compression < before[name].compression - _TINY
    ]


def _progress(before: Cases, after: Cases) -> list[str]:
    (old, old_found), (new, new_found) = potential(before), potential(after)
    if (new, new_found) > (old, old_found):
        return []
    changed = sum(before[name].first != after[name].first for name in before)
    if not changed:
        return [_IDLE]
    queries = "1 query changes" if changed == 1 else f"{changed} queries change"
    return (
        [f"it solves nothing: {queries}, and {new} of {len(after)} are solved as before"]
        if (new == old)
        else [f"it solves less: {old} → {new} of {len(after)} queries"]
    )


def _lifts(before: Cases, after: Cases, triggers: Collection[str]) -> bool:
    """Tell whether gold ranks higher over the whole file, and for the queries at hand."""
    own = sum(after[name].gain - before[name].gain for name in triggers)
    return own > _TINY and sum(after[n].gain - before[n].gain for n in before) > _TINY
