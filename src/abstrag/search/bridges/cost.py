"""Cost: what a set of bridges costs together (Eq. 3), in integers of 1/10,000.

Integers make equal costs equal: whether a set is within budget must not hang on the order in which
floats were added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import isfinite
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from abstrag.config import COST_UNIT, TAU_MAX
from abstrag.errors import InputError
from abstrag.model.query import Bridge

Units = TypeVar("Units", int, npt.NDArray[np.int64])


class Aggregator(Protocol):
    """Puts two costs together; the cost of a set is the fold over its members.

    What the search relies on: order and grouping do not matter, 0 changes nothing, the result is
    never below either side (so Cost is non-negative, monotone and Cost(∅) = 0), and raising one
    side never lowers the result. It has to work on integers and on integer arrays alike.
    """

    def __call__(self, left: Units, right: Units) -> Units:
        """Return the cost of two disjoint sets of bridges taken together."""
        ...


def additive(left: Units, right: Units) -> Units:
    """Add costs up: the paper's aggregator."""
    return left + right


def bottleneck(left: Units, right: Units) -> Units:
    """Take the dearer of two costs: a chain of assumptions is as weak as its weakest."""
    if isinstance(left, int):
        return max(left, right)
    return np.maximum(left, right)


def total(units: Iterable[int], aggregator: Aggregator = additive) -> int:
    """Fold costs into one; no costs are no cost."""
    return reduce(aggregator, units, 0)


def cost(bridges: Iterable[Bridge], aggregator: Aggregator = additive) -> int:
    """Return the cost of a set of bridges in units; equal bridges are paid once."""
    return total((bridge.units for bridge in dict.fromkeys(bridges)), aggregator)


def to_units(amount: float) -> int:
    """Turn a cost into units of 1/10,000."""
    return round(amount * COST_UNIT)


def budget(tau: float) -> int:
    """Turn a budget τ into units, or say what is wrong with it."""
    if not (isfinite(tau) and 0 <= tau <= TAU_MAX):
        raise InputError(
            f"budget τ is {tau!r}", hint=f"give a number from 0 to {TAU_MAX:g}; 1.5 is the default"
        )
    return to_units(tau)
