"""What a hit costs, as people are told: minus the logarithm of its score, so lower is better.

Scores multiply many factors, and a good one may be 0.0003. Costs add up instead, as bridges do, and
what each factor costs stands beside the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf, log
from typing import Final

LOWER_IS_BETTER: Final = "costs: lower is better"

Part = tuple[str, float]  # what a factor is called, and what it costs


def cost_of(score: float) -> float:
    """Return what a score costs; nothing that scores 0 can be had at any price."""
    return inf if score <= 0 else -log(score) + 0.0


def told(cost: float) -> str:
    """Return a cost for a person."""
    if isinf(cost):
        return "∞"
    rounded = round(cost, 2) + 0.0
    return f"{rounded:.2f}" if rounded >= 0 else f"−{-rounded:.2f}"


def told_sum(parts: Sequence[Part]) -> str:
    """Return a cost and what it is made of: "2.41 = words 1.50 + judge 0.91"; what is free is left.

    Parts are rounded so that they add up to the rounded sum.
    """
    total = sum(cost for _, cost in parts)
    said, so_far, shown = "", 0.0, 0.0
    for name, cost in parts:
        if isinf(cost):
            return f"∞ = {name} ∞"
        so_far += cost
        step = round(so_far, 2) - shown
        shown = round(so_far, 2)
        if abs(step) >= 0.005:
            sign = " − " if step < 0 else " + " if said else ""
            said += f"{sign}{name} {abs(step):.2f}"
    return f"{told(total)} = {said}" if said else told(total)
