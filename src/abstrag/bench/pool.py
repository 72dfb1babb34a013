"""From a pool to a document: one block for each element, so that the index chain sees the page.

Headings, headers and captions are written into the text once and are no candidates themselves. A
table row or cell becomes a table of one wide cell under its head cells: that gives the segment its
own headers, whatever shape the rest of the table has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from abstrag.baselines.pool import TABULAR, Element, ElementKind, Pool
from abstrag.documents.clauses import with_clauses
from abstrag.model.document import Block, BlockKind, Document, Metadata
from abstrag.model.index import DocumentIndex
from abstrag.model.span import OffsetMap, Quote, Span
from abstrag.model.table import Cell, Table

_KINDS: Final = {
    ElementKind.SENTENCE: BlockKind.PARAGRAPH,
    ElementKind.PARAGRAPH: BlockKind.PARAGRAPH,
    ElementKind.LIST_ITEM: BlockKind.LIST_ITEM,
    ElementKind.CAPTION: BlockKind.CAPTION,
    ElementKind.TABLE_ROW: BlockKind.TABLE,
    ElementKind.TABLE_CELL: BlockKind.TABLE,
}


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """A document made of a pool, and which of its blocks is which element."""

    document: Document
    elements: dict[int, str]  # block → element id

    def element_ids(self, index: DocumentIndex) -> list[str]:
        """Return the element each segment of an index of this document belongs to."""
        return [self.elements[segment.block] for segment in index.segments]


def to_document(pool: Pool) -> PooledDocument:
    """Write a pool out as a document."""
    page = _Page()
    page.heading(pool.title, (), level=1)
    elements: dict[int, str] = {}
    here: tuple[str, ...] = ()
    for element in pool.elements:
        if element.section != here:
            page.enter(element.section, here)
            here = element.section
        elements[len(page.blocks)] = element.id
        page.element(element)
    document = Document(
        id=pool.id,
        title=pool.title,
        text="".join(page.written),
        blocks=tuple(page.blocks),
        metadata=Metadata(date=pool.date, genre=pool.genre, format="pool"),
    )
    return PooledDocument(with_clauses(document), elements)


class _Page:
    """The text written so far, its blocks, and where headers and captions already stand."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.blocks: list[Block] = []
        self._length = 0
        self._quotes: dict[str, Quote] = {}

    def write(self, text: str) -> Span:
        """Append a line and say where its words are."""
        start = self._length
        self.written.append(text + "\n")
        self._length += len(text) + 1
        return Span(start, start + len(text))

    def quote(self, text: str) -> Quote:
        """Return a header or caption, written where it is first needed."""
        if text not in self._quotes:
            self._quotes[text] = Quote(text, self.write(text))
        return self._quotes[text]

    def heading(self, text: str, section: tuple[str, ...], *, level: int) -> None:
        """Add a heading."""
        self._block(BlockKind.HEADING, text, self.write(text), section, level=level)

    def enter(self, section: tuple[str, ...], before: tuple[str, ...]) -> None:
        """Add the headings on the way from one section into another."""
        shared = 0
        while shared < min(len(section), len(before)) and section[shared] == before[shared]:
            shared += 1
        for depth in range(shared, len(section)):
            self.heading(section[depth], section[:depth], level=depth + 2)

    def element(self, element: Element) -> None:
        """Add the block of one candidate."""
        text = element.text.replace("\n", " ")  # character for character, so spans still hold
        table = None
        if element.kind in TABULAR:
            heads = [self.quote(header) for header in element.headers]
            caption = self.quote(element.caption) if element.caption else None
            span = self.write(text)
            width = max(len(heads), 1)
            cells = [Cell(0, i, head.text, head.span, header=True) for i, head in enumerate(heads)]
            row = 1 if heads else 0
            table = Table((*cells, Cell(row, 0, text, span, column_span=width)), caption)
        else:
            span = self.write(text)
            if element.kind is ElementKind.CAPTION:
                self._quotes.setdefault(text, Quote(text, span))
        self._block(_KINDS[element.kind], text, span, element.section, table=table)

    def _block(
        self,
        kind: BlockKind,
        text: str,
        span: Span,
        section: tuple[str, ...],
        *,
        level: int | None = None,
        table: Table | None = None,
    ) -> None:
        alignment = OffsetMap(((0, span.start),))
        self.blocks.append(
            Block(kind, text, span, alignment, section=section, level=level, table=table)
        )
