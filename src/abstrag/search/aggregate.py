"""From segments to a document: three ways to aggregate scores (section 3.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, fsum, log
from typing import Final

from abstrag.config import TOP_K_MEAN
from abstrag.errors import NotComputable

Aggregation = Callable[[Sequence[float]], float]


def top_k_mean(scores: Sequence[float], *, k: int = TOP_K_MEAN) -> float:
    """Return the mean of the k best scores, or of all where there are fewer."""
    best = sorted(_some(scores), reverse=True)[:k]
    return fsum(best) / len(best)


def top_1(scores: Sequence[float]) -> float:
    """Return the best score."""
    return max(_some(scores))


def log_sum_exp(scores: Sequence[float]) -> float:
    """Return the log of the summed exponentials: the best score, and a little for each other."""
    peak = max(_some(scores))
    return peak + log(fsum(exp(score - peak) for score in scores))


AGGREGATIONS: Final[Mapping[str, Aggregation]] = {
    "top_k_mean": top_k_mean,
    "top_1": top_1,
    "log_sum_exp": log_sum_exp,
}


def _some(scores: Sequence[float]) -> Sequence[float]:
    if not scores:
        raise NotComputable("a document without scored segments has no score")
    return scores
