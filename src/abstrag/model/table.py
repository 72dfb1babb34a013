"""Tables: cells with exact spans, and which headers belong to which cell."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from abstrag.model.record import record
from abstrag.model.span import Quote, Span

# Lines of a table that name what the rows below them belong to.
#
# "Basic | 0.36" says nothing without "Net income per share:" two lines above it, and of three
# rows called "% of revenue" each speaks about the row that it stands under.

_LONGEST: Final = 90  # characters of a title line; a longer one is a remark
_NOTE: Final = re.compile(r"[(\[]\w{1,2}[)\]]|[*†‡]")  # how a remark below a table begins
_SUM: Final = re.compile(r"(?:sub-?)?totals?\b", re.IGNORECASE)


def lines_over(rows: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """Return for each row of a table's body the rows it stands under, the outer one first.

    The first is the last title line above it: a row of which nothing but the first cell is filled,
    in force up to a sum, a row without a name or one that repeats the title. Where rows that do not
    follow one another share a name under one title, the last row above with a name of its own is
    the second.
    """
    names = [row[0].strip() if row else "" for row in rows]
    titles = [_is_title(row) for row in rows]
    under = _titles_over(rows, names, titles)
    called = [
        None if title else (over, name.casefold())
        for over, name, title in zip(under, names, titles, strict=True)
    ]
    named = Counter(key for key, _ in groupby(called))
    found: list[tuple[int, ...]] = []
    above: int | None = None
    for i, name in enumerate(names):
        if titles[i]:
            above = None
            found.append(())
            continue
        shared = bool(name) and named[called[i]] > 1
        over = (under[i], above if shared else None)
        found.append(tuple(line for line in over if line is not None))
        if name and not shared:
            above = i
    return tuple(found)


def _is_title(row: Sequence[str]) -> bool:
    if len(row) < 2 or any(cell.strip() for cell in row[1:]):
        return False
    name = row[0].strip()
    says = any(char.isalnum() for char in name)
    return says and len(name) <= _LONGEST and not _NOTE.match(name)


def _titles_over(
    rows: Sequence[Sequence[str]], names: Sequence[str], titles: Sequence[bool]
) -> list[int | None]:
    """Return for each row the title line in force, None for none."""
    found: list[int | None] = []
    last: int | None = None
    for i, name in enumerate(names):
        if titles[i]:
            last = i
        found.append(None if titles[i] else last)
        if last is None or titles[i] or not any(cell.strip() for cell in rows[i]):
            continue
        repeats = name.casefold() == names[last].rstrip(": ").casefold()
        continues = last == i - 1 and name[:1].islower()  # a name that goes on in the next line
        sums_up = _SUM.match(name) is not None and last < i - 1
        if not name or repeats or continues or sums_up:
            last = None
    return found


@record
class Cell:
    """One cell of a table; `row` and `column` count from 0, spans say how far it reaches."""

    row: int
    column: int
    text: str
    span: Span
    header: bool = False
    row_span: int = 1
    column_span: int = 1


@record
class Table:
    """A table as rows and columns of cells."""

    cells: tuple[Cell, ...]
    caption: Quote | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return max((c.row + c.row_span for c in self.cells), default=0)

    def headers(self, cell: Cell) -> tuple[Quote, ...]:
        """Return a cell's own headers; for more than a few cells make one `Grid`."""
        return Grid(self).headers(cell)


class Grid:
    """A table laid out by rows, with its headers sorted out once."""

    def __init__(self, table: Table) -> None:
        self.rows: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in sorted(table.cells, key=lambda c: (c.row, c.column)):
            self.rows[cell.row].append(cell)
        heads = self._heads(table.rows)
        self._columns = [cell for row in heads for cell in self.rows[row]]
        self._over = _lines(table, [row for row in range(table.rows) if row not in heads])
        self._beside: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in table.cells:
            if cell.header:
                for row in range(cell.row, cell.row + cell.row_span):
                    self._beside[row].append(cell)

    def _heads(self, end: int) -> dict[int, None]:
        """The rows of column headers: they hold nothing but headers, and are no title of rows."""
        pure = {row: None for row, cells in self.rows.items() if all(c.header for c in cells)}
        body = next((row for row in self.rows if row not in pure), end)
        heads: dict[int, None] = {}
        for row in pure:
            named = [cell for cell in self.rows[row] if cell.text]
            title = len(named) == 1 and (row > body or (bool(heads) and named[0].column == 0))
            if not title:
                heads[row] = None
        return heads

    def above(self, cell: Cell) -> tuple[Quote, ...]:
        """Return the column headers above a cell, top first."""
        end = cell.column + cell.column_span
        return tuple(
            Quote(c.text, c.span)
            for c in self._columns
            if c.text
            and c.row < cell.row
            and c.column < end
            and cell.column < c.column + c.column_span
        )

    def over(self, row: int) -> tuple[Quote, ...]:
        """Return the names of the lines a row stands under, the outer one first."""
        return self._over.get(row, ())

    def headers(self, cell: Cell) -> tuple[Quote, ...]:
        """Return a cell's own headers: those above it, the lines over its row, those to its left.

        A header cell has none: it is one.
        """
        if cell.header:
            return ()
        rows = range(cell.row, cell.row + cell.row_span)
        left = {c: None for row in rows for c in self._beside[row] if c.column < cell.column}
        beside = sorted(left, key=lambda c: (c.column, c.row))
        quotes = (Quote(c.text, c.span) for c in beside if c.text)
        return tuple(dict.fromkeys((*self.above(cell), *self.over(cell.row), *quotes)))


def _lines(table: Table, rows: Sequence[int]) -> dict[int, tuple[Quote, ...]]:
    """Return for each of some rows the names of the lines it stands under."""
    names = {
        row: c for c in table.cells if c.column == 0 for row in range(c.row, c.row + c.row_span)
    }
    filled = {
        row
        for c in table.cells
        if c.column > 0 and c.text.strip()
        for row in range(c.row, c.row + c.row_span)
    }
    texts = [
        (names[row].text if row in names else "", "…" if row in filled else "") for row in rows
    ]
    over = {}
    for row, lines in zip(rows, lines_over(texts), strict=True):
        cells = [names[rows[line]] for line in lines]
        over[row] = tuple(Quote(cell.text, cell.span) for cell in cells)
    return over
