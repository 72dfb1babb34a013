"""From the bytes of a PDF to pages as somebody reads them."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass
from itertools import zip_longest
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray
from pypdfium2 import raw

from abstrag.config import (
    MAX_CONTENT_BYTES,
    MAX_PAGE_CONTENT_BYTES,
    MAX_PAGES,
    MAX_SCAN_PIXELS,
    MAX_UNPACKED_BYTES,
)
from abstrag.documents.assemble import OverLimit
from abstrag.documents.pdf_layout.glyphs import Glyphs, glyphs_of
from abstrag.documents.pdf_layout.lines import DrawnLine, Page, View, Word
from abstrag.errors import Damaged, Encrypted

# How much the pages of a PDF draw, counted before anything is drawn.
#
# A form is a piece of drawing that pages and other forms use by name. PDFium puts each use in
# place when it opens a page, so that a form that draws itself twice, or thirty forms that each
# draw the next twice, take all memory there is. Here the instructions are counted and none is
# carried out.
#
# The file is searched for its objects rather than read by its table of them, which may be broken.
# What is encrypted, or packed in another way than nearly all files are, counts with the length it
# has in the file.

_DEEPEST: Final = 40  # forms within forms that PDFium puts in place
_OBJECT: Final = re.compile(rb"(?<!\d)(\d{1,10})\s+\d{1,5}\s+obj\b")
_STREAM: Final = re.compile(rb"stream\r?\n")
_PACKED: Final = re.compile(rb"/Type\s*/ObjStm\b")
_PAGE: Final = re.compile(rb"/Type\s*/Page\b")
_FIRST: Final = re.compile(rb"/First\s+(\d{1,9})\b")
_FLATE: Final = re.compile(rb"/Filter\s*\[?\s*/(?:FlateDecode|Fl)\s*(?:\]|/(?!\w*Decode)|>)")
_CONTENTS: Final = re.compile(rb"/Contents\s*(\[[^\]]*\]|\d+\s+\d+\s+R)")
_RESOURCES: Final = re.compile(rb"/Resources\s+(\d{1,10})\s+\d+\s+R")
_PARENT: Final = re.compile(rb"/Parent\s+(\d{1,10})\s+\d+\s+R")
_XOBJECTS: Final = re.compile(rb"/XObject\s*(?:<<([^<>]*)>>|(\d{1,10})\s+\d+\s+R)")
_NAMED: Final = re.compile(rb"/([^\s/<>\[\]()%{}]+)\s*(\d{1,10})\s+\d+\s+R")
_REFERENCE: Final = re.compile(rb"(\d{1,10})\s+\d+\s+R")
_USE: Final = re.compile(rb"/([^\s/<>\[\]()%{}]{1,127})\s+Do\b")
_ANCESTORS: Final = 50  # of a page, from which it may have its resources
_HINT: Final = "print it into a new PDF, or save its text"


class _Object(NamedTuple):
    """What an object says of itself, and where its stream is, if it has one."""

    head: bytes
    stream: int | None = None


class _Drawing(NamedTuple):
    """The length of some instructions, and how often they use which objects."""

    length: int
    uses: Mapping[int, int]


def check_instructions(data: bytes) -> None:
    """Refuse a PDF whose pages draw more than is read, its forms counted as often as used."""
    if b"/Encrypt" not in data:
        _Count(data).check()


class _Count:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._objects: dict[int, _Object] = {}
        self._drawings: dict[int, _Drawing] = {}
        self._unpacked_bytes = 0
        found = list(_OBJECT.finditer(data))
        for match, following in zip_longest(found, found[1:]):
            end = following.start() if following else len(data)
            self._objects[int(match[1])] = self._object(match.end(), end)
        for packed in [o for o in self._objects.values() if _PACKED.search(o.head)]:
            self._objects.update(self._unpacked(packed))

    def check(self) -> None:
        """Go through the pages."""
        total = 0
        for page in self._objects.values():
            if _PAGE.search(page.head) is None:
                continue
            length = self._page(page)
            total += length
            if length > MAX_PAGE_CONTENT_BYTES:
                raise _too_much("a page draws", MAX_PAGE_CONTENT_BYTES, "MAX_PAGE_CONTENT_BYTES")
            if total > MAX_CONTENT_BYTES:
                raise _too_much("its pages draw", MAX_CONTENT_BYTES, "MAX_CONTENT_BYTES")

    def _object(self, start: int, limit: int) -> _Object:
        end = self._data.find(b"endobj", start, limit)
        end = limit if end < 0 else end
        stream = _STREAM.search(self._data, start, end)
        if stream is None:
            return _Object(self._data[start:end])
        return _Object(self._data[start : stream.start()], stream.end())

    def _content(self, found: _Object) -> bytes:
        """Return a stream as it is unpacked, a little more than the limit at most."""
        if found.stream is None:
            return b""
        end = self._data.find(b"endstream", found.stream)
        raw = self._data[found.stream : end if end >= 0 else None]
        if _FLATE.search(found.head) is None:
            return raw
        try:
            return zlib.decompressobj().decompress(raw, MAX_PAGE_CONTENT_BYTES + 1)
        except zlib.error:
            return raw

    def _unpacked(self, packed: _Object) -> Iterator[tuple[int, _Object]]:
        """Go through the objects that a stream of objects holds."""
        first = _FIRST.search(packed.head)
        content = self._content(packed)
        self._unpacked_bytes += len(content)
        if self._unpacked_bytes > MAX_UNPACKED_BYTES:
            what = f"its objects unpack to more than {MAX_UNPACKED_BYTES // 2**20} MB"
            raise OverLimit(what, "MAX_UNPACKED_BYTES", hint=_HINT)
        if first is None or int(first[1]) > len(content):
            return
        numbers = [int(n) for n in content[: int(first[1])].split() if n.isdigit() and len(n) < 10]
        starts = [int(first[1]) + offset for offset in numbers[1::2]]
        for number, start, end in zip(numbers[::2], starts, [*starts[1:], None], strict=False):
            yield number, _Object(content[start:end])

    def _page(self, page: _Object) -> int:
        """Return how long the instructions of a page are with every form in place."""
        contents = _CONTENTS.search(page.head)
        streams = [int(n) for n in _REFERENCE.findall(contents[1])] if contents else []
        named = self._named(page)
        at_first = [self._drawing(n, named) for n in streams]
        length = sum(drawing.length for drawing in at_first)
        uses: Counter[int] = Counter()
        for drawing in at_first:
            uses.update(drawing.uses)
        for _ in range(_DEEPEST):
            if not uses or length > MAX_PAGE_CONTENT_BYTES:
                break
            inner: Counter[int] = Counter()
            for number, times in uses.items():
                drawing = self._form(number)
                length += times * drawing.length
                for other, often in drawing.uses.items():
                    inner[other] += times * often
            uses = inner
        return length

    def _form(self, number: int) -> _Drawing:
        if number not in self._drawings:
            found = self._objects.get(number, _Object(b""))
            named = self._named(found) if b"/Form" in found.head else {}
            self._drawings[number] = (
                self._drawing(number, named) if b"/Form" in found.head else _Drawing(0, {})
            )
        return self._drawings[number]

    def _drawing(self, number: int, named: Mapping[bytes, int]) -> _Drawing:
        content = self._content(self._objects.get(number, _Object(b"")))
        uses = Counter(named[use[1]] for use in _USE.finditer(content) if use[1] in named)
        return _Drawing(len(content), uses)

    def _named(self, found: _Object) -> dict[bytes, int]:
        """Return the objects that a page or form may draw by name; a page may inherit them."""
        for _ in range(_ANCESTORS):
            named = self._xobjects(found.head)
            parent = _PARENT.search(found.head)
            if named or parent is None or b"/Resources" in found.head:
                return named
            found = self._objects.get(int(parent[1]), _Object(b""))
        return {}

    def _xobjects(self, head: bytes) -> dict[bytes, int]:
        if referred := _RESOURCES.search(head):
            head = self._objects.get(int(referred[1]), _Object(b"")).head
        listed = _XOBJECTS.search(head)
        if listed is None:
            return {}
        entries = listed[1] or self._objects.get(int(listed[2] or 0), _Object(b"")).head
        return {name: int(number) for name, number in _NAMED.findall(entries)}


def _too_much(what: str, most: int, limit: str) -> OverLimit:
    size = f"{most // 2**20} MB of instructions, its forms counted as often as they are drawn"
    return OverLimit(f"{what} more than {size}", limit, hint=_HINT)


# What is drawn on a page, as far as it tells something about the text: rules and bullets.

_THIN: Final = 2.0  # points; what is thicker is a bar, not a rule
_SHORT: Final = 6.0  # points; what is shorter is a tick or a piece of a drawing
_DOT: Final = 9.0  # points; the largest bullet
_SHAPES: Final = frozenset(
    (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
)
_MAX_NESTING: Final = 4  # of drawings within drawings


@dataclass(frozen=True, slots=True)
class Drawings:
    """Rules, the middles of small dots, and whether anything is drawn at all."""

    rules: tuple[DrawnLine, ...]
    dots: tuple[tuple[float, float], ...]
    any: bool


def drawings_of(page: Any, view: View) -> Drawings:
    """Go through what a PDFium page draws besides text."""
    rules: list[DrawnLine] = []
    dots: list[tuple[float, float]] = []
    drawn = False
    for kind, box in _shapes(page):
        drawn = True
        if kind != raw.FPDF_PAGEOBJ_PATH:
            continue
        x0, y0, x1, y1 = view(*box)
        width, height = x1 - x0, y1 - y0
        if max(width, height) >= _SHORT and min(width, height) <= _THIN:
            rules.append(DrawnLine(x0, y0, x1, y1))
        elif _THIN < height <= _DOT and abs(width - height) <= 1.0:
            dots.append(((x0 + x1) / 2, (y0 + y1) / 2))
    dots.sort(key=lambda dot: (dot[1], dot[0]))
    return Drawings(tuple(rules), tuple(dots), drawn)


def _shapes(page: Any) -> Iterator[tuple[int, tuple[float, float, float, float]]]:
    """Yield the kind and the box of every shape on a page."""
    items = (raw.FPDFPage_GetObject(page, i) for i in range(raw.FPDFPage_CountObjects(page)))
    yield from _walk(items, pdfium.PdfMatrix(), 0)


def _walk(
    items: Iterator[Any], place: pdfium.PdfMatrix, depth: int
) -> Iterator[tuple[int, tuple[float, float, float, float]]]:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    for item in items:
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_NESTING:
            yield from _walk(_inside(item), _matrix(item).multiply(place), depth + 1)
        elif kind in _SHAPES and raw.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            yield kind, place.on_rect(left.value, bottom.value, right.value, top.value)


def _inside(form: Any) -> Iterator[Any]:
    for i in range(raw.FPDFFormObj_CountObjects(form)):
        yield raw.FPDFFormObj_GetObject(form, i)


def _matrix(form: Any) -> pdfium.PdfMatrix:
    """Return where a form puts what it draws."""
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(form, found)
    return pdfium.PdfMatrix.from_raw(found)


_ONE_AT_A_TIME: Final = Lock()  # PDFium keeps global state
_TAIL: Final = 2048  # bytes in which a whole file says that it ends
_DOTS_PER_INCH: Final = 200  # a page is rendered with to be read
_LARGEST: Final = 5000.0  # points; what claims to be set larger is broken

OnPage = Callable[[int, int], None]  # told which page is done, of how many


@dataclass(frozen=True, slots=True)
class PdfContent:
    """What a file holds: its pages, and what its header says about it."""

    pages: tuple[Page, ...]
    title: str = ""
    created: str = ""


def read_pages(data: bytes, name: str, on_page: OnPage = lambda _number, _all: None) -> PdfContent:
    """Read every page; a file that cannot be opened is `Encrypted` or `Damaged`."""
    tail = data[-_TAIL:]
    if b"%%EOF" not in tail and b"startxref" not in tail:
        raise Damaged(f"PDF {name!r} has no end, it was cut off", hint="fetch or copy it again")
    check_instructions(data)
    with _ONE_AT_A_TIME:
        document = _open(data, name)
        try:
            if len(document) > MAX_PAGES:
                what = f"it has {len(document):,} pages, and {MAX_PAGES:,} are the most"
                raise OverLimit(what, "MAX_PAGES", hint="split it")
            pages = []
            for i in range(len(document)):
                pages.append(_page(document, i, name))
                on_page(i + 1, len(document))
            return PdfContent(
                tuple(pages),
                title=_header(document, "Title"),
                created=_header(document, "CreationDate"),
            )
        finally:
            document.close()


def picture_of(data: bytes, number: int, name: str) -> tuple[NDArray[np.uint8], float, float]:
    """Return a page, counted from 1, as pixels, with its width and height in points."""
    with _ONE_AT_A_TIME:
        document = _open(data, name)
        try:
            page = document[number - 1]
            width, height = page.get_size()
            most = math.sqrt(MAX_SCAN_PIXELS / max(width * height, 1.0))
            bitmap = page.render(
                scale=min(_DOTS_PER_INCH / 72, most), rev_byteorder=True, may_draw_forms=False
            )
            pixels = bitmap.to_numpy()
            pixels = np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels[:, :, :3]
            return np.ascontiguousarray(pixels), width, height
        except pdfium.PdfiumError as error:
            raise Damaged(
                f"page {number} of PDF {name!r} cannot be drawn",
                hint="repair the file: qpdf FILE REPAIRED",
            ) from error
        finally:
            document.close()


def _open(data: bytes, name: str) -> Any:
    handle = raw.FPDF_LoadMemDocument64(data, len(data), None)  # reads `data` until it is closed
    if handle:
        return pdfium.PdfDocument(handle)
    if raw.FPDF_GetLastError() in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
        raise Encrypted(
            f"PDF {name!r} needs a password", hint="save a copy without one and use that"
        )
    raise Damaged(
        f"PDF {name!r} cannot be opened, it is broken or cut off",
        hint="fetch or copy it again, or repair it: qpdf FILE REPAIRED",
    )


def _header(document: Any, key: str) -> str:
    """Return an entry of the file's header; one that is no text says nothing."""
    try:
        return str(document.get_metadata_value(key))
    except UnicodeDecodeError:
        return ""


def _page(document: Any, index: int, name: str) -> Page:
    page = text = None
    try:
        page = document[index]
        text = page.get_textpage()
        found = list(glyphs_of(text.raw))
        direction = _main_direction(found)
        bounds = page.get_bbox()
        view = _view(bounds, direction)
        _, _, width, height = view(*bounds)
        drawn = drawings_of(page.raw, view)
        words = [(_word(g, view), g.quarter == direction) for g in found]
        seen = [(w, upright) for w, upright in words if _on_page(w, width, height)]
        return Page(
            number=index + 1,
            width=width,
            height=height,
            words=tuple(w for w, upright in seen if upright),
            turned=tuple(w for w, upright in seen if not upright),
            rules=drawn.rules,
            dots=drawn.dots,
            drawn=drawn.any,
        )
    except pdfium.PdfiumError as error:
        raise Damaged(
            f"page {index + 1} of PDF {name!r} cannot be read",
            hint="repair the file: qpdf FILE REPAIRED",
        ) from error
    finally:
        if text is not None:
            text.close()
        if page is not None:
            page.close()


def _main_direction(found: Iterable[Glyphs]) -> int:
    """Return the direction most of a page is read in; a table set sideways counts as upright."""
    share: Counter[int] = Counter()
    for word in found:
        if word.quarter is not None:
            share[word.quarter] += len(word.text)
    return max(sorted(share), key=lambda quarter: share[quarter], default=0)


def _view(bounds: Sequence[float], direction: int) -> View:
    """Return what turns the file's coordinates into those of a reader."""
    left, bottom, right, top = bounds
    views: tuple[View, ...] = (
        lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0),
        lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left),
        lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom),
        lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0),
    )
    return views[direction]


def _word(glyphs: Glyphs, view: View) -> Word:
    x, y = glyphs.origin
    x0, _, x1, _ = view(*glyphs.box)
    start, base, _, _ = view(x, y, x, y)
    return Word(glyphs.text, min(x0, start), x1, base, glyphs.style, glyphs.glued)


def _on_page(word: Word, width: float, height: float) -> bool:
    """True for what a reader can see; a broken file may put words anywhere."""
    placed = math.isfinite(word.x0) and math.isfinite(word.x1) and word.x0 <= word.x1
    inside = placed and word.x1 > 0 and word.x0 < width and 0 < word.base < height
    return inside and 0 < word.style.size < _LARGEST
