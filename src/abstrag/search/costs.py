"""What the cost of a hit is made of, in the order in which it is told."""

from __future__ import annotations

from abstrag.config import COST_UNIT
from abstrag.model.cost import Part, cost_of
from abstrag.model.ranking import Hit
from abstrag.search.relevance import Preset


def cost_parts(hit: Hit, preset: Preset) -> tuple[Part, ...]:
    """Return what each factor adds to minus the logarithm of a hit's relevance.

    Where words are aligned these are the lines of the hit, else the factors under their powers.
    """
    if hit.lines:
        return tuple((line.name, line.units / COST_UNIT) for line in hit.lines)
    return (
        ("match", _times(preset.match_power, cost_of(hit.match))),
        ("utility", _times(preset.utility_power, cost_of(hit.utility))),
        ("gap", preset.gap_rate * hit.gap),
    )


def _times(power: float, cost: float) -> float:
    return power * cost if power else 0.0  # to the power of 0 even nothing is 1
