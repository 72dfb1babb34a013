"""The visible text of a page, for formats whose files hold mark-up rather than a text to quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from abstrag.documents.assemble import TITLE, Sections
from abstrag.documents.grid import GridCell, table_block
from abstrag.documents.reading import reading_text
from abstrag.model.document import Block, BlockKind, Document
from abstrag.model.span import OffsetMap, Quote, Span
from abstrag.model.table import Table


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
