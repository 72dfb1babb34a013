"""Candidates of several documents in one pool, so that the judge is spent where it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from abstrag.model.ranking import Hit
from abstrag.rank.judging import Judged, judge_by_bound, judge_shortlist
from abstrag.rank.postings import FloatArray, IntArray
from abstrag.rank.relevance import Preset
from abstrag.rank.scoring import Scoring
from abstrag.rank.shortlist import shortlist

_BATCH = 16  # pairs the judge is asked about at a time


@dataclass(frozen=True, slots=True)
class Laid:
    """A query laid over one document, and what the document itself counts for."""

    scoring: Scoring
    weight: float  # (prior / best prior)^p: what every relevance is multiplied by


@dataclass(frozen=True)
class Pooled:
    """The candidates of all documents; a row of the pool is a candidate of one of them.

    Rows follow the documents as they were given and then positions, and ties go to the earlier.
    """

    laid: Sequence[Laid]
    preset: Preset
    said: dict[int, float] = field(default_factory=dict)  # by the judge, of rows it was asked about

    @cached_property
    def owners(self) -> IntArray:
        """For each row the document it belongs to."""
        sizes = [len(each.scoring.candidates.positions) for each in self.laid]
        return np.repeat(np.arange(len(self.laid)), sizes)

    @cached_property
    def _inner(self) -> IntArray:
        """For each row its number among the candidates of its document."""
        sizes = [len(each.scoring.candidates.positions) for each in self.laid]
        return np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, np.int64)])

    def judge(self, k: int) -> Judged:
        """Ask the judge what the best k of all take, as the preset allows."""
        rows = np.arange(len(self.owners))
        if not self.preset.judge_weight:
            nobody = judge_shortlist(rows, rows[:0], self._ask, self.scores, k=k)
            return replace(nobody, avoided=0)
        if self.preset.judged is None:
            bounds = self.scores(rows, np.ones(len(rows)))
            return judge_by_bound(rows, bounds, self._ask, self.scores, k=k, batch=_BATCH)
        return judge_shortlist(rows, self._cheap_best(), self._ask, self.scores, k=k)

    @property
    def final(self) -> FloatArray:
        """The scores of all rows after what the judge has said; where it was not asked, nothing."""
        rows = np.arange(len(self.owners))
        return self.scores(rows, np.array([self.said.get(row, 0.0) for row in rows.tolist()]))

    def order(self) -> Iterator[tuple[int, float]]:
        """Go through the rows that are hits with their scores, best first."""
        final = self.final
        for row in np.lexsort((np.arange(len(final)), -final)).tolist():
            owner, position = self.position(row)
            scoring, relevance = self.laid[owner].scoring, self._relevance(row)
            if final[row] > 0 and scoring.counts(position, relevance, self.said.get(row)):
                yield row, float(final[row])

    def hit(self, row: int) -> Hit:
        """Return a row with its quote and trace."""
        scoring = self.laid[int(self.owners[row])].scoring
        inner = int(self._inner[row])
        return scoring.as_hit(scoring.candidates, inner, self._relevance(row), self.said.get(row))

    def _relevance(self, row: int) -> float:
        candidates = self.laid[int(self.owners[row])].scoring.candidates
        said = np.array([self.said.get(row, 0.0)])
        return float(candidates.score(self.preset, said, self._inner[row : row + 1])[0])

    def position(self, row: int) -> tuple[int, int]:
        """Return the document of a row, and where in it the segment stands."""
        owner = int(self.owners[row])
        return owner, int(self.laid[owner].scoring.candidates.positions[self._inner[row]])

    def scores(self, rows: IntArray, said: FloatArray) -> FloatArray:
        """Return Rel of some rows times the weight of their documents."""
        return self._gathered(
            rows,
            lambda laid, inner, places: (
                laid.weight * laid.scoring.candidates.score(self.preset, said[places], inner)
            ),
        )

    def _ask(self, rows: IntArray) -> list[float]:
        said = np.zeros(len(rows))
        for owner, places in self._by_document(rows):
            scoring = self.laid[owner].scoring
            assert scoring.judge is not None
            positions = self._positions(owner, rows[places])
            records = scoring.document.records
            segments = [records[p].segment for p in positions.tolist()]
            said[places] = scoring.judge(scoring.query, segments)
        self.said.update(zip(rows.tolist(), said.tolist(), strict=True))
        return [self.said[row] for row in rows.tolist()]

    def _cheap_best(self) -> IntArray:
        """The rows the judge is asked about: the best without it, as far as its effort goes."""
        assert self.preset.judged is not None
        return shortlist(
            np.arange(len(self.owners)), self.preset.judged, self._promise, self._efforts
        )

    def _promise(self, rows: IntArray, embedded: bool) -> FloatArray:
        return self._gathered(
            rows,
            lambda laid, inner, _: (
                laid.weight * laid.scoring.candidates.promise(self.preset, inner, embedded=embedded)
            ),
        )

    def _efforts(self, rows: IntArray) -> FloatArray:
        return self._gathered(
            rows,
            lambda laid, inner, _: laid.scoring.efforts(laid.scoring.candidates.positions[inner]),
        )

    def _gathered(
        self, rows: IntArray, values: Callable[[Laid, IntArray, IntArray], FloatArray]
    ) -> FloatArray:
        """Return what each document says of its own among some rows.

        It is given their numbers among its candidates, and their places among the rows.
        """
        found = np.zeros(len(rows))
        for owner, places in self._by_document(rows):
            found[places] = values(self.laid[owner], self._inner[rows[places]], places)
        return found

    def _positions(self, owner: int, rows: IntArray) -> IntArray:
        """Return where in their document some rows of it stand."""
        return self.laid[owner].scoring.candidates.positions[self._inner[rows]]

    def _by_document(self, rows: IntArray) -> list[tuple[int, IntArray]]:
        """Sort some rows by document: for each the places in `rows` that are its own."""
        owners = self.owners[rows]
        return [(int(owner), np.flatnonzero(owners == owner)) for owner in np.unique(owners)]
