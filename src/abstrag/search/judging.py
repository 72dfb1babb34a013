"""Two ways to spend few judgements: in order of an upper bound, or on a shortlist.

A judge is expensive, but it can only say so much: a segment's score is at most what it would be if
the judge answered 1. Judged by falling bound, once the bound is below the k-th score nobody further
down can get in, and the top k is that of judging everything. Where that takes too long, a shortlist
is judged in the same order and the rest is taken to be no evidence.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.search.postings import FloatArray, IntArray


class Judge(Protocol):
    """Says how probably each segment is evidence for the query.

    What it says of a pair must not depend on what else is in the batch.
    """

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Return a probability for each segment."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """The best k candidates in order, with score and judgement, and what that took."""

    order: tuple[int, ...]  # rows of the candidates' arrays
    scores: tuple[float, ...]
    judgements: tuple[float | None, ...]
    made: int
    avoided: int


def judge_by_bound(
    positions: IntArray,
    bounds: FloatArray,
    judge: Callable[[IntArray], Sequence[float]],
    score: Callable[[IntArray, FloatArray], FloatArray],
    *,
    k: int,
    batch: int = 1,
) -> Judged:
    """Judge candidates while they may still enter the top k; ties go to the earlier position.

    Args:
        positions: where each candidate stands in the document.
        bounds: the most each candidate can score.
        judge: answers for rows of the candidates' arrays.
        score: turns rows and their judgements into scores, never above the bounds.
        k: how many are wanted.
        batch: how many to judge at a time; a larger batch may judge a few more than needed.
    """
    if k < 1 or batch < 1:
        raise InputError(f"k is {k} and batch is {batch}; both must be at least 1")
    queue = np.lexsort((positions, -bounds))
    best: list[tuple[float, int, int, float]] = []  # −score, position, row, judgement; ascending
    made = 0
    while made < len(queue):
        # a candidate whose bound is no better than the k-th score could at most tie with it
        if len(best) >= k and bounds[queue[made]] < -best[k - 1][0]:
            break
        rows = queue[made : made + batch]
        said = _checked(judge(rows), len(rows))
        for row, verdict, value in zip(rows, said, score(rows, said), strict=True):
            insort(best, (-float(value), int(positions[row]), int(row), float(verdict)))
        del best[k:]
        made += len(rows)
    return Judged(
        order=tuple(row for _, _, row, _ in best),
        scores=tuple(-negative for negative, _, _, _ in best),
        judgements=tuple(verdict for _, _, _, verdict in best),
        made=made,
        avoided=len(queue) - made,
    )


def judge_shortlist(
    positions: IntArray,
    shortlist: IntArray,
    judge: Callable[[IntArray], Sequence[float]],
    score: Callable[[IntArray, FloatArray], FloatArray],
    *,
    k: int,
    batch: int = 1,
) -> Judged:
    """Judge some rows only, and rank all as if the judge had answered 0 about the others.

    Of those, too, only such are judged as may still enter the top k, a few at a time.
    """
    rows = np.arange(len(positions))
    said = np.zeros(len(rows))
    scores = score(rows, said)
    bounds = score(shortlist, np.ones(len(shortlist)))
    falling = np.lexsort((positions[shortlist], -bounds))
    queue, bounds = shortlist[falling], bounds[falling]
    made = 0
    while made < len(queue):
        if len(scores) >= k and bounds[made] < np.partition(scores, -k)[-k]:
            break
        some = queue[made : made + batch]
        said[some] = _checked(judge(some), len(some))
        scores[some] = score(some, said[some])
        made += len(some)
    order = np.lexsort((positions, -scores))[:k]
    asked = set(queue[:made].tolist())
    return Judged(
        order=tuple(order.tolist()),
        scores=tuple(scores[order].tolist()),
        judgements=tuple(float(said[row]) if row in asked else None for row in order.tolist()),
        made=made,
        avoided=len(rows) - made,
    )


def _checked(said: Sequence[float], expected: int) -> FloatArray:
    values = np.asarray(said, dtype=np.float64)
    if values.shape != (expected,):
        raise InputError(f"the judge was asked about {expected} segments and answered {len(said)}")
    if not np.all((values >= 0) & (values <= 1)):
        raise InputError(f"the judge answered {values.tolist()!r}, not probabilities")
    return values
