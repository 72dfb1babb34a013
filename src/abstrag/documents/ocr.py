"""Text on pictures: lines of words with their boxes, read by RapidOCR (extra `abstrag[ocr]`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from statistics import median
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from abstrag.documents.pdf_layout.lines import CharacterStyle, Page, Word
from abstrag.model.document import ScannedPage, ScannedWord

INSTALL: Final = "install the reader of pictures: pip install 'abstrag[ocr]'"
_ONE_AT_A_TIME: Final = Lock()  # it keeps settings of a call in the object

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PictureWord:
    """A word on a picture, its box in pixels from top left, and how sure the reader is."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class PictureLine:
    """Words in one line, and the box of the line in pixels."""

    words: tuple[PictureWord, ...]
    box: Box

    @property
    def upright(self) -> bool:
        """False for a line that is set sideways: taller than its letters could be."""
        letters = sum(len(word.text) for word in self.words)
        x0, y0, x1, y1 = self.box
        return letters < 3 or y1 - y0 <= 1.5 * (x1 - x0)


def can_read() -> bool:
    """Tell whether the extra is installed; nothing is imported for it."""
    return find_spec("rapidocr") is not None


def read_picture(pixels: NDArray[np.uint8]) -> tuple[PictureLine, ...]:
    """Read the lines of a picture (height × width × 3), from top to bottom."""
    with _ONE_AT_A_TIME:
        # no look at whether a line is upside down: on clean pages it turns lines that are not
        found = _found(pixels)
    if found is None or found.boxes is None or not found.txts:
        return ()
    return tuple(
        PictureLine(words, _bounds(box))
        for box, text, pieces in zip(found.boxes, found.txts, found.word_results, strict=True)
        if (words := tuple(_words(text, pieces)))
    )


def _found(pixels: NDArray[np.uint8]) -> Any | None:
    """Return what the reader sees; None for a strip too narrow for it to have a line."""
    from rapidocr.utils.process_img import ResizeImgError

    try:
        return _reader()(pixels, use_cls=False, return_word_box=True)
    except ResizeImgError:
        return None


@cache
def _reader() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "critical"})


def _words(text: str, pieces: Any) -> Iterator[PictureWord]:
    """Make words of the pieces of a line; a piece that ends inside a word is joined to the next."""
    at = 0
    held: PictureWord | None = None
    for said, confidence, corners in pieces:
        piece = PictureWord(said.strip(), _bounds(corners), min(max(float(confidence), 0.0), 1.0))
        if not piece.text:
            continue
        start = text.find(piece.text, at)
        parted = start < 0 or (text[at:start].strip() == "" and start > at)
        at = start + len(piece.text) if start >= 0 else at
        if held is not None and not parted and _inside_word(held.text, piece.text):
            held = _joined(held, piece)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _inside_word(left: str, right: str) -> bool:
    """True for two halves of a word; "HetaGandhi" is two words that the reader wrote as one."""
    return (
        left[-1].isalpha()
        and right[0].isalpha()
        and not (left[-1].islower() and right[0].isupper())
    )


def _joined(left: PictureWord, right: PictureWord) -> PictureWord:
    (a, b, c, d), (e, f, g, h) = left.box, right.box
    box = (min(a, e), min(b, f), max(c, g), max(d, h))
    return PictureWord(left.text + right.text, box, min(left.confidence, right.confidence))


def _bounds(corners: Any) -> Box:
    xs, ys = zip(*((float(x), float(y)) for x, y in corners), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


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
