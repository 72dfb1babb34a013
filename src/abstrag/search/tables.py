"""Rows of a table are looked for together: what tells tables apart is mostly not in the row.

"Who owes what in 2019?" is near the table of debts, and hardly nearer to one of its rows than to
another. So similarities see a row as part of its table; which row it is, coverage and judge tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from abstrag.model.segment import CELL_SEPARATOR, Segment, SegmentKind
from abstrag.search.costed_index import FloatArray, IntArray

_LONGEST: Final = 1_500  # characters of a card: about what an embedder reads


class DocumentTables:
    """The tables of a document: rows that follow one another in a section, two at least."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._runs = _runs(segments)
        self._table = np.full(len(segments), -1)
        for number, rows in enumerate(self._runs):
            self._table[rows.start : rows.stop] = number

    @cached_property
    def cards(self) -> tuple[str, ...]:
        """What each table is about: the headers of its rows, then their names."""
        return tuple(_card(self._segments[rows.start : rows.stop]) for rows in self._runs)

    def of(self, positions: IntArray) -> IntArray:
        """Return the number of the table each segment is a row of, −1 for none."""
        found: IntArray = self._table[positions]
        return found

    def shared(self, values: FloatArray) -> FloatArray:
        """Return a value for each segment of the document, a row's halfway to its table's best."""
        made = values.copy()
        (rows,) = np.nonzero(self._table >= 0)
        own, table = values[rows], self._table[rows]
        best = np.full(len(self._runs), -np.inf)
        np.maximum.at(best, table, own)
        made[rows] = (own + best[table]) / 2
        return made


def _runs(segments: Sequence[Segment]) -> tuple[range, ...]:
    if not segments:
        return ()
    cuts = [i for i, (one, other) in enumerate(pairwise(segments), 1) if not _together(one, other)]
    bounds = pairwise([0, *cuts, len(segments)])
    return tuple(range(start, stop) for start, stop in bounds if stop - start > 1)


def _together(one: Segment, other: Segment) -> bool:
    rows = one.kind is other.kind is SegmentKind.TABLE_ROW
    return rows and one.section == other.section


def _card(rows: Sequence[Segment]) -> str:
    headers = (header.text for row in rows for header in row.headers)
    names = (row.text.partition(CELL_SEPARATOR)[0] for row in rows if row.headers)
    return " ".join(dict.fromkeys((*headers, *names)))[:_LONGEST]
