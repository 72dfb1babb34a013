"""A document D: its text, its blocks in reading order, and what is known about it as a whole."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Final

from abstrag.model.record import Unit, record, to_json
from abstrag.model.span import OffsetMap, Span
from abstrag.model.table import Table

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
