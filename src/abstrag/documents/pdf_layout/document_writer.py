"""The document's text, written block by block, and the blocks with their places in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from abstrag.documents.assemble import Sections
from abstrag.documents.pdf_layout.lattice import CellDraft, Lattice, is_value
from abstrag.documents.pdf_layout.lines import PdfLine
from abstrag.documents.reading import Hyphens, reading_text
from abstrag.model.document import Block, BlockKind, Cell, OffsetMap, Quote, Span, Table

_SENTENCE_END: Final = tuple(".?!:;")
_CLOSING: Final = "\"'”’)]»*†‡"


@dataclass(slots=True)
class BlockDraft:
    """A block before it has a place in the document's text.

    `left` and `right` are the margins of its column. `caption_for` says what a caption is for,
    `figure` marks the words of a drawing, `bullet` an item whose bullet may be drawn.
    """

    kind: BlockKind
    lines: list[PdfLine]
    page: int
    left: float = 0.0
    right: float = 0.0
    table: Lattice | None = None
    caption_for: str | None = None
    level: int | None = None
    figure: bool = False
    bullet: bool = False

    @property
    def text(self) -> str:
        """The lines joined by spaces."""
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        """The size most of its letters have."""
        return max(self.lines, key=lambda n: n.letters).size if self.lines else 0.0

    @property
    def bold(self) -> bool:
        """True when every line is."""
        return all(line.bold for line in self.lines)

    @property
    def floating(self) -> bool:
        """True for what the text flows around: tables, figures, captions, footnotes."""
        aside = (BlockKind.TABLE, BlockKind.CAPTION, BlockKind.FOOTNOTE)
        return self.figure or self.kind in aside

    @property
    def ends_sentence(self) -> bool:
        """True when the last line ends as sentences do."""
        return ends_sentence(self.lines[-1].text)


def ends_sentence(text: str) -> bool:
    """True for a text whose last mark, quotes and brackets aside, ends a sentence."""
    return text.rstrip(_CLOSING + " ").endswith(_SENTENCE_END)


class DocumentWriter:
    """A text under construction: lines end in line breaks, blocks in empty lines."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._written: list[tuple[BlockDraft, Span, tuple[Cell, ...]]] = []

    def write(self, drafts: Sequence[BlockDraft]) -> None:
        """Write blocks in reading order."""
        for draft in drafts:
            if self._length:
                self._put("\n\n")
            start = self._length
            cells: tuple[Cell, ...] = ()
            if draft.table is None:
                self._put("\n".join(line.text for line in draft.lines))
            else:
                cells = self._write_table(draft.table)
            self._written.append((draft, Span(start, self._length), cells))

    def text(self) -> str:
        """Return what was written."""
        return "".join(self._pieces)

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks with section paths, reading texts, tables and their captions."""
        source = self.text()
        hyphens = Hyphens(source)
        sections = Sections()
        made: list[Block] = []
        for draft, span, cells in self._written:
            if cells:
                text, alignment = span.of(source), OffsetMap(((0, span.start),))
            else:
                text, alignment = reading_text(source, [(span.start, span.end)], hyphens)
            heading = draft.kind is BlockKind.HEADING and draft.level is not None
            path = sections.enter(draft.level or 0, text) if heading else sections.path
            made.append(
                Block(
                    kind=draft.kind,
                    text=text,
                    span=span,
                    alignment=alignment,
                    section=path,
                    page=draft.page,
                    level=draft.level,
                    table=Table(cells) if cells else None,
                )
            )
        return tuple(self._captioned(made))

    def _put(self, text: str) -> Span:
        self._pieces.append(text)
        self._length += len(text)
        return Span(self._length - len(text), self._length)

    def _write_table(self, table: Lattice) -> tuple[Cell, ...]:
        """Write a table, a row a line with tabs between the cells."""
        labelled = _has_labels(table)
        cells: list[Cell] = []
        for i, row in enumerate(table.rows):
            for j, entry in enumerate(row.entries):
                if i or j:
                    self._put("\t" if j else "\n")
                text = _cell_text(entry)
                label = labelled and entry.first == 0 and not is_value(text)
                cells.append(
                    Cell(
                        row=i,
                        column=entry.first,
                        text=text,
                        span=self._put(text),
                        header=row.header or label,
                        row_span=min(entry.rows, len(table.rows) - i),
                        column_span=entry.last - entry.first + 1,
                    )
                )
        return tuple(cells)

    def _captioned(self, blocks: Sequence[Block]) -> list[Block]:
        """Give each table the caption next to it: in its own column if possible, else above."""
        made = list(blocks)
        used: set[int] = set()
        for i, block in enumerate(made):
            if block.table is None:
                continue
            beside = [j for j in (i - 1, i + 1) if j not in used and self._is_caption(j, i)]
            if beside:
                best = min(beside, key=lambda j: (not self._same_column(j, i), j))
                used.add(best)
                caption = Quote(made[best].text, made[best].span)
                made[i] = replace(block, table=Table(block.table.cells, caption))
        return made

    def _is_caption(self, j: int, table: int) -> bool:
        if not 0 <= j < len(self._written):
            return False
        draft = self._written[j][0]
        return draft.caption_for == "table" and draft.page == self._written[table][0].page

    def _same_column(self, j: int, i: int) -> bool:
        one, other = self._written[j][0], self._written[i][0]
        return (one.left, one.right) == (other.left, other.right)


def _cell_text(entry: CellDraft) -> str:
    """Return the lines of a cell as one; a word broken at a line's end stays whole."""
    text = ""
    for line in entry.lines:
        broken = text[-1:] == "-" and text[-2:-1].isalpha() and line.text[:1].islower()
        text += line.text if not text or broken else f" {line.text}"
    return text


def _has_labels(table: Lattice) -> bool:
    """True when the first column names the rows: the others hold values for the most part."""
    rest = [e.text for row in table.rows if not row.header for e in row.entries if e.first > 0]
    return 2 * sum(map(is_value, rest)) >= len(rest)
