"""Tables and visible text, for formats whose files hold mark-up rather than a text to quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from abstrag.config import MAX_TABLE_CELLS, MAX_TABLE_COLUMNS
from abstrag.documents.assemble import TITLE, OverLimit, Sections
from abstrag.documents.reading import reading_text
from abstrag.model.document import Block, BlockKind, Cell, Document, OffsetMap, Quote, Span, Table

MAX_SPAN: Final = 100  # a cell that reaches further is a typing error or an attack
_PERIOD: Final = re.compile(
    r"(?:(?:FY|CY|[QH][1-4])[ '-]*)*(?:\d\d|(?:19|20)\d\d)?(?:[ -]*[QH][1-4])?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell as a format gives it, before it knows its column."""

    text: str
    span: Span
    alignment: OffsetMap
    header: bool = False
    row_span: int = 1
    column_span: int = 1


def slot(text: str, alignment: OffsetMap, at: int, end: int = 0) -> GridCell:
    """Make a plain slot that reaches to `end` at least; an empty one stands at offset `at`."""
    if not text:
        return GridCell("", Span(at, at), OffsetMap(((0, at),)))
    span = alignment.locate(0, len(text))
    return GridCell(text, Span(span.start, max(span.end, end)), alignment)


def table_block(
    rows: Sequence[Sequence[GridCell]],
    span: Span,
    *,
    caption: Quote | None = None,
    section: tuple[str, ...] = (),
) -> Block | None:
    """Make a table block, or None when no cell says anything."""
    cells = label_rows(place(rows))
    if not any(cell.text for cell in cells):
        return None
    text, alignment = _read(rows)
    return Block(
        BlockKind.TABLE,
        text.rstrip(),  # empty cells at the end leave nothing to point at
        span,
        alignment,
        section=section,
        table=Table(cells, caption),
    )


def place(rows: Sequence[Sequence[GridCell]]) -> tuple[Cell, ...]:
    """Give every slot its row and column, going around cells that reach down from above."""
    cells: list[Cell] = []
    covered = 0
    taken: dict[int, tuple[int, int]] = {}  # column → row where it is free again, next column
    for row, slots in enumerate(rows):
        column = 0
        for item in slots:
            while taken.get(column, (0, 0))[0] > row:
                column = taken[column][1]
            down = max(1, min(item.row_span, len(rows) - row))
            right = max(1, min(item.column_span, MAX_SPAN))
            wall = (c for c in range(column, column + right) if taken.get(c, (0, 0))[0] > row)
            right = next(wall, column + right) - column
            covered += down * right
            if covered > MAX_TABLE_CELLS:
                raise too_large(f"{MAX_TABLE_CELLS:,} cells", "MAX_TABLE_CELLS")
            if column + right > MAX_TABLE_COLUMNS:
                raise too_large(f"{MAX_TABLE_COLUMNS:,} columns", "MAX_TABLE_COLUMNS")
            cells.append(Cell(row, column, item.text, item.span, item.header, down, right))
            here = (row + down, column + right)
            taken.update(dict.fromkeys(range(column, column + right), here))
            column += right
    return tuple(cells)


def too_large(most: str, limit: str) -> OverLimit:
    """Say that a table has more than we read; the caller raises it."""
    return OverLimit(f"a table has more than {most}", limit, hint="split the table")


def is_value(text: str) -> bool:
    """True when a cell holds a number, an amount or a range rather than a name."""
    digits = sum(char.isdigit() for char in text)
    letters = sum(char.isalpha() for char in text)
    return len(text) <= 40 and digits > 0 and letters <= min(3, digits)


def is_name(text: str) -> bool:
    """True when a cell can head a row or a column: words, or the name of a year or quarter."""
    return not is_value(text) or _PERIOD.fullmatch(text) is not None


def has_header_look(
    first: Sequence[GridCell | RawCell], rest: Iterable[Sequence[GridCell | RawCell]]
) -> bool:
    """True when a first row that nothing marks reads like names over a body of values."""
    named = [item for item in first if item.text]
    if not named or not all(is_name(item.text) for item in named):
        return False
    return any(is_value(item.text) for row in rest for item in row)


def as_header(row: Sequence[GridCell]) -> list[GridCell]:
    """Mark a whole row as header cells."""
    return [replace(item, header=True) for item in row]


def label_rows(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Mark the first column as row headers where it names the rows.

    It does when the format says nothing about row headers, the column holds names only, and the
    corner above it is empty, the columns beside it hold values, or the names end with a colon.
    """
    bare = {cell.row for cell in cells if cell.text and not cell.header}
    body = [cell for cell in cells if cell.row in bare]
    if any(cell.header for cell in body):
        return cells
    names = [cell for cell in body if cell.column == 0 and cell.column_span == 1 and cell.text]
    beside = [cell for cell in body if cell.column > 0 and cell.text]
    if len(names) < 2 or not beside or not all(is_name(cell.text) for cell in names):
        return cells
    corner = [cell for cell in cells if cell.header and cell.column == 0]
    blank_corner = bool(corner) and not any(cell.text for cell in corner)
    values = sum(is_value(cell.text) for cell in beside)
    colons = sum(cell.text.endswith(":") for cell in names)
    if not blank_corner and 2 * values < len(beside) and 2 * colons < len(names):
        return cells
    labels = {cell.row for cell in names}
    return tuple(
        replace(cell, header=True) if cell.column == 0 and cell.row in labels else cell
        for cell in cells
    )


def _read(rows: Sequence[Sequence[GridCell]]) -> tuple[str, OffsetMap]:
    """Join cells by tabs and rows by line breaks; each separator stands right after its cell."""
    pieces: list[str] = []
    runs: list[tuple[int, int]] = []
    length = 0
    after: int | None = None  # where the cell before ends in the source
    for row in rows:
        for i, item in enumerate(row):
            if after is not None:
                # what a macro expands to stands where the macro does, one cell as the next
                runs.append((length, min(after, item.span.start)))
                pieces.append("\t" if i else "\n")
                length += 1
            runs.extend((length + a, b) for a, b in item.alignment.runs if item.text)
            pieces.append(item.text)
            length += len(item.text)
            after = item.span.end
    return "".join(pieces), OffsetMap(tuple(runs) or ((0, 0),))


@dataclass(frozen=True, slots=True)
class RawCell:
    """The text of a table cell and how far the cell reaches."""

    text: str
    header: bool = False
    row_span: int = 1
    column_span: int = 1


class VisibleText:
    """Writes blocks one below the other and remembers where each stands.

    Blocks are parted by an empty line, table rows by a line break, cells by a tab.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.blocks: list[Block] = []
        self.sections = Sections()
        self.page: int | None = None  # where the next block stands, if pages are known

    @property
    def text(self) -> str:
        """Everything written so far."""
        return "".join(self._pieces)

    def add(self, kind: BlockKind, text: str, *, level: int | None = None) -> Block | None:
        """Write one block; text without a visible character makes none."""
        raw = text.strip("\r\n") if kind is BlockKind.CODE else text.strip()
        if not raw.strip():
            return None
        start = self._begin()
        if kind is BlockKind.CODE:
            reading, alignment = raw, OffsetMap(((0, 0),))
        else:
            reading, alignment = reading_text(raw, [(0, len(raw))])
        if not reading:
            return None
        self._write(raw)
        heading = kind is BlockKind.HEADING and level is not None
        section = self.sections.enter(level or 0, reading) if heading else self.sections.path
        shifted = OffsetMap(tuple((a, b + start) for a, b in alignment.runs))
        block = Block(
            kind, reading, Span(start, start + len(raw)), shifted, section, self.page, level
        )
        self.blocks.append(block)
        return block

    def add_caption(self, text: str) -> Quote | None:
        """Write the caption of a table that comes next, and return it for `add_table`."""
        block = self.add(BlockKind.CAPTION, text)
        return Quote(block.text, block.span) if block else None

    def add_table(
        self, rows: Sequence[Sequence[RawCell]], caption: Quote | None = None
    ) -> Block | None:
        """Write a table, row by row."""
        if not any(cell.text.strip() for row in rows for cell in row):
            return None
        start = self._begin()
        slots: list[list[GridCell]] = []
        for i, row in enumerate(rows):
            self._write("\n" if i else "")
            slots.append([])
            for j, cell in enumerate(row):
                self._write("\t" if j else "")
                slots[-1].append(self._cell(cell))
        block = table_block(
            slots, Span(start, self._length), caption=caption, section=self.sections.path
        )
        if block is not None:
            block = replace(block, page=self.page)
            self.blocks.append(block)
        return block

    def include(self, made: Document) -> None:
        """Write all blocks of another document below the sections that are open.

        What was the title of that document heads its blocks here.
        """
        start = self._begin()
        self._write(made.text)
        path = self.sections.path
        for block in made.blocks:
            moved = replace(_moved(block, start), section=(*path, *block.section), page=self.page)
            if block is made.blocks[0] and block.level == TITLE:
                moved = replace(moved, level=1)
                path = (*path, block.text)
            self.blocks.append(moved)

    def _cell(self, cell: RawCell) -> GridCell:
        text = " ".join(cell.text.replace("\u00ad", "").split())
        start = self._length
        self._write(text)
        return GridCell(
            text,
            Span(start, self._length),
            OffsetMap(((0, start),)),
            cell.header,
            cell.row_span,
            cell.column_span,
        )

    def _begin(self) -> int:
        if self._pieces:
            self._write("\n\n")
        return self._length

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _moved(block: Block, by: int) -> Block:
    """Return a block as it stands further down in a longer text."""
    table = block.table
    if table is not None:
        caption = table.caption
        cells = tuple(replace(cell, span=_shifted(cell.span, by)) for cell in table.cells)
        quote = Quote(caption.text, _shifted(caption.span, by)) if caption is not None else None
        table = Table(cells, quote)
    runs = tuple((a, b + by) for a, b in block.alignment.runs)
    return replace(block, span=_shifted(block.span, by), alignment=OffsetMap(runs), table=table)


def _shifted(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
