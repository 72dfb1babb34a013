"""The heads of tables: header cells in several lines, over one column or over many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from abstrag.documents.pdf_layout.lattice import CellDraft, LatticeRow, Stretch, column_at
from abstrag.documents.pdf_layout.lines import PdfLine
from abstrag.documents.pdf_layout.page import DrawnLine, Word

_LEADING: Final = 1.5  # ems between the lines of one header cell
_CLOSE: Final = 0.38  # ems; more than a space between words
_REACH: Final = 0.7  # ems between the gap of two headers and that of their columns
_COVERED: Final = 0.25  # of a column that a header must lie over to head it

_Stack = tuple[int, list[PdfLine]]  # lines of one header cell, and the row its last line is in


def head_rows(
    lines: Sequence[Sequence[PdfLine]], columns: Sequence[Stretch], rules: Sequence[DrawnLine]
) -> list[LatticeRow]:
    """Make the rows of a head: each cell over the columns it heads, as low as it can stand."""
    lines = [_split(cells, columns) for cells in lines]
    rows = [LatticeRow([], cells[0].base, cells[0].size, header=True) for cells in lines]
    for at, stack in _stacks(lines, rules):
        first, last = _headed(stack, lines[at], columns, rules)
        if at + 1 < len(lines):
            first, last = _balanced(stack, first, last, columns)
        rows[at].take([CellDraft(stack, first, last)])
    _settle(rows)
    return [row for row in rows if row.entries]


def _settle(rows: Sequence[LatticeRow]) -> None:
    """Let each cell sink as far as nothing stands below it."""
    for i in range(len(rows) - 2, -1, -1):
        for entry in list(rows[i].entries):
            low = i
            span = set(range(entry.first, entry.last + 1))
            while low + 1 < len(rows) and not rows[low + 1].columns & span:
                low += 1
            if low > i:
                rows[i].entries.remove(entry)
                rows[low].take([entry])


def _split(cells: Sequence[PdfLine], columns: Sequence[Stretch]) -> list[PdfLine]:
    """Part headers that nearly touch where their columns part."""
    walls = [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
    parts: list[list[Word]] = []
    for cell in cells:
        for i, word in enumerate(cell.words):
            last = cell.words[i - 1].x1 if i else 0.0
            reach = _REACH * cell.size
            apart = word.x0 - last > _CLOSE * cell.size and any(
                last - reach < wall < word.x0 + reach for wall in walls
            )
            if not i or (apart and not word.glued):
                parts.append([word])
            else:
                parts[-1].append(word)
    return [PdfLine(part) for part in parts]


def _stacks(lines: Sequence[Sequence[PdfLine]], rules: Sequence[DrawnLine]) -> list[_Stack]:
    """Put lines that stand close under each other together; each with the row of its last line."""
    done: list[_Stack] = []
    open_: list[_Stack] = []
    for i, cells in enumerate(lines):
        taken: list[_Stack] = []
        for cell in cells:
            over = [s for s in open_ if _overlap(s[1][-1], cell)]
            alone = len(over) == 1 and sum(_overlap(over[0][1][-1], c) for c in cells) == 1
            if alone and _adjoin(over[0][1][-1], cell, rules):
                open_.remove(over[0])
                taken.append((i, [*over[0][1], cell]))
            else:
                taken.append((i, [cell]))
        # A cell beside the middle of others leaves a row between lines that belong together.
        done += [s for s in open_ if s[0] < i - 1 or any(_overlap(s[1][-1], c) for c in cells)]
        open_ = taken + [s for s in open_ if s not in done]
    return done + open_


def _overlap(a: PdfLine, b: PdfLine) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0


def _adjoin(upper: PdfLine, lower: PdfLine, rules: Iterable[DrawnLine]) -> bool:
    """True when no gap and no rule parts two lines of a head."""
    if lower.base - upper.base > _LEADING * max(upper.size, lower.size):
        return False
    x0, x1 = min(upper.x0, lower.x0), max(upper.x1, lower.x1)
    return not any(upper.base < r.y0 < lower.base - 1 and r.x0 < x1 and r.x1 > x0 for r in rules)


def _headed(
    stack: Sequence[PdfLine],
    cells: Sequence[PdfLine],
    columns: Sequence[Stretch],
    rules: Sequence[DrawnLine],
) -> tuple[int, int]:
    """Return the columns below a header: as far as the rule under it alone, or its own words."""
    cell = stack[-1]
    x0, x1 = min(n.x0 for n in stack), max(n.x1 for n in stack)
    for rule in rules:
        over = [c for c in cells if c.x0 < rule.x1 and c.x1 > rule.x0]
        under = 0 < rule.y0 - cell.base < cell.size and rule.x1 - rule.x0 > x1 - x0
        below_labels = rule.x0 < columns[0][1] < cell.x0  # it parts the head from the body
        if under and over == [cell] and not below_labels:
            x0, x1 = rule.x0, rule.x1
    below = [
        i
        for i, (a, b) in enumerate(columns)
        if min(x1, b) - max(x0, a) > _COVERED * min(b - a, x1 - x0)
    ]
    if below:
        return below[0], below[-1]
    nearest = column_at(cell, columns)
    return nearest, nearest


def _balanced(
    stack: Sequence[PdfLine], first: int, last: int, columns: Sequence[Stretch]
) -> tuple[int, int]:
    """Widen a header that stands over the middle of several columns to all of them."""
    middle = (min(n.x0 for n in stack) + max(n.x1 for n in stack)) / 2

    def off(a: int, b: int) -> float:
        return abs((columns[a][0] + columns[b][1]) / 2 - middle)

    while last > first:
        wider = [
            (a, b) for a, b in ((first - 1, last), (first, last + 1)) if a > 0 and b < len(columns)
        ]
        better = min(wider, key=lambda span: off(*span), default=(first, last))
        if off(*better) >= off(first, last) - 1:
            break
        first, last = better
    return first, last
