"""Pictures of pages become pages of placed words, as a PDF with text has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from abstrag.documents.ocr import PictureLine, read_picture
from abstrag.documents.pdf_layout.page import CharacterStyle, Page, Word
from abstrag.model.scan import ScannedPage, ScannedWord

# Measured on rendered pages: the reader's box of a line is about 1.25 times as high as its font's
# size, and its letters stand on 0.23 of that height from below.
_BOX_PER_SIZE: Final = 1.25
_BASE: Final = 0.23
_SAME_SIZE: Final = 0.2  # boxes of one font differ by so much, with letters that rise or hang


@dataclass(frozen=True, slots=True)
class Scan:
    """A page that was read from a picture: as layout takes it, and as highlights need it."""

    page: Page
    words: ScannedPage


def read_scan(pixels: NDArray[np.uint8], number: int, width: float, height: float) -> Scan:
    """Read the picture of a page that is so many points wide and high."""
    down, across = pixels.shape[:2]
    lines = read_picture(pixels)
    scale_x, scale_y = width / across, height / down
    size = _usual_size(lines) * scale_y
    upright = [
        word for line in lines if line.upright for word in _placed(line, scale_x, scale_y, size)
    ]
    turned = [
        word for line in lines if not line.upright for word in _placed(line, scale_x, scale_y, size)
    ]
    page = Page(number, width, height, tuple(upright), tuple(turned), drawn=True)
    words = tuple(
        ScannedWord(word.text, _fractions(word.box, across, down), round(word.confidence, 4))
        for line in lines
        for word in line.words
    )
    return Scan(page, ScannedPage(number, words))


def with_one_body(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Give words whose sizes differ little from what most letters have that very size."""
    sizes = sorted(w.style.size for page in pages for w in page.words for _ in w.text)
    if not sizes:
        return tuple(pages)
    body = sizes[len(sizes) // 2]
    return tuple(
        replace(page, words=tuple(_snapped(word, body) for word in page.words)) for page in pages
    )


def _snapped(word: Word, body: float) -> Word:
    if abs(word.style.size - body) > _SAME_SIZE * body:
        return word
    return replace(word, style=replace(word.style, size=body))


def _usual_size(lines: Sequence[PictureLine]) -> float:
    heights = [line.box[3] - line.box[1] for line in lines if line.upright]
    return median(heights) / _BOX_PER_SIZE if heights else 1.0


def _placed(line: PictureLine, scale_x: float, scale_y: float, usual: float) -> list[Word]:
    """Return the words of a line on its base line, which a tilt of the scan does not bend."""
    _, top, _, bottom = line.box
    height = (bottom - top) * scale_y
    size = height / _BOX_PER_SIZE
    if abs(size - usual) <= _SAME_SIZE * usual:
        size = usual
    style = CharacterStyle("", round(size, 1))
    base = bottom * scale_y - _BASE * height
    return [Word(w.text, w.box[0] * scale_x, w.box[2] * scale_x, base, style) for w in line.words]


def _fractions(box: tuple[float, ...], across: int, down: int) -> tuple[float, float, float, float]:
    def part(value: float, whole: int) -> float:
        return round(min(max(value / whole, 0.0), 1.0), 5)

    x0, y0, x1, y1 = box
    return part(x0, across), part(y0, down), part(x1, across), part(y1, down)
