"""The bodies of tables: which lines are one row to a reader.

A label may be wrapped, a value may stand beside the middle of its label, and where rules part the
rows everything between two of them may be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from abstrag.documents.pdf_layout.lattice import CellDraft, LatticeRow, Stretch, column_at
from abstrag.documents.pdf_layout.lines import PdfLine
from abstrag.documents.pdf_layout.page import DrawnLine

_TIGHT: Final = 0.85  # of the usual distance between rows: these lines belong together
_WRAP: Final = 1.3  # ems between the lines of a wrapped label
_NEXT: Final = 1.25  # of the usual distance: the next row, no empty one between
_LEADING: Final = 1.5  # ems between lines, where nothing tells the usual distance
_HALF: Final = 0.9  # ems between base lines: one stands beside the middle of two others
_ACROSS: Final = 0.8  # of the table's width: a rule that parts rows


def body_rows(
    lines: Sequence[Sequence[PdfLine]], columns: Sequence[Stretch], rules: Sequence[DrawnLine]
) -> list[LatticeRow]:
    """Make the rows of a body."""
    rows = []
    for cells in lines:
        row = LatticeRow([], max(c.base for c in cells), max(c.size for c in cells))
        for cell in cells:
            at = column_at(cell, columns)
            row.take([CellDraft([cell], at, at)])
        rows.append(row)
    return _unwrapped(_centred(_between_rules(rows, rules, columns)))


def _centred(rows: Sequence[LatticeRow]) -> list[LatticeRow]:
    """Resolve lines that stand between two others: a cell over two rows, or a value centred."""
    made: list[LatticeRow] = []
    i = 0
    while i < len(rows):
        row = rows[i]
        after = rows[i + 1] if i + 1 < len(rows) else None
        close = bool(made) and row.base - made[-1].base < _HALF * row.size
        if not close:
            made.append(row)
        elif after and after.base - row.base < _HALF * row.size:
            above, free = made[-1], not row.columns & (made[-1].columns | after.columns)
            if free and (above.columns & after.columns) - {0}:
                for entry in row.entries:
                    entry.rows = 2
                above.take(row.entries)
            else:
                above.take(row.entries)
                above.take(after.entries)
                above.base = after.base
                i += 1
        else:
            made[-1].take(row.entries)
            made[-1].base = row.base
        i += 1
    return made


def _between_rules(
    rows: Sequence[LatticeRow], rules: Sequence[DrawnLine], columns: Sequence[Stretch]
) -> list[LatticeRow]:
    """Where rules part every row from the next, make one row of the lines between two rules."""
    width = columns[-1][1] - columns[0][0]
    walls = [
        r.y0
        for r in rules
        if min(r.x1, columns[-1][1]) - max(r.x0, columns[0][0]) > _ACROSS * width
    ]
    bands: list[list[LatticeRow]] = []
    for row in rows:
        if bands and not any(bands[-1][-1].base < y < row.base for y in walls):
            bands[-1].append(row)
        else:
            bands.append([row])
    labels = sum(any(e.first == 0 for e in row.entries) for row in rows)
    if len(bands) < 2 or len(bands) < labels:
        return list(rows)
    made: list[LatticeRow] = []
    for band in bands:
        filled = [c for row in band for c in row.columns]
        repeated = {c for c in filled if filled.count(c) > 1}
        if 2 * len(repeated) <= len(set(filled)):
            for row in band[1:]:
                band[0].take(row.entries)
            made.append(band[0])
        else:
            made += band
    return made


def _unwrapped(rows: Sequence[LatticeRow]) -> list[LatticeRow]:
    """Put labels that take up several lines together with the row they name."""
    full = [b.base - a.base for a, b in pairwise(rows) if not (a.label_only or b.label_only)]
    usual = median(full) if full else 0.0
    made: list[LatticeRow] = []
    for i, row in enumerate(rows):
        after = rows[i + 1].base - row.base if i + 1 < len(rows) else float("inf")
        if made and _continues(made[-1], row, usual=usual, after=after):
            made[-1].take(row.entries)
            made[-1].base = row.base
        else:
            made.append(row)
    return made


def _continues(above: LatticeRow, row: LatticeRow, *, usual: float, after: float) -> bool:
    """True when a row goes on with the label of the one above it."""
    if not (above.label_only or row.label_only) or row.entries[0].first > 0:
        return False
    label = above.entries[0].text
    if above.entries[0].first > 0 or label.endswith(":"):
        return False
    step = row.base - above.base
    if row.entries[0].text[:1].islower():
        return step < max(_NEXT * usual, _LEADING * row.size)
    tight = step < min(_TIGHT * usual, _WRAP * row.size)
    return tight and (above.label_only or step < after)
