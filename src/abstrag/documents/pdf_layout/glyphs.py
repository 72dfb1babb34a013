"""From the characters PDFium finds on a page to words that know their style and place.

A call into PDFium costs half a microsecond, so nothing is asked for every character: the text comes
in one piece, and a word needs its first and last character only, unless several text objects drew
it.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, c_double, c_int, c_ushort, c_void_p, cast, create_string_buffer
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from pypdfium2 import raw

from abstrag.documents.pdf_layout.lines import CharacterStyle

_FIXED_PITCH, _ITALIC, _FORCE_BOLD = 1 << 0, 1 << 6, 1 << 18  # font flags, ISO 32000-1, table 123
_BOLD_WEIGHT: Final = 600
_BOLD_NAME: Final = re.compile(
    r"bold|black|heavy|demi|semibold|(?:CM|SF|EC)?BX\d|-Medi\b|\bBd\b", re.I
)
_LIGHT_NAME: Final = re.compile(r"-(?:Italic|Oblique|Regular|Roman|Light|Book)(?:MT|PS)?$", re.I)
_ITALIC_NAME: Final = re.compile(r"ital|obli|slant|-It\b|\b(?:CMTI|SFTI|CMSL|CMMI)\d", re.I)
_MONO_NAME: Final = re.compile(
    r"mono|courier|typewriter|consol|\b(?:CMTT|SFTT)\d|txtt|inconsolata", re.I
)
_HYPHEN: Final = "\ufffe"  # what PDFium makes of a hyphen at a line's end
_HYPHENS: Final = {0xFFFE: "-", 0x00AD: "-"}  # a soft one that is drawn is there to be seen
_CONTROL: Final = r"\x00-\x1f\x7f-\x9f\u200b\u2060\ufeff\uffff"
_WORD: Final = re.compile(rf"[^\s{_HYPHEN}{_CONTROL}]+{_HYPHEN}?|{_HYPHEN}")
_SPACE: Final = re.compile(r"\s")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_SLANT: Final = 0.1  # radians a line may lean and still count as straight


class Box(NamedTuple):
    """A rectangle in the file's own coordinates, where y grows upwards."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of one word: what they say, how they are set, where they stand.

    `quarter` is the direction of reading in quarter turns against the clock, None when slanted.
    """

    text: str
    box: Box
    origin: tuple[float, float]
    style: CharacterStyle
    quarter: int | None
    glued: bool


def glyphs_of(page: Any) -> Iterator[Glyphs]:
    """Yield the words of a PDFium text page in the file's order."""
    source = _Source(page)
    text = _characters(page)
    end = 0
    for match in _WORD.finditer(text):
        glued = end > 0 and not _SPACE.search(text, end, match.start()) and text[end - 1] != _HYPHEN
        end = match.end()
        for first, last, setting in source.runs(match.start(), end - 1):
            yield Glyphs(
                text=text[first : last + 1].translate(_HYPHENS),
                box=source.box(first, last),
                origin=source.origin(first),
                style=setting.style,
                quarter=setting.quarter,
                glued=glued,
            )
            glued = True


def _characters(page: Any) -> str:
    """Return the text of a page, one character for each that PDFium counts."""
    count = max(0, raw.FPDFText_CountChars(page))
    buffer = (c_ushort * (2 * count + 2))()
    written = raw.FPDFText_GetText(page, 0, count, buffer) if count else 0
    text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "surrogatepass")
    if len(text) == count and not _SURROGATE.search(text):
        return text
    codes = (raw.FPDFText_GetUnicode(page, i) for i in range(count))
    return "".join(_HYPHEN if code == 2 else _character(code) for code in codes)


def _character(code: int) -> str:
    """Return the character of a code; a broken file may give one that stands for none."""
    none = code > sys.maxunicode or 0xD800 <= code <= 0xDFFF
    return "\ufffd" if none else chr(code)


class _Setting(NamedTuple):
    """What the characters of one text object have in common."""

    style: CharacterStyle
    quarter: int | None


class _Source:
    """The calls into PDFium for one text page."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._handle = cast(page, c_void_p).value
        self._owner, self._font_of = _fast_owner(), _fast_font()
        self._matrix = raw.FS_MATRIX()
        self._rect = raw.FS_RECTF()
        self._x, self._y = c_double(), c_double()
        self._fonts: dict[int, tuple[str, bool, bool, bool]] = {}
        self._last: tuple[int | None, _Setting] | None = None

    def runs(self, first: int, last: int) -> Iterator[tuple[int, int, _Setting]]:
        """Cut the characters of a word where style or base line change."""
        owner = self._owner(self._handle, first)
        setting = self._setting(owner, first)
        if owner == self._owner(self._handle, last):
            yield first, last, setting
            return
        for i in range(first + 1, last + 1):
            other = self._owner(self._handle, i)
            if other == owner:
                continue
            owner, now = other, self._setting(other, i)
            if now != setting or not self._level(i - 1, i, now):
                yield first, i - 1, setting
                first, setting = i, now
        yield first, last, setting

    def origin(self, i: int) -> tuple[float, float]:
        """Return where on its base line a character starts."""
        raw.FPDFText_GetCharOrigin(self._page, i, self._x, self._y)
        return self._x.value, self._y.value

    def box(self, first: int, last: int) -> Box:
        """Return the box some characters take up in their line."""
        r = self._rect
        raw.FPDFText_GetLooseCharBox(self._page, first, r)
        if first == last:
            return Box(r.left, r.bottom, r.right, r.top)
        left, bottom, right, top = r.left, r.bottom, r.right, r.top
        raw.FPDFText_GetLooseCharBox(self._page, last, r)
        return Box(min(left, r.left), min(bottom, r.bottom), max(right, r.right), max(top, r.top))

    def _level(self, i: int, j: int, setting: _Setting) -> bool:
        """True when two characters stand on one base line."""
        (x0, y0), (x1, y1) = self.origin(i), self.origin(j)
        across = setting.quarter in (1, 3)
        return abs((x1 - x0) if across else (y1 - y0)) < 0.05 * setting.style.size

    def _setting(self, owner: int | None, i: int) -> _Setting:
        """Look up font, size and direction of a text object by one of its characters."""
        if self._last and self._last[0] == owner:
            return self._last[1]
        raw.FPDFText_GetMatrix(self._page, i, self._matrix)
        m = self._matrix
        size = abs(raw.FPDFText_GetFontSize(self._page, i)) * math.hypot(m.c, m.d)
        font, bold, italic, mono = self._font(owner)
        style = CharacterStyle(font, round(size, 2), bold, italic, mono)
        setting = _Setting(style, _quarter(m.a, m.b))
        self._last = (owner, setting)
        return setting

    def _font(self, owner: int | None) -> tuple[str, bool, bool, bool]:
        font = self._font_of(owner) if owner else None
        if not font:
            return "", False, False, False
        if font not in self._fonts:
            self._fonts[font] = _describe(cast(font, raw.FPDF_FONT))
        return self._fonts[font]


def _describe(font: Any) -> tuple[str, bool, bool, bool]:
    """Return a font's name and whether it is bold, italic and of fixed pitch."""
    length = raw.FPDFFont_GetBaseFontName(font, None, 0)
    buffer = create_string_buffer(max(1, length))
    raw.FPDFFont_GetBaseFontName(font, buffer, length)
    name = buffer.value.decode("utf-8", "replace").split("+", 1)[-1]
    flags = max(0, raw.FPDFFont_GetFlags(font))
    # The weight is worked out from a stem's width, which is wrong for many italics.
    heavy = raw.FPDFFont_GetWeight(font) >= _BOLD_WEIGHT and not _LIGHT_NAME.search(name)
    return (
        name,
        heavy or bool(flags & _FORCE_BOLD) or _BOLD_NAME.search(name) is not None,
        bool(flags & _ITALIC) or _ITALIC_NAME.search(name) is not None,
        bool(flags & _FIXED_PITCH) or _MONO_NAME.search(name) is not None,
    )


def _quarter(a: float, b: float) -> int | None:
    if not b and a >= 0:
        return 0
    turns = math.atan2(b, a) / (math.pi / 2)
    nearest = round(turns)
    return nearest % 4 if abs(turns - nearest) * (math.pi / 2) < _SLANT else None


@cache
def _fast_owner() -> Callable[[Any, int], int | None]:
    """Bind the call made twice for every word to plain integers instead of pointer objects."""
    address = cast(raw.FPDFText_GetTextObject, c_void_p).value
    return CFUNCTYPE(c_void_p, c_void_p, c_int)(address or 0)


@cache
def _fast_font() -> Callable[[int], int | None]:
    """Bind the call made for every text object likewise."""
    address = cast(raw.FPDFTextObj_GetFont, c_void_p).value
    return CFUNCTYPE(c_void_p, c_void_p)(address or 0)
