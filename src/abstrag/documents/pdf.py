"""PDF files and pictures of pages: placed words become blocks in the order a person reads them.

Pictures (PNG, JPEG and TIFF files, scanned pages) are read with the extra `abstrag[ocr]`.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from abstrag.config import MAX_PICTURE_PIXELS, MAX_SCAN_PIXELS, MAX_SCANNED_PAGES
from abstrag.documents.assemble import TITLE, OverLimit
from abstrag.documents.header import Cover, cover_of, find_date, read_cover, signing_date
from abstrag.documents.ocr import INSTALL, can_read, read_scan, with_one_body
from abstrag.documents.pdf_layout.columns import (
    Region,
    body_size,
    common_gutters,
    gutter_of,
    regions_of,
    running_head,
    sideways,
    without_furniture,
)
from abstrag.documents.pdf_layout.document_writer import BlockDraft, DocumentWriter
from abstrag.documents.pdf_layout.headings import (
    body_of,
    find_title,
    header_date,
    mark_filing,
    mark_headings,
    mark_table_titles,
    parted,
    printed_date,
    sane_title,
)
from abstrag.documents.pdf_layout.lines import Page, PdfLine, joined, pieces_of, rows_of, underline
from abstrag.documents.pdf_layout.paragraphs import (
    Column,
    flowing,
    gathered,
    mend_torn_words,
    paragraphs_of,
)
from abstrag.documents.pdf_layout.reader import OnPage, PdfContent, picture_of, read_pages
from abstrag.documents.pdf_layout.tables import tables_in
from abstrag.errors import Damaged, EmptyDocument, NoTextLayer
from abstrag.model.document import Block, BlockKind, Document, Metadata, ScannedPage, Span

_NUMBERED: Final = re.compile(r"\d+(?:\.\d+)*\.?\s")  # a section
_WORDS_OF_A_TITLE: Final = 3


def load_pdf(data: bytes, name: str, on_page: OnPage = lambda _number, _all: None) -> Document:
    """Read a PDF into a document; pages that are pictures need the extra `abstrag[ocr]`.

    Raises:
        Encrypted: it needs a password.
        Damaged: it is broken or cut off.
        NoTextLayer: its pages are pictures, and nothing is installed that reads them.
        EmptyDocument: it has no pages, or nothing on them.
        FileTooLarge: it has more pages than are read.
    """
    reading = read_pages(data, name, on_page)
    reading, scans = _with_scans(data, reading, name, on_page)
    _require_text(reading, scans, name)
    return document_of(reading, scans, name, "pdf")


def document_of(
    reading: PdfContent, scans: Sequence[ScannedPage], name: str, format_name: str
) -> Document:
    """Put the pages of a file into reading order."""
    layout = _layout(reading.pages)
    filing, drafts, body = _filing(layout.drafts), layout.drafts, body_of(layout.drafts)
    if filing:
        mend_torn_words(drafts)
        drafts = parted(drafts, body, filing.company)
    title = None if filing and filing.filed else find_title(drafts, body)
    mark_headings(drafts, body, title)
    if filing:
        mark_filing(drafts, body, filing.company, form=filing.filed)
    mark_table_titles(drafts)
    if title is not None:
        title.kind, title.level = BlockKind.HEADING, TITLE
    writer = DocumentWriter()
    writer.write(drafts)
    text, blocks = writer.text(), writer.blocks()
    iso, span = _date(text, blocks, layout.stamps, reading.created)
    cover = cover_of(text, blocks)
    if cover is not None and cover.period_end and span is None:
        iso = signing_date(text, cover.period_end) or cover.period_end
    return Document(
        id=name,
        title=cover.title
        if cover is not None and cover.filed
        else _title(blocks, reading, layout.head, name),
        text=text,
        blocks=blocks,
        metadata=Metadata(date=iso, date_span=span, format=format_name, pages=len(reading.pages)),
        scans=tuple(scans),
    )


def _with_scans(
    data: bytes, reading: PdfContent, name: str, on_page: OnPage
) -> tuple[PdfContent, tuple[ScannedPage, ...]]:
    """Read the pages that draw something and say nothing, if that can be done here."""
    empty = [p for p in reading.pages if p.drawn and not p.words and not p.turned]
    if not empty:
        return reading, ()
    if not can_read():
        return reading, tuple(ScannedPage(page.number, read=False) for page in empty)
    check_scans(len(empty))
    pages = {page.number: page for page in reading.pages}
    scans = []
    for done, page in enumerate(empty, 1):
        scan = read_scan(*_picture(data, page.number, name))
        if scan.words.words:
            pages[page.number] = replace(scan.page, rules=page.rules)
            scans.append(scan.words)
        on_page(done, len(empty))
    bodies = with_one_body([pages[scan.number] for scan in scans])
    pages |= {page.number: page for page in bodies}
    return replace(reading, pages=tuple(pages.values())), tuple(scans)


def check_scans(pages: int) -> None:
    """Refuse a document that would take hours to read."""
    if pages > MAX_SCANNED_PAGES:
        what = f"{pages:,} of its pages are pictures, and {MAX_SCANNED_PAGES:,} are the most"
        raise OverLimit(what, "MAX_SCANNED_PAGES", hint="split it")


def _picture(data: bytes, number: int, name: str) -> tuple[NDArray[np.uint8], int, float, float]:
    pixels, width, height = picture_of(data, number, name)
    return pixels, number, width, height


def _require_text(reading: PdfContent, scans: Sequence[ScannedPage], name: str) -> None:
    if any(page.words or page.turned for page in reading.pages):
        return
    if any(not scan.read for scan in scans):
        raise NoTextLayer(f"PDF {name!r} holds pictures of pages and no text", hint=INSTALL)
    raise EmptyDocument(f"PDF {name!r} has no text on any page")


@dataclass(frozen=True, slots=True)
class _Layout:
    """The blocks of all pages in reading order, and what is stamped into the first margin."""

    drafts: list[BlockDraft]
    stamps: str
    head: str  # what runs over the text of the first page


def _layout(pages: Sequence[Page]) -> _Layout:
    rows = []
    for page in pages:
        pieces = pieces_of(page.words)
        underline(pieces, page.rules)
        rows.append(rows_of(pieces))
    body = body_size(rows)
    kept = without_furniture(pages, rows)
    if not any(kept):
        kept = rows
    flat = [[piece for row in page for piece in row] for page in kept]
    gutters = [gutter_of(pieces, page.rules) for pieces, page in zip(flat, pages, strict=True)]
    hints = common_gutters(gutters)
    drafts: list[BlockDraft] = []
    stamps = ""
    for i, page in enumerate(pages):
        gutter = gutters[i]
        if gutter is None and hints:
            gutter = gutter_of(flat[i], page.rules, hints)
        regions = regions_of(flat[i], page.rules, gutter)
        found = [draft for region in regions for draft in _blocks_of(region, page, body)]
        turned, stamped = sideways(page, kept[i])
        stamps = stamps or stamped
        if turned:
            lines = [PdfLine(run) for run in turned]
            found.append(BlockDraft(BlockKind.PARAGRAPH, lines, page.number, figure=True))
        drafts += gathered(found, body)
    return _Layout(flowing(drafts), stamps, running_head(rows[0], kept[0]) if rows else "")


def _blocks_of(region: Region, page: Page, body: float) -> list[BlockDraft]:
    """Cut a region into tables and, between them, paragraphs."""
    rows = rows_of(region.pieces)
    drafts: list[BlockDraft] = []

    def text(start: int, stop: int) -> list[BlockDraft]:
        lines = [joined(row) for row in rows[start:stop]]
        middle = page.height / 2
        column = Column(lines, region.left, region.right, page.number, body, middle, page.dots)
        return paragraphs_of(column)

    at = 0
    for found in tables_in(rows, page.rules, region.left, region.right):
        drafts += text(at, found.start)
        lines = [joined(row) for row in rows[found.start : found.stop]]
        drafts.append(
            BlockDraft(
                BlockKind.TABLE, lines, page.number, region.left, region.right, table=found.lattice
            )
        )
        at = found.stop
    return drafts + text(at, len(rows))


def _filing(drafts: Sequence[BlockDraft]) -> Cover | None:
    """Return what the cover of a form or the headline of a release says, None without either."""
    first = [draft for draft in drafts if draft.page == 1]
    cover = read_cover([line.text for draft in first for line in draft.lines])
    return cover or read_cover([draft.text for draft in first])


def _title(blocks: Sequence[Block], reading: PdfContent, head: str, name: str) -> str:
    """Return the printed title, else the header's, else the first heading, else the name.

    Pages out of the middle of something have neither, and begin in some numbered section: what
    runs over their text names the whole.
    """
    printed = next((b.text for b in blocks if b.level == TITLE), None)
    heading = next((b.text for b in blocks if b.kind is BlockKind.HEADING and b.page == 1), None)
    if (heading is None or _NUMBERED.match(heading)) and len(head.split()) >= _WORDS_OF_A_TITLE:
        heading = sane_title(head) or heading
    return printed or sane_title(reading.title) or heading or name


def _date(
    text: str, blocks: Sequence[Block], stamps: str, created: str
) -> tuple[str | None, Span | None]:
    """Return the date printed on the first page and where, else one that stands elsewhere."""
    front = [(b.span.start, b.span.end) for b in blocks if b.page == 1 and b.table is None]
    if printed := printed_date(text, front):
        return printed.iso, Span(printed.start, printed.end)
    stamped = find_date(stamps)
    return (stamped.iso if stamped else header_date(created)), None


_POINTS_PER_PIXEL: Final = 72 / 200  # what a scan of 200 dots per inch has


def load_image(data: bytes, name: str, on_page: OnPage = lambda _number, _all: None) -> Document:
    """Read the pages of a picture file into a document.

    Raises:
        NoTextLayer: nothing is installed that reads pictures.
        Damaged: it is broken or cut off.
        EmptyDocument: no text is seen on it.
        FileTooLarge: it has more pages or pixels than are read.
    """
    if not can_read():
        raise NoTextLayer(f"{name!r} is a picture", hint=INSTALL)
    scans = []
    for number, count, pixels in _frames(data, name):
        height, width = (side * _POINTS_PER_PIXEL for side in pixels.shape[:2])
        scans.append(read_scan(pixels, number, width, height))
        on_page(number, count)
    if not any(scan.page.words for scan in scans):
        raise EmptyDocument(f"no text is seen on picture {name!r}", hint="look at it: is it sharp?")
    pages = with_one_body([scan.page for scan in scans])
    return document_of(PdfContent(pages), [scan.words for scan in scans], name, "image")


def _frames(data: bytes, name: str) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yield number, count and pixels of each page."""
    from PIL import Image, ImageSequence

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about sizes, which are checked here
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF")) as picture:
                count = getattr(picture, "n_frames", 1)
                check_scans(count)
                for number, frame in enumerate(ImageSequence.Iterator(picture), 1):
                    yield number, count, _pixels(frame)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise Damaged(
            f"picture {name!r} is broken or cut off", hint="fetch or copy it again"
        ) from error


def _pixels(frame: Any) -> NDArray[np.uint8]:
    """Return a page upright, on white, and no larger than is read."""
    from PIL import Image, ImageOps

    across, down = frame.size
    if across * down > MAX_PICTURE_PIXELS:
        what = f"it has {across:,} × {down:,} pixels, and {MAX_PICTURE_PIXELS:,} are the most"
        raise OverLimit(what, "MAX_PICTURE_PIXELS", hint="save it smaller")
    upright = ImageOps.exif_transpose(frame).convert("RGBA")
    paper = Image.new("RGBA", upright.size, "white")
    paper.alpha_composite(upright)
    shown = paper.convert("RGB")
    scale = (MAX_SCAN_PIXELS / (across * down)) ** 0.5
    if scale < 1:
        shown = shown.resize((max(1, int(shown.width * scale)), max(1, int(shown.height * scale))))
    return np.asarray(shown, dtype=np.uint8)
