"""Pages of a PDF as pictures, and where on them a quotation stands.

The index keeps no places of characters, so a quotation is looked up among the words PDFium finds
on the page, or those that were read from its picture: as a whole where the page's order of drawing
is the order of reading, else line by line.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_int
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
from pypdfium2 import raw

from abstrag.documents.pdf_layout.glyphs import Box as GlyphBox
from abstrag.documents.pdf_layout.glyphs import Glyphs, glyphs_of
from abstrag.errors import Damaged
from abstrag.model.document import ScannedPage, ScannedWord
from abstrag.model.record import record
from abstrag.server.answers import NotThere

# Pixels as a PNG file; the format is small enough to write that no imaging library is needed.

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_UP: Final = 2  # filter: each row as its difference from the row above
_LEVEL: Final = 4  # of compression; more takes longer than it saves on the way to a browser


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return rows of red, green and blue as a PNG file."""
    height, width, _ = pixels.shape
    rows = pixels.reshape(height, width * 3)
    above = np.vstack((np.zeros((1, width * 3), np.uint8), rows[:-1]))
    filtered = np.hstack((np.full((height, 1), _UP, np.uint8), rows - above))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(filtered.tobytes(), _LEVEL)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


WIDEST: Final = 2400  # pixels
NARROWEST: Final = 50
_TALLEST: Final = 6000
_FINE: Final = 1_000_000  # device units a page is measured in
_LONE_LINE: Final = 12  # characters a line must have to be looked for far from the one before
_ONE_AT_A_TIME: Final = Lock()  # PDFium keeps global state

Box = tuple[float, float, float, float]


@record
class Places:
    """Where a span stands on a page: boxes in fractions of its width and height, from top left."""

    page: int
    width: float  # of the page, in points
    height: float
    boxes: tuple[Box, ...]


def page_count(path: Path) -> int:
    """Return how many pages a PDF has."""
    with _opened(path) as document:
        return len(document)


def rendered(path: Path, number: int, *, width: int) -> bytes:
    """Return a page, counted from 1, as a PNG file so many pixels wide."""
    wanted = min(max(width, NARROWEST), WIDEST)
    with _opened(path) as document, _page(document, number, path) as page:
        across, down = page.get_size()
        scale = min(wanted / max(across, 1.0), _TALLEST / max(down, 1.0))
        bitmap = page.render(scale=scale, rev_byteorder=True, may_draw_forms=False)
        try:
            pixels = np.ascontiguousarray(bitmap.to_numpy()[:, :, :3])
        finally:
            bitmap.close()
    return png(pixels)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that are looked for on a page of a PDF."""

    path: Path
    page: int  # from 1
    text: str
    nth: int = 0  # which of several equal quotations
    scan: ScannedPage | None = None  # the words of the page, if it is a picture


def places(quote: Quotation) -> Places:
    """Return where a quotation stands on its page."""
    with _page_words(quote) as (words, size, on_screen):
        found = PageWords(words).find(quote.text, quote.nth)
        boxes = tuple(map(on_screen, lines_of(words, found)))
        return Places(quote.page, *size, boxes)


@contextmanager
def _page_words(
    quote: Quotation,
) -> Iterator[tuple[Sequence[Glyphs | PlacedWord], tuple[float, float], Callable[[Box], Box]]]:
    """Open a page: its words, its size, and what turns their boxes into fractions of it."""
    with _opened(quote.path) as document, _page(document, quote.page, quote.path) as page:
        across, down = page.get_size()
        size = round(across, 2), round(down, 2)
        if quote.scan is not None:
            yield list(map(_placed, quote.scan.words)), size, _from_scan
            return
        text = page.get_textpage()
        try:
            words = list(glyphs_of(text.raw))
        finally:
            text.close()
        yield words, size, partial(_on_screen, page)


def _placed(word: ScannedWord) -> PlacedWord:
    return PlacedWord(word.text, GlyphBox(word.box[0], -word.box[3], word.box[2], -word.box[1]))


def _from_scan(box: Box) -> Box:
    left, low, right, top = box
    return left, -top, right, -low


def without_spaces(text: str) -> str:
    """Return a text without white space, to compare texts with other line breaks."""
    return "".join(text.split())


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word and its box, y upwards as in a PDF."""

    text: str
    box: GlyphBox


@dataclass(frozen=True, slots=True)
class PageWords:
    """The characters of a page in one run, each with the word it belongs to."""

    words: Sequence[Glyphs | PlacedWord]

    def find(self, quote: str, nth: int) -> list[int]:
        """Return the words a quotation is made of, by number, in the file's order."""
        return self.holding(self.spans(quote, nth))

    def spans(self, quote: str, nth: int) -> list[tuple[int, int]]:
        """Return the runs of the page's characters that a quotation is made of, in its order."""
        page = "".join(self._texts)
        return _whole(page, without_spaces(quote), nth) or _by_lines(page, quote)

    def holding(self, spans: Iterable[tuple[int, int]]) -> list[int]:
        """Return the words that hold runs of characters, by number, in the file's order."""
        ends = np.array(list(accumulate(map(len, self._texts))), dtype=np.int64)
        found: set[int] = set()
        for start, end in spans:
            first, last = np.searchsorted(ends, (start, end - 1), side="right")
            found.update(range(int(first), int(last) + 1))
        return sorted(found)

    @property
    def _texts(self) -> list[str]:
        return [without_spaces(word.text) for word in self.words]


def _whole(page: str, quote: str, nth: int) -> list[tuple[int, int]]:
    """Find a quotation in one piece: its nth occurrence, or the last when there are fewer."""
    at = -1
    for _ in range(nth + 1):
        later = page.find(quote, at + 1) if quote else -1
        if later < 0:
            break
        at = later
    return [(at, at + len(quote))] if at >= 0 else []


def _by_lines(page: str, quote: str) -> list[tuple[int, int]]:
    """Find a quotation line by line, if it is split or continues on other pages."""
    spans: list[tuple[int, int]] = []
    at = 0
    for line in map(without_spaces, quote.splitlines()):
        follows = bool(spans) and page.startswith(line, at)
        start = at if follows else -1
        if line and not follows and len(line) >= _LONE_LINE:
            start = page.find(line, at)
            start = start if start >= 0 else page.find(line)
        if line and start >= 0:
            at = start + len(line)
            spans.append((start, at))
    return spans


def lines_of(words: Sequence[Glyphs | PlacedWord], found: Sequence[int]) -> Iterator[Box]:
    """Merge the boxes of words that stand next to each other in one line."""
    line: Box | None = None
    before = -2
    for number in found:
        box = words[number].box
        if line is not None and number == before + 1 and _level(line, box):
            line = (
                min(line[0], box.left),
                min(line[1], box.bottom),
                max(line[2], box.right),
                max(line[3], box.top),
            )
        else:
            if line is not None:
                yield line
            line = (box.left, box.bottom, box.right, box.top)
        before = number
    if line is not None:
        yield line


def _level(line: Box, box: GlyphBox) -> bool:
    """True when a word shares most of its height with a line, and does not start it anew."""
    shared = min(line[3], box.top) - max(line[1], box.bottom)
    return shared > 0.5 * min(line[3] - line[1], box.top - box.bottom) and box.right > line[0]


def _on_screen(page: Any, box: Box) -> Box:
    """Turn file coordinates into fractions of the page as it is shown, rotation and all."""
    corners = [_device(page, x, y) for x, y in ((box[0], box[1]), (box[2], box[3]))]
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _device(page: Any, x: float, y: float) -> tuple[float, float]:
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, _FINE, _FINE, 0, x, y, across, down)
    return (
        min(max(across.value / _FINE, 0.0), 1.0),
        min(max(down.value / _FINE, 0.0), 1.0),
    )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with _ONE_AT_A_TIME:
        try:
            document = pdfium.PdfDocument(path)
        except (pdfium.PdfiumError, OSError) as error:
            raise Damaged(f"PDF {path.name!r} cannot be opened: {error}") from error
        try:
            yield document
        finally:
            document.close()


@contextmanager
def _page(document: Any, number: int, path: Path) -> Iterator[Any]:
    if not 1 <= number <= len(document):
        raise NotThere(f"{path.name!r} has {len(document)} pages, and none is number {number}")
    try:
        page = document[number - 1]
    except pdfium.PdfiumError as error:
        raise Damaged(f"page {number} of PDF {path.name!r} cannot be read") from error
    try:
        yield page
    finally:
        page.close()


@record
class WordPlaces:
    """For each stretch that was asked for its boxes, in fractions of the page's size."""

    page: int
    words: tuple[tuple[Box, ...], ...]


def word_places(quote: Quotation, parts: Sequence[tuple[int, int]]) -> WordPlaces:
    """Return where parts of a quotation stand on its page, given start and end of each within it.

    The quotation is found first, so that a short word is looked for in its own sentence only.
    """
    text = quote.text
    with _page_words(quote) as (words, _, on_screen):
        page = PageWords(words)
        runs = page.spans(text, quote.nth)
        if sum(end - start for start, end in runs) != len(without_spaces(text)):
            runs = []  # a part of it is on another page, and which one is not known
        made = []
        for start, end in parts:
            before, inside = len(without_spaces(text[:start])), len(without_spaces(text[start:end]))
            held = page.holding(_cut(runs, before, before + inside))
            made.append(tuple(map(on_screen, lines_of(words, held))))
        return WordPlaces(quote.page, tuple(made))


def _cut(runs: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of some runs between two offsets, counted over all runs."""
    at = 0
    for first, last in runs:
        size = last - first
        low, high = max(start - at, 0), min(end - at, size)
        if low < high:
            yield first + low, first + high
        at += size
