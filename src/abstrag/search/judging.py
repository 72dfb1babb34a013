"""The top k for few judgements, of one document's candidates or of those of many documents.

A judge is expensive, but it can only say so much: a segment's score is at most what it would be if
the judge answered 1. Judged by falling bound, once the bound is below the k-th score nobody further
down can get in, and the top k is that of judging everything. Where that takes too long, a shortlist
is judged in the same order and the rest is taken to be no evidence.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.model.segment import Segment, SegmentKind
from abstrag.neural.runtime import SideBySide, side_by_side
from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.relevance import Candidates, Preset, shortlist

if TYPE_CHECKING:
    from abstrag.search.scoring import Scoring


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


# Turns of a conversation, cells of a table and clauses are judged with their neighbours.
#
# "Battery then. Everyone agree?" is evidence because of what was said before it, the cells that
# answer a question mostly stand in one row, and a duty is spelled out over several clauses. So what
# the judge says of such a segment is a mean over it and its neighbours: those of its sort within
# reach, before and behind it under the same heading, each weighing a share of the one nearer by.
# Coverage and Gap stay those of the segment alone, for no literal is met by what its neighbours
# say.


@dataclass(frozen=True, slots=True)
class Neighbours:
    """How far they reach on either side, what the next one weighs, and what they are called."""

    reach: int
    share: float
    name: str
    short: bool  # so that the judge reads it on top of what a preset lets it read


TURNS: Final = Neighbours(2, 0.6, "the turns around it", short=True)
CELLS: Final = Neighbours(1, 0.2, "the cells beside it", short=True)
CLAUSES: Final = Neighbours(1, 0.2, "the clauses beside it", short=False)
_TEXTS: Final = {Genre.TRANSCRIPT: TURNS, Genre.LEGAL: CLAUSES}
_FARTHEST: Final = max(kept.reach for kept in (TURNS, CELLS, CLAUSES))
_STEPS: Final = np.arange(-_FARTHEST, _FARTHEST + 1)


def neighbours_of(segment: Segment, genre: Genre) -> Neighbours | None:
    """Return which neighbours count for a segment; a paragraph or a row stands on its own."""
    if segment.kind is SegmentKind.TABLE_CELL:
        return CELLS
    return _TEXTS.get(genre)


class NeighbourJudge:
    """A judge who reads each segment with its neighbours; implements `Judge`.

    Those beside the segments it is asked about are read as well, each pair once.
    """

    def __init__(self, judge: Judge, segments: Sequence[Segment], genre: Genre) -> None:
        """Take who judges a single segment, and all segments of a document in their order."""
        self._judge = judge
        self._segments = segments
        self._genre = genre
        self._place = {segment.id: i for i, segment in enumerate(segments)}
        self._weights = np.zeros((len(segments), len(_STEPS)))
        kept = [neighbours_of(segment, genre) for segment in segments]
        self._counted = np.array([own is not None and not own.short for own in kept])
        for i, own in enumerate(kept):
            for column, step in enumerate(_STEPS.tolist()):
                other = i + step
                if step == 0:
                    self._weights[i, column] = 1.0
                elif own is not None and 0 <= other < len(segments) and abs(step) <= own.reach:
                    beside = kept[other] is own
                    same = segments[other].section == segments[i].section
                    self._weights[i, column] = own.share ** abs(step) if beside and same else 0.0

    @property
    def threads(self) -> int:
        """In how many threads at once it may be asked."""
        return self._judge.threads if isinstance(self._judge, SideBySide) else 1

    @property
    def alone(self) -> Judge:
        """Who judges a single segment."""
        return self._judge

    def neighbours(self, segment: Segment) -> str | None:
        """Return what the judge read besides a segment, None for nothing."""
        found = neighbours_of(segment, self._genre)
        return found.name if found else None

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Return a probability for each segment."""
        if not segments:
            return []
        own = np.array([self._place[segment.id] for segment in segments])
        weights, near = self._weights[own], self._near(own)
        read, where = np.unique(near, return_inverse=True)
        said = np.array(self._judge(query, [self._segments[i] for i in read.tolist()]))
        means = (said[where.reshape(near.shape)] * weights).sum(axis=1) / weights.sum(axis=1)
        return [float(mean) for mean in means]

    def efforts(self, positions: IntArray, own: FloatArray) -> FloatArray:
        """Return what reading each segment costs, in this order, with neighbours not yet read.

        `own` is what each segment of the document costs by itself.
        """
        near = np.where(self._counted[positions, None], self._near(positions), positions[:, None])
        read, first = np.unique(near, return_index=True)
        found = np.zeros(len(positions))
        np.add.at(found, first // near.shape[1], own[read])
        return found

    def _near(self, positions: IntArray) -> IntArray:
        """Return a row for each segment: where it stands, and its neighbours."""
        alone = positions[:, None]
        return np.where(self._weights[positions] > 0, alone + _STEPS, alone)


# Ranking the candidates of one document, or of many together: the one way to a top k.
#
# A document that is searched alone is the case of one share with weight 1, so a hit cannot score
# differently because of how its document was reached.

BATCH: Final = 16  # pairs the judge is asked about at a time
FEW: Final = 8  # likewise of a shortlist, which is short: more would be read for nothing


@dataclass(frozen=True, slots=True)
class Share:
    """A query scored against one document, and what that document itself counts for."""

    scoring: Scoring
    weight: float = 1.0  # every relevance is multiplied by it


@dataclass(frozen=True)
class JointRanking:
    """The candidates of all shares; a row is a candidate of one of them.

    Rows follow the shares as they were given and then positions, and ties go to the earlier row.
    With `fill`, every segment is a candidate and counts as a hit, whatever it scores.
    """

    shares: Sequence[Share]
    preset: Preset
    fill: bool = False
    said: dict[int, float] = field(default_factory=dict)  # by the judge, of rows it was asked about

    @cached_property
    def owners(self) -> IntArray:
        """For each row the number of its share."""
        return np.repeat(np.arange(len(self.shares)), self._sizes)

    @cached_property
    def _inner(self) -> IntArray:
        """For each row its number among the candidates of its share."""
        return np.concatenate([np.arange(size) for size in self._sizes] or [np.empty(0, np.int64)])

    @cached_property
    def _candidates(self) -> tuple[Candidates, ...]:
        scorings = [share.scoring for share in self.shares]
        return tuple(one.everything if self.fill else one.candidates for one in scorings)

    @property
    def _sizes(self) -> list[int]:
        return [len(candidates.positions) for candidates in self._candidates]

    @property
    def rows(self) -> IntArray:
        """All rows."""
        return np.arange(len(self.owners))

    def judge(self, k: int, *, batch: int = BATCH) -> Judged:
        """Ask the judge what the best k take, as the preset allows.

        What is no hit scores nothing here, so that it takes no other's place among the k.
        """
        if not self.preset.judge_weight:
            nobody = judge_shortlist(self.rows, self.rows[:0], self.ask, self.scores, k=k)
            return replace(nobody, avoided=0)
        if self.preset.judged is None:
            bounds = self.scores(self.rows, np.ones(len(self.rows)))
            return judge_by_bound(self.rows, bounds, self.ask, self.scores, k=k, batch=batch)
        return judge_shortlist(
            self.rows, self.shortlist, self.ask, self.scores, k=k, batch=min(batch, FEW)
        )

    @cached_property
    def shortlist(self) -> IntArray:
        """The rows the judge may be asked about: the best ones without it, or all of them."""
        if self.preset.judged is None:
            return self.rows
        return shortlist(self.rows, self.preset.judged, self._promise, self._efforts)

    @property
    def final(self) -> FloatArray:
        """The weighted relevance of all rows after what the judge has said, hits or not."""
        return self._weighted(self.rows, self._said(self.rows))

    def order(self) -> Iterator[tuple[int, float]]:
        """Go through the rows that are hits with their scores, best first."""
        scores = self.scores(self.rows, self._said(self.rows))
        for row in np.lexsort((self.rows, -scores)).tolist():
            if scores[row] > 0:
                yield row, float(scores[row])

    def hit(self, row: int) -> Hit:
        """Return a row with its quote and trace."""
        owner, one = int(self.owners[row]), np.array([row])
        candidates = self._candidates[owner]
        relevance = candidates.score(self.preset, self._said(one), self._inner[one])
        return self.shares[owner].scoring.as_hit(
            candidates, int(self._inner[row]), float(relevance[0]), self.said.get(row)
        )

    def surest(self, owner: int) -> float:
        """Return the most that the judge says of any candidate of a share, 0 where it read none.

        What a Background states counts as much as it does for the candidate's own score.
        """
        (rows,) = np.nonzero(self.owners == owner)
        if not len(rows):
            return 0.0
        stated = self._candidates[owner].stated[self._inner[rows]]
        return float(np.maximum(self._said(rows), stated).max())

    def position(self, row: int) -> tuple[int, int]:
        """Return the share of a row, and where in its document the segment stands."""
        owner = int(self.owners[row])
        return owner, int(self._candidates[owner].positions[self._inner[row]])

    def row(self, owner: int, position: int) -> int | None:
        """Return the row of a segment, None where it is no candidate."""
        inner = np.flatnonzero(self._candidates[owner].positions == position)
        if not len(inner):
            return None
        return int(np.flatnonzero(self.owners == owner)[0] + inner[0])

    def scores(self, rows: IntArray, said: FloatArray) -> FloatArray:
        """Return the weighted relevance of some rows; 0 for what is no hit."""
        if self.fill:
            return self._weighted(rows, said)
        counts = self._gathered(
            rows,
            lambda share, owner, inner, places: share.scoring.count(
                self._candidates[owner].positions[inner], said[places]
            ).astype(np.float64),
        )
        return np.where(counts > 0, self._weighted(rows, said), 0.0)

    def ask(self, rows: IntArray) -> list[float]:
        """Return what the judge says of some rows, and remember it."""
        owners = self.owners[rows]
        own = [rows[owners == owner] for owner in np.unique(owners).tolist()]
        threads = min((self._threads(int(some[0])) for some in own), default=1)
        # documents side by side: one alone may have too few segments to keep every core busy
        for some, said in zip(
            own, side_by_side(self._asked, own, threads=threads, size=len), strict=True
        ):
            self.said.update(zip(some.tolist(), said, strict=True))
        return [self.said[row] for row in rows.tolist()]

    def _asked(self, rows: IntArray) -> list[float]:
        """Return what the judge says of rows of one share."""
        owner = int(self.owners[rows[0]])
        positions = self._candidates[owner].positions[self._inner[rows]]
        return self.shares[owner].scoring.ask(positions)

    def _threads(self, row: int) -> int:
        """Say in how many threads at once the judge of a row may be asked."""
        judge = self.shares[int(self.owners[row])].scoring.judge
        return judge.threads if isinstance(judge, SideBySide) else 1

    def _said(self, rows: IntArray) -> FloatArray:
        return np.array([self.said.get(row, 0.0) for row in rows.tolist()])

    def _weighted(self, rows: IntArray, said: FloatArray) -> FloatArray:
        return self._gathered(
            rows,
            lambda share, owner, inner, places: (
                share.weight * self._candidates[owner].score(self.preset, said[places], inner)
            ),
        )

    def _promise(self, rows: IntArray) -> FloatArray:
        return self._gathered(
            rows,
            lambda share, owner, inner, _: (
                share.weight * self._candidates[owner].promise(self.preset, inner)
            ),
        )

    def _efforts(self, rows: IntArray) -> FloatArray:
        return self._gathered(
            rows,
            lambda share, owner, inner, _: share.scoring.efforts(
                self._candidates[owner].positions[inner]
            ),
        )

    def _gathered(
        self, rows: IntArray, values: Callable[[Share, int, IntArray, IntArray], FloatArray]
    ) -> FloatArray:
        """Return what each share says of its own among some rows.

        `values` is given the share, its number, the rows' numbers among its candidates, and their
        places among the rows.
        """
        found = np.zeros(len(rows))
        owners = self.owners[rows]
        for owner in np.unique(owners).tolist():
            places = np.flatnonzero(owners == owner)
            found[places] = values(self.shares[owner], owner, self._inner[rows[places]], places)
        return found


# A judge without a model: how much of the question's text stands in the segment.

_OVERLAP_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class OverlapJudge:
    """Answers the share of the question's character n-grams, within words, that recur."""

    size: int = 3

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Judge each segment by itself."""
        asked = self._grams(query.text)
        return [
            len(asked & self._grams(segment.text)) / len(asked) if asked else 0.0
            for segment in segments
        ]

    def _grams(self, text: str) -> set[str]:
        padded = (f"_{word}_" for word in _OVERLAP_WORD.findall(text.casefold()))
        return {
            word[i : i + self.size]
            for word in padded
            for i in range(max(1, len(word) - self.size + 1))
        }
