"""What is drawn on a page, as far as it tells something about the text: rules and bullets."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_float
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pypdfium2 import raw

from abstrag.documents.pdf_layout.glyphs import Box
from abstrag.documents.pdf_layout.page import Rule, View

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

    rules: tuple[Rule, ...]
    dots: tuple[tuple[float, float], ...]
    any: bool


def drawings_of(page: Any, view: View) -> Drawings:
    """Go through what a PDFium page draws besides text."""
    rules: list[Rule] = []
    dots: list[tuple[float, float]] = []
    drawn = False
    for kind, box in _shapes(page):
        drawn = True
        if kind != raw.FPDF_PAGEOBJ_PATH:
            continue
        x0, y0, x1, y1 = view(*box)
        width, height = x1 - x0, y1 - y0
        if max(width, height) >= _SHORT and min(width, height) <= _THIN:
            rules.append(Rule(x0, y0, x1, y1))
        elif _THIN < height <= _DOT and abs(width - height) <= 1.0:
            dots.append(((x0 + x1) / 2, (y0 + y1) / 2))
    dots.sort(key=lambda dot: (dot[1], dot[0]))
    return Drawings(tuple(rules), tuple(dots), drawn)


class _Place(NamedTuple):
    """An affine map: where a form puts what it draws."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def within(self, outer: _Place) -> _Place:
        """Apply this map first and the outer one after it."""
        o = outer
        return _Place(
            self.a * o.a + self.b * o.c,
            self.a * o.b + self.b * o.d,
            self.c * o.a + self.d * o.c,
            self.c * o.b + self.d * o.d,
            self.e * o.a + self.f * o.c + o.e,
            self.e * o.b + self.f * o.d + o.f,
        )

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return the box around a mapped rectangle."""
        xs = [self.a * x + self.c * y + self.e for x in (left, right) for y in (bottom, top)]
        ys = [self.b * x + self.d * y + self.f for x in (left, right) for y in (bottom, top)]
        return Box(min(xs), min(ys), max(xs), max(ys))


def _shapes(page: Any) -> Iterator[tuple[int, Box]]:
    """Yield the kind and place of every shape on a page."""
    items = (raw.FPDFPage_GetObject(page, i) for i in range(raw.FPDFPage_CountObjects(page)))
    yield from _walk(items, _Place(), 0)


def _walk(items: Iterator[Any], place: _Place, depth: int) -> Iterator[tuple[int, Box]]:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    for item in items:
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_NESTING:
            yield from _walk(_inside(item), _matrix(item).within(place), depth + 1)
        elif kind in _SHAPES and raw.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            yield kind, place.box(left.value, bottom.value, right.value, top.value)


def _inside(form: Any) -> Iterator[Any]:
    for i in range(raw.FPDFFormObj_CountObjects(form)):
        yield raw.FPDFFormObj_GetObject(form, i)


def _matrix(form: Any) -> _Place:
    m = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(form, m)
    return _Place(m.a, m.b, m.c, m.d, m.e, m.f)
