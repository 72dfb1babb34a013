"""The acceptance gate: a patch passes only if nothing got worse and something got better.

A pure function of what every episode looked like before and after (Eqs. 7 and 8). Sufficiency is
asked of the controls, compression of the trigger and its kin, and progress of the whole file:
Φ = (sufficient cases, Σ Comp) must rise in lexicographic order. A run of accepted patches
therefore climbs and cannot go round in circles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from abstrag.model.record import record
from abstrag.refine.evaluator import Signals

OVERLAP: Final = 0.5  # of the first K, before and after, in place of controls
_TINY: Final = 1e-9  # a change of a sum of shares that is nothing but rounding


@record
class Verdict:
    """Whether a patch stays, and every reason why not."""

    accepted: bool
    reasons: tuple[str, ...] = ()  # empty when accepted


@record
class Controls:
    """What the gate enforces: everything, except to measure what each part is for.

    The two controls without `progress` are the paper's gate; only with it does a run converge.
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
) -> Verdict:
    """Compare every episode of the file under two states.

    Args:
        before: the episodes under the state in force.
        after: the same episodes under the state a patch leads to.
        triggers: the failure at hand and its kin.
        controls: solved cases.
        kept: the share of the trigger's first K that stays. It stands in for controls where no
            case is solved yet (corpus mode): a patch may lift evidence into a ranking, and may
            not turn the ranking over.
        enforce: which of the conditions hold.
    """
    reasons = _doubts(after, [*triggers, *controls])
    if enforce.sufficiency:
        reasons += _losses(before, after, controls)
        if kept is not None and kept < OVERLAP:
            reasons.append(f"only {kept:.0%} of the first hits stay, at least {OVERLAP:.0%} must")
    if enforce.compression:
        reasons += _spread(before, after, triggers)
    if enforce.progress:
        reasons += _progress(before, after)
    return Verdict(not reasons, tuple(reasons))


def potential(cases: Cases) -> tuple[int, float]:
    """Φ: how many cases are sufficient, and the sum of Comp."""
    return sum(c.sufficient for c in cases.values()), sum(c.compression for c in cases.values())


def kept_share(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of the earlier hits that are still there; all of none is all."""
    return len(set(before) & set(after)) / len(before) if before else 1.0


def _doubts(after: Cases, names: Collection[str]) -> list[str]:
    """A verdict on which the judges disagree is no ground to stand on."""
    return [
        f"the judges disagree about “{name}” ({after[name].dissent:.0%} dissent)"
        for name in sorted(set(names))
        if not after[name].certain
    ]


def _losses(before: Cases, after: Cases, controls: Collection[str]) -> list[str]:
    """A solved case keeps all it was solved with: other evidence may not complete its answer."""
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
    (old, old_sum), (new, new_sum) = potential(before), potential(after)
    if new > old or (new == old and new_sum > old_sum + _TINY):
        return []
    return [f"no progress: Φ ({old}, {old_sum:.2f}) → ({new}, {new_sum:.2f})"]
