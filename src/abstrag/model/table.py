"""Tables: cells with exact spans, and which headers belong to which cell."""

from __future__ import annotations

from collections import defaultdict

from abstrag.model.record import record
from abstrag.model.span import Quote, Span


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
        # a column's headers stand in rows that hold nothing but headers
        pure = [row for row in self.rows.values() if all(c.header for c in row)]
        self._columns = [cell for row in pure for cell in row]
        self._beside: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in table.cells:
            if cell.header:
                for row in range(cell.row, cell.row + cell.row_span):
                    self._beside[row].append(cell)

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

    def headers(self, cell: Cell) -> tuple[Quote, ...]:
        """Return a cell's own headers: those above it, then those to its left.

        A header cell has none: it is one.
        """
        if cell.header:
            return ()
        rows = range(cell.row, cell.row + cell.row_span)
        left = {c: None for row in rows for c in self._beside[row] if c.column < cell.column}
        beside = sorted(left, key=lambda c: (c.column, c.row))
        quotes = (Quote(c.text, c.span) for c in beside if c.text)
        return tuple(dict.fromkeys((*self.above(cell), *quotes)))
