"""A table as rows and columns: what its cells are, and where its columns run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from abstrag.documents.pdf_layout.cells import is_value
from abstrag.documents.pdf_layout.lines import PdfLine

Stretch = tuple[float, float]


@dataclass(slots=True)
class CellDraft:
    """A cell on its way: its lines, the columns it takes up and how many rows."""

    lines: list[PdfLine]
    first: int
    last: int
    rows: int = 1

    @property
    def text(self) -> str:
        """What it says, lines joined."""
        return " ".join(line.text for line in self.lines)


@dataclass(slots=True)
class LatticeRow:
    """A row of entries, left to right, at the height of its lowest line."""

    entries: list[CellDraft]
    base: float
    size: float
    header: bool = False

    @property
    def columns(self) -> set[int]:
        """The columns that are filled."""
        return {c for e in self.entries for c in range(e.first, e.last + 1)}

    @property
    def label_only(self) -> bool:
        """True when there is nothing but a label."""
        return len(self.entries) == 1 and self.entries[0].last == 0

    def take(self, entries: Iterable[CellDraft]) -> None:
        """Put cells into the row; one whose columns are taken goes below what is there."""
        for entry in entries:
            mine = next(
                (e for e in self.entries if e.first <= entry.last and entry.first <= e.last), None
            )
            if mine is None:
                self.entries.append(entry)
            else:
                mine.lines += entry.lines
                mine.first, mine.last = min(mine.first, entry.first), max(mine.last, entry.last)
        self.entries.sort(key=lambda e: e.first)


@dataclass(frozen=True, slots=True)
class Lattice:
    """A table whose every cell has a row and a column."""

    rows: tuple[LatticeRow, ...]
    columns: int


def columns_of(body: Sequence[Sequence[PdfLine]]) -> list[Stretch]:
    """Return the stretches that the cells of the body cover, left to right.

    A cell that is alone in its line adds a column only where none is: it may be a label that runs
    on below the values.
    """
    wide = [cells for cells in body if len(cells) > 1]
    values = [
        c.x0 for cells in wide for c in cells[not is_value(cells[0].text) :] if is_value(c.text)
    ]
    edge = min(values, default=float("inf"))
    stretches: list[Stretch] = []
    for cells in wide:
        for i, cell in enumerate(cells):
            label = i == 0 and cell.x0 < edge
            stretches.append((cell.x0, min(cell.x1, edge - 0.1) if label else cell.x1))
    columns = _united(stretches)
    alone = [(cells[0].x0, cells[0].x1) for cells in body if len(cells) == 1]
    apart = [(x0, x1) for x0, x1 in alone if all(x1 < a or b < x0 for a, b in columns)]
    return _united([*columns, *apart])


def _united(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Put stretches that overlap together."""
    united: list[Stretch] = []
    for x0, x1 in sorted(stretches):
        if united and x0 <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], x1))
        else:
            united.append((x0, x1))
    return united


def column_at(cell: PdfLine, columns: Sequence[Stretch]) -> int:
    """Return the column of a cell of the body: where a label starts, where a value is centred."""
    label = cell.x0 <= columns[0][1] and not is_value(cell.text)
    x = cell.x0 if label else (cell.x0 + cell.x1) / 2
    return min(range(len(columns)), key=lambda i: max(columns[i][0] - x, x - columns[i][1], 0.0))
