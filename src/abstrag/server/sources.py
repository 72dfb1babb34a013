"""The files documents were read from, as far as they are still there and unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.engine.kept import Kept
from abstrag.errors import AbstragError
from abstrag.model.document import Document
from abstrag.model.segment import Segment
from abstrag.model.span import Span
from abstrag.server.pdf_pages import Places, page_count, places, rendered, squeezed
from abstrag.server.pdf_words import WordPlaces, word_places
from abstrag.server.refusals import NotThere
from abstrag.stores.protocol import DocumentInfo

_MAGIC: Final = b"%PDF-"
_HEAD: Final = 1024  # bytes in which a PDF says what it is


class Sources:
    """Opens what the store says a document was read from, and nothing a client could name."""

    def __init__(self, keep: int = 20_000) -> None:  # a number each
        self._pages: Kept[int | None] = Kept(keep)

    def pages(self, info: DocumentInfo) -> int | None:
        """Return how many pages a document's PDF has; None when there is no such file."""
        if info.source_path is None:
            return None
        path = Path(info.source_path)
        try:
            seen = path.stat()
        except OSError:
            return None
        key = (info.source_path, info.source_hash, seen.st_mtime_ns, seen.st_size)
        return self._pages.get(key, lambda: _count(path, info.source_hash))

    def picture(self, info: DocumentInfo, number: int, *, width: int) -> bytes:
        """Return a page of a document as a PNG file."""
        return rendered(self._pdf(info), number, width=width)

    def places(
        self, info: DocumentInfo, document: Document, number: int, *, start: int, end: int
    ) -> Places:
        """Return where on a page a span of the document stands."""
        quote = document.text[max(start, 0) : max(end, 0)]
        nth = self._nth(document, number, start, quote)
        scan = next((page for page in document.scans if page.number == number), None)
        return places(self._pdf(info), number, quote, nth=nth, scan=scan)

    def words(
        self,
        info: DocumentInfo,
        document: Document,
        segment: Segment,
        number: int,
        parts: Sequence[tuple[int, int]],
    ) -> WordPlaces:
        """Return where stretches of a segment's text stand on a page."""
        start, end = segment.span.start, segment.span.end
        size = len(segment.text)
        spans = [
            segment.alignment.locate(a, b) if a < b <= size else Span(start, start)
            for a, b in parts
        ]
        inside = [(max(one.start - start, 0), max(one.end - start, 0)) for one in spans]
        quote = document.text[start:end]
        scan = next((page for page in document.scans if page.number == number), None)
        return word_places(
            self._pdf(info),
            number,
            quote,
            inside,
            nth=self._nth(document, number, start, quote),
            scan=scan,
        )

    def _nth(self, document: Document, number: int, start: int, quote: str) -> int:
        """Count the equal quotations before this one on its page."""
        before = "".join(
            document.text[block.span.start : min(block.span.end, start)]
            for block in document.blocks
            if block.page == number and block.span.start < start
        )
        return squeezed(before).count(squeezed(quote)) if quote.strip() else 0

    def _pdf(self, info: DocumentInfo) -> Path:
        if self.pages(info) is None or info.source_path is None:
            raise NotThere(
                f"{info.id!r} has no PDF to show",
                hint="its file is no PDF, or has been moved or changed since it was indexed",
            )
        return Path(info.source_path)


def _count(path: Path, expected: str) -> int | None:
    """Count the pages of a file, if it is a PDF and still the one that was indexed."""
    try:
        with path.open("rb") as file:
            if _MAGIC not in file.read(_HEAD):  # most of a large store; they are not read whole
                return None
        if sha256(path.read_bytes()).hexdigest() != expected:
            return None
        return page_count(path)
    except (OSError, AbstragError):
        return None
