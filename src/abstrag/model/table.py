"""Tables: cells with exact spans, and which headers belong to which cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from abstrag.model.record import record
from abstrag.model.span import Quote, Span
from abstrag.model.table_lines import lines_over


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
