"""Text on pictures: lines of words with their boxes, read by RapidOCR (extra `abstrag[ocr]`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

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
