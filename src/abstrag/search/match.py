"""Match: how far a segment says what the query asks, in [0, 1] (appendix E).

Coverage is the typed part, hard or graded. A judge's probability and lexical or dense similarity
may be blended in, as a weighted mean or in odds; similarity is never a bridge and meets no literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Protocol

import numpy as np

from abstrag.config import COST_UNIT
from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.search.gap import Gaps
from abstrag.search.postings import FloatArray, IntArray

LEAST_JUDGEMENT: Final = 0.01  # where it says less, or has not read, this counts
CERTAIN: Final = 7.0  # log-odds: a judge is never taken to be surer than this, either way


class Coverage(StrEnum):
    """The two readings of coverage."""

    HARD = "hard"  # all literals within the budget, or nothing
    GRADED = "graded"  # the share of the literals' weight that is met


class Pooling(StrEnum):
    """How signals become one number."""

    MEAN = "mean"  # their weighted mean
    PRODUCT = "product"  # each to the power of its weight: their logarithms add up
    ODDS = "odds"  # the judge's odds, divided by e^weight for a signal that is not there at all


class Signal(StrEnum):
    """What may have a say in Match."""

    COVERAGE = "coverage"
    LEXICAL = "lexical"
    DENSE = "dense"
    JUDGE = "judge"
    ALIGNMENT = "alignment"


class Similarity(Protocol):
    """Compares a query with segments of a document by the look of their text."""

    def __call__(self, query: Query, positions: IntArray) -> FloatArray:
        """Return one value in [0, 1] for each of some segments."""
        ...


def coverage(gaps: Gaps, kind: Coverage) -> FloatArray:
    """Return the coverage of every touched segment."""
    if kind is Coverage.HARD:
        return gaps.reachable.astype(np.float64)
    return gaps.share


def blend(
    parts: Mapping[Signal, FloatArray],
    weights: Mapping[Signal, float],
    pooling: Pooling = Pooling.MEAN,
) -> FloatArray:
    """Return what the signals come to together; every signal with a weight must be there.

    In odds, what any signal lacks counts against the judge in proportion to its weight, however
    sure the judge is: log-odds of Match = w · log-odds of the judge − Σ w · (1 − signal). A mean
    lets a judge who is nearly sure of two segments drown everything that tells them apart.
    """
    counted = _weighed(parts, weights)
    if pooling is Pooling.MEAN:
        total = sum(weights[signal] for signal in counted)
        mixed = sum((weights[signal] * parts[signal] for signal in counted), np.zeros(1))
        return np.minimum(mixed / total, 1.0)
    if pooling is Pooling.PRODUCT:
        units = sum(log_units(parts[s], weights[s], judged=s is Signal.JUDGE) for s in counted)
        product: FloatArray = np.exp(-np.asarray(units) / COST_UNIT)
        return product
    odds: FloatArray = np.zeros(1)
    for signal in counted:
        said = _log_odds(parts[signal]) if signal is Signal.JUDGE else parts[signal] - 1.0
        odds = odds + weights[signal] * said
    match: FloatArray = np.exp(-np.logaddexp(0.0, -odds))
    return match


def log_units(part: FloatArray | float, weight: float, *, judged: bool = False) -> FloatArray:
    """Return what a factor adds to −log of a score, in whole units of 1/10,000.

    A judge is never taken to be surer that there is nothing than `LEAST_JUDGEMENT`.
    """
    kept = np.maximum(part, LEAST_JUDGEMENT) if judged else np.asarray(part, np.float64)
    if not weight:
        return np.zeros_like(kept)
    with np.errstate(divide="ignore"):
        units: FloatArray = np.rint(-weight * np.log(kept) * COST_UNIT) + 0.0
    return units


def _weighed(
    parts: Mapping[Signal, FloatArray], weights: Mapping[Signal, float]
) -> tuple[Signal, ...]:
    """Return the signals that count, in a fixed order, so that rounding is the same every time."""
    for signal, weight in weights.items():
        if weight < 0:
            raise InputError(f"the weight of {signal.value!r} is {weight!r}; it cannot be negative")
        if weight and signal not in parts:
            raise InputError(
                f"Match gives {signal.value!r} a weight of {weight:g}, but nothing provides it",
                hint="pass it to the search, or choose a preset without it",
            )
    counted = tuple(signal for signal in Signal if weights.get(signal))
    if not counted:
        raise InputError("no signal has a weight, so Match is undefined")
    return counted


def _log_odds(probability: FloatArray) -> FloatArray:
    least = 1.0 / (1.0 + np.exp(CERTAIN))
    kept = np.clip(probability, least, 1.0 - least)
    odds: FloatArray = np.log(kept / (1.0 - kept))
    return odds


def standardized(scores: FloatArray) -> FloatArray:
    """Return z-scores; all are 0 where the scores say nothing because they are equal."""
    if len(scores) == 0 or float(np.ptp(scores)) == 0.0:
        return np.zeros(len(scores))
    spread: FloatArray = (scores - scores.mean()) / scores.std()
    return spread
