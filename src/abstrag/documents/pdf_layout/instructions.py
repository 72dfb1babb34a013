"""How much the pages of a PDF draw, counted before anything is drawn.

A form is a piece of drawing that pages and other forms use by name. PDFium puts each use in place
when it opens a page, so that a form that draws itself twice, or thirty forms that each draw the
next twice, take all memory there is. Here the instructions are counted and none is carried out.

The file is searched for its objects rather than read by its table of them, which may be broken.
What is encrypted, or packed in another way than nearly all files are, counts with the length it
has in the file.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Final, NamedTuple

from abstrag.config import MAX_CONTENT_BYTES, MAX_PAGE_CONTENT_BYTES, MAX_UNPACKED_BYTES
from abstrag.documents.limits import OverLimit

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
