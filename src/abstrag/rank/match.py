"""Match: how far a segment says what the query asks, in [0, 1] (appendix E).

Coverage is the typed part, hard or graded. A judge's probability and lexical or dense similarity
may be blended in; similarity is never a bridge and meets no literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

import numpy as np

from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.rank.gap import Gaps
from abstrag.rank.postings import FloatArray


class Coverage(StrEnum):
    """The two readings of coverage."""

    HARD = "hard"  # all literals within the budget, or nothing
    GRADED = "graded"  # the share of the literals' weight that is met


class Signal(StrEnum):
    """What may have a say in Match."""

    COVERAGE = "coverage"
    LEXICAL = "lexical"
    DENSE = "dense"
    JUDGE = "judge"


class Similarity(Protocol):
    """Compares a query with every segment of a document by the look of their text."""

    def __call__(self, query: Query) -> FloatArray:
        """Return one value in [0, 1] for each segment."""
        ...


def coverage(gaps: Gaps, kind: Coverage) -> FloatArray:
    """Return the coverage of every touched segment."""
    if kind is Coverage.HARD:
        return gaps.reachable.astype(np.float64)
    return gaps.share


def blend(parts: Mapping[Signal, FloatArray], weights: Mapping[Signal, float]) -> FloatArray:
    """Return the weighted mean of the signals; every signal with a weight must be there."""
    total = 0.0
    mixed: FloatArray = np.zeros(1)
    for signal in Signal:  # a fixed order, so that rounding is the same every time
        weight = weights.get(signal, 0.0)
        if weight < 0:
            raise InputError(f"the weight of {signal.value!r} is {weight!r}; it cannot be negative")
        if weight == 0:
            continue
        if signal not in parts:
            raise InputError(
                f"Match gives {signal.value!r} a weight of {weight:g}, but nothing provides it",
                hint="pass it to the search, or choose a preset without it",
            )
        mixed = mixed + weight * parts[signal]
        total += weight
    if total == 0:
        raise InputError("no signal has a weight, so Match is undefined")
    return np.minimum(mixed / total, 1.0)


def standardized(scores: FloatArray) -> FloatArray:
    """Return z-scores; all are 0 where the scores say nothing because they are equal."""
    if len(scores) == 0 or float(np.ptp(scores)) == 0.0:
        return np.zeros(len(scores))
    spread: FloatArray = (scores - scores.mean()) / scores.std()
    return spread
