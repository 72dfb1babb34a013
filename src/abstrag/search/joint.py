"""Ranking the candidates of one document, or of many together: the one way to a top k.

A document that is searched alone is the case of one share with weight 1, so a hit cannot score
differently because of how its document was reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from abstrag.model.ranking import Hit
from abstrag.neural.runtime import SideBySide, side_by_side
from abstrag.search.judging import Judged, judge_by_bound, judge_shortlist
from abstrag.search.postings import FloatArray, IntArray
from abstrag.search.relevance import Preset
from abstrag.search.shortlist import Candidates, shortlist

if TYPE_CHECKING:
    from abstrag.search.scoring import Scoring

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
