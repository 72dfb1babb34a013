"""Measure how well pictures of pages are read: PDFs whose text is known are drawn and read back.

    python tools/ocr_error_rate.py FOLDER-OR-PDF ... --pages 4

For each file some pages, evenly spread, are drawn with 200 dots per inch, plain and worn (turned by
half a degree, blurred, with noise, as JPEG), and read without their text. Printed are the error
rates of characters and of words, and how often words are wrong that the reader is sure of or not.
Words inside figures count as lost where the picture shows them too small to be read.
"""

from __future__ import annotations

import argparse
import io
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter
from rapidfuzz.distance import Levenshtein

from abstrag.documents.ocr import PictureLine, read_picture
from abstrag.documents.pdf_layout.reader import picture_of, read_pages
from abstrag.model.document import DOUBTFUL

_ALIKE = str.maketrans("’‘“”–—‐•", "''\"\"---.")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("paths", nargs="+", type=Path)
    arguments.add_argument("--pages", type=int, default=4, help="of each file")
    given = arguments.parse_args()
    files = [f for p in given.paths for f in (sorted(p.glob("*.pdf")) if p.is_dir() else [p])]
    print("| file | pages | scan | characters | CER | WER | doubtful | wrong if doubtful | else |")
    print("|---|---|---|---|---|---|---|---|---|")
    for file in files:
        for worn in (False, True):
            print(_row(file, given.pages, worn=worn), flush=True)


def _row(file: Path, most: int, *, worn: bool) -> str:
    data = file.read_bytes()
    pages = [p for p in read_pages(data, file.name).pages if len(p.words) > 30]
    if not pages:
        return f"| {file.name} | 0 | no page with text | | | | | | |"
    step = max(1, len(pages) // most)
    sums: Counter[str] = Counter()
    begun = time.perf_counter()
    for page in pages[::step][:most]:
        pixels = picture_of(data, page.number, file.name)[0]
        truth = [_plain(word.text) for word in page.words]
        lines = read_picture(_worn(pixels) if worn else pixels)
        sums.update(_compared(truth, lines))
        sums["pages"] += 1
    seconds = (time.perf_counter() - begun) / sums["pages"]
    doubt, sure = sums["doubtful"], sums["read"] - sums["doubtful"]
    return (
        f"| {file.name} | {sums['pages']} ({seconds:.1f} s each) | {'worn' if worn else 'clean'} | "
        f"{sums['characters']} | {sums['errors'] / sums['characters']:.2%} | "
        f"{sums['lost'] / sums['words']:.1%} | {doubt / max(sums['read'], 1):.1%} | "
        f"{sums['doubtful wrong'] / max(doubt, 1):.0%} | {sums['sure wrong'] / max(sure, 1):.1%} |"
    )


def _compared(truth: list[str], lines: tuple[PictureLine, ...]) -> Counter[str]:
    """Compare words as bags, for layouts order them differently; spell each lost one anew.

    A word that is not read exactly is paired with the nearest one that is left over; a word that is
    missing or invented counts with all its characters.
    """
    words = [(_plain(w.text), w.confidence) for line in lines for w in line.words]
    left = Counter(truth)
    wrong: list[tuple[str, float]] = []
    for word, confidence in words:
        if left[word] > 0:
            left[word] -= 1
        else:
            wrong.append((word, confidence))
    lost = "".join(sorted("".join(left.elements())))
    made = "".join(sorted("".join(word for word, _ in wrong)))
    errors = _spelling(list(left.elements()), [word for word, _ in wrong])
    return Counter(
        {
            "characters": sum(map(len, truth)),
            "words": len(truth),
            "errors": min(errors, max(len(lost), len(made))),
            "lost": left.total(),
            "read": len(words),
            "doubtful": sum(c < DOUBTFUL for _, c in words),
            "doubtful wrong": sum(c < DOUBTFUL for _, c in wrong),
            "sure wrong": sum(c >= DOUBTFUL for _, c in wrong),
        }
    )


def _spelling(truth: list[str], read: list[str]) -> int:
    """Return the edits between what was lost and what was read instead, both in page order."""
    return Levenshtein.distance("".join(truth), "".join(read))


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text.translate(_ALIKE))


def _worn(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Make a clean page look as if it came from a copier."""
    page = Image.fromarray(pixels).rotate(0.5, fillcolor="white", resample=Image.Resampling.BICUBIC)
    page = page.filter(ImageFilter.GaussianBlur(0.8))
    noise = np.random.default_rng(7).normal(0, 12, np.asarray(page).shape)
    noisy = np.clip(np.asarray(page) * 0.9 + 12 + noise, 0, 255).astype(np.uint8)
    squeezed = io.BytesIO()
    Image.fromarray(noisy).save(squeezed, "JPEG", quality=60)
    return np.asarray(Image.open(squeezed).convert("RGB"))


if __name__ == "__main__":
    main()
