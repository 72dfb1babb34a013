"""Pictures of pages: PNG, JPEG and TIFF files, read with the extra `abstrag[ocr]`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from abstrag.config import MAX_PICTURE_PIXELS, MAX_SCAN_PIXELS
from abstrag.documents.limits import OverLimit
from abstrag.documents.ocr import INSTALL, can_read
from abstrag.documents.pdf import check_scans, document_of
from abstrag.documents.pdf_layout.reader import OnPage, PdfContent
from abstrag.documents.pdf_layout.scans import read_scan, with_one_body
from abstrag.errors import Damaged, EmptyDocument, NoTextLayer
from abstrag.model.document import Document

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
