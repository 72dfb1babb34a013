"""The four distance terms δ as pure functions (section 3.3, appendix C).

None of them asks anybody anything: whoever knows a similarity or a probability hands it in, and
None stands for "nobody knows", for which there is a baseline.
"""

from __future__ import annotations

from math import exp, log

from rapidfuzz.distance import Levenshtein

from abstrag.config import (
    DELTA_ABS_BASELINE,
    DELTA_ABS_ONE_WAY,
    DELTA_EVENT_ARTIFACT,
    DELTA_EVENT_SLOT,
    DELTA_EXPR_ALIAS,
    DELTA_INTENT_CAP,
    DELTA_INTENT_CONTEXT,
    DELTA_INTENT_OFFLINE,
)
from abstrag.errors import InputError


def expression_distance(left: str, right: str, *, guessed: bool) -> float:
    """δ_expr: edit distance over the longer of two surfaces, and a little more for a guess.

    The surfaces are compared as they are; fold case and spaces first where they do not matter.
    """
    return Levenshtein.normalized_distance(left, right) + DELTA_EXPR_ALIAS * guessed


def abstraction_distance(
    wu_palmer: float | None = None, cosine: float | None = None, *, one_way: bool
) -> float:
    """δ_abs: 1 − Wu–Palmer where a taxonomy knows both, else cosine distance, else a baseline."""
    if wu_palmer is not None:
        distance = 1.0 - _within("Wu–Palmer similarity", wu_palmer, 0.0, 1.0)
    elif cosine is not None:
        # rounding takes the cosine of a vector with itself a hair past 1
        distance = max(0.0, 1.0 - _within("cosine", cosine, -1.001, 1.001))
    else:
        distance = DELTA_ABS_BASELINE
    return distance + DELTA_ABS_ONE_WAY * one_way


def intent_distance(probability: float | None = None, *, context_sensitive: bool) -> float:
    """δ_intent: the surprisal of the type given the role, capped; a baseline when nobody knows."""
    if probability is None:
        surprisal = DELTA_INTENT_OFFLINE
    elif _within("probability", probability, 0.0, 1.0) < exp(-DELTA_INTENT_CAP):
        surprisal = DELTA_INTENT_CAP
    else:
        surprisal = max(0.0, -log(probability))
    return surprisal + DELTA_INTENT_CONTEXT * context_sensitive


def event_distance(*, unfilled: int, coerced: int, artifact: bool) -> float:
    """δ_event: so much for each slot unfilled or coerced, and more when only an artifact speaks."""
    return DELTA_EVENT_SLOT * (unfilled + coerced) + DELTA_EVENT_ARTIFACT * artifact


def _within(what: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:  # also false for nan
        raise InputError(f"{what} is {value!r}, not a number from {low:g} to {high:g}")
    return value
