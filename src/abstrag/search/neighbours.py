"""Turns of a conversation, cells of a table and clauses are judged with their neighbours.

"Battery then. Everyone agree?" is evidence because of what was said before it, the cells that
answer a question mostly stand in one row, and a duty is spelled out over several clauses. So what
the judge says of such a segment is a mean over it and its neighbours: those of its sort within
reach, before and behind it under the same heading, each weighing a share of the one nearer by.
Coverage and Gap stay those of the segment alone, for no literal is met by what its neighbours say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from abstrag.model.document import Genre
from abstrag.model.query import Query
from abstrag.model.segment import Segment, SegmentKind
from abstrag.neural.runtime import SideBySide
from abstrag.search.judging import Judge
from abstrag.search.postings import FloatArray, IntArray


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
