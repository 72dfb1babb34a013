"""A document D: its text, spans of it, tables, blocks in reading order, and what is known of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from enum import StrEnum
from hashlib import sha256
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Final

from abstrag.model.record import Unit, record, to_json


@record
class Span:
    """A half-open range of characters in a document's text: `text[start:end]`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"no span: {self.start}..{self.end}")

    def of(self, text: str) -> str:
        """Return the characters the span covers."""
        return text[self.start : self.end]


@record
class OffsetMap:
    """Maps offsets of a reading text onto the source it was made from.

    A run `(a, b)` says: from offset `a` of the reading text on, character `a + i` is character
    `b + i` of the source, until the next run begins. Both sides only ever grow, so a healed
    hyphen or a dropped mark-up character is a new run, and a line break that became a space is not.
    """

    runs: tuple[tuple[int, int], ...]

    def at(self, offset: int) -> int:
        """Return the source offset of one character of the reading text."""
        i = bisect_right(self.runs, offset, key=lambda run: run[0]) - 1
        a, b = self.runs[max(i, 0)]
        return b + offset - a

    def locate(self, start: int, end: int) -> Span:
        """Return the source span of `reading_text[start:end]`."""
        first = self.at(start)
        return Span(first, max(first, self.at(end - 1) + 1) if end > start else first)

    def cut(self, start: int, end: int) -> OffsetMap:
        """Return the alignment of `reading_text[start:end]` taken as a text of its own."""
        inner = tuple((a - start, b) for a, b in self.runs if start < a < end)
        return OffsetMap(((0, self.at(start)), *inner))


@record
class Quote:
    """A piece of text and where it stands; a header cell, a caption, a date line."""

    text: str
    span: Span


# Lines of a table that name what the rows below them belong to.
#
# "Basic | 0.36" says nothing without "Net income per share:" two lines above it, and of three
# rows called "% of revenue" each speaks about the row that it stands under.

_LONGEST_TITLE: Final = 90  # characters of a title line; a longer one is a remark
_TABLE_NOTE: Final = re.compile(r"[(\[]\w{1,2}[)\]]|[*†‡]")  # how a remark below a table begins
_TOTAL: Final = re.compile(r"(?:sub-?)?totals?\b", re.IGNORECASE)


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
    return says and len(name) <= _LONGEST_TITLE and not _TABLE_NOTE.match(name)


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
        sums_up = _TOTAL.match(name) is not None and last < i - 1
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


DOUBTFUL: Final = 0.9  # a word read with less may be wrong; docs/scans.md has the measurements

Box = tuple[float, float, float, float]


@record
class ScannedWord:
    """A word, its box in fractions of the page's width and height from top left, its confidence."""

    text: str
    box: Box
    confidence: Unit


@record
class ScannedPage:
    """A page that is a picture, counted from 1, with its words line by line.

    A page of which nothing was `read` has no words; the reader of pictures was not installed.
    """

    number: int
    words: tuple[ScannedWord, ...] = ()
    read: bool = True


def doubtful_words(page: ScannedPage, quote: str) -> tuple[str, ...]:
    """Return the words of a quotation that the page's reader was not sure of, in their order."""
    said = set(quote.split())
    found = (w.text for w in page.words if w.confidence < DOUBTFUL and w.text in said)
    return tuple(dict.fromkeys(found))


class BlockKind(StrEnum):
    """What a block is on the page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CAPTION = "caption"
    CODE = "code"
    FOOTNOTE = "footnote"


class Genre(StrEnum):
    """What sort of document it is; each genre has a layout-role schedule of its own."""

    SCIENTIFIC = "scientific"
    ENGINEERING = "engineering"
    ABSTRACT_ONLY = "abstract_only"
    PAGE_LOCAL = "page_local"
    LEGAL = "legal"
    REPORT = "report"
    NEWS = "news"
    TRANSCRIPT = "transcript"
    PLAIN = "plain"


@record
class Block:
    """One block of the page.

    `text` is what a person reads: lines joined, hyphens at line ends healed, mark-up gone.
    `span` is where the block stands in the document's text; `alignment` maps one onto the other.
    `section` is the path of headings above the block, outermost first. A heading's own path does
    not contain itself. A table's cells carry their own spans.
    """

    kind: BlockKind
    text: str
    span: Span
    alignment: OffsetMap
    section: tuple[str, ...] = ()
    page: int | None = None
    level: int | None = None
    table: Table | None = None


@record
class Metadata:
    """What is known about the document as a whole; everything may be unknown."""

    date: str | None = None  # ISO date the document speaks from
    date_span: Span | None = None  # where the text says so
    source: str | None = None  # path or address it was read from
    format: str | None = None  # text, markdown, html, pdf, docx, xlsx, csv, pptx, epub, eml, …
    genre: Genre | None = None  # only when somebody said so; Seg_L detects it otherwise
    domain: str | None = None
    pages: int | None = None


@record
class PageLink:
    """A link from a block to another page of its folder, by the name that the block gives it."""

    span: Span  # of the block
    text: str  # what is clicked on
    target: str  # "fees/late-fees.md#when-due"


@record
class Document:
    """A document: an id, a title, a text and its blocks in reading order.

    `text` is what spans point into. For text, Markdown and LaTeX it is the file's own characters
    (LaTeX with its inputs in place); for PDF, HTML and DOCX it is the characters a reader sees, in
    reading order, before any repair. `scans` are the pages that are pictures, `links` lead to pages
    of the same folder.
    """

    id: str
    title: str
    text: str
    blocks: tuple[Block, ...]
    metadata: Metadata = Metadata()
    scans: tuple[ScannedPage, ...] = ()
    links: tuple[PageLink, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> Document:
        """Read a file of any supported format.

        This is the one call that reaches up, at run time, into a higher layer: people look for it
        here.
        """
        made: Document = import_module("abstrag.documents.load").load(path)
        return made

    def quote(self, span: Span) -> str:
        """Return the exact characters a span covers."""
        return span.of(self.text)

    def doubt(self, span: Span, page: int | None) -> str:
        """Say which words of a span were read from a picture without being sure; "" for none."""
        scan = next((each for each in self.scans if each.number == page), None)
        words = doubtful_words(scan, self.quote(span)) if scan is not None else ()
        if not words:
            return ""
        return f"read from a picture, not sure of {', '.join(repr(word) for word in words)}"

    @property
    def content_hash(self) -> str:
        """A hash of what the document says; places on pictures of pages are left out of it."""
        left_out = ("scans",) if self.links else ("scans", "links")  # as before there were links
        return sha256(to_json(self, without=left_out).encode()).hexdigest()
