"""Where single words of a quotation stand on a page of a PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from abstrag.model.record import record
from abstrag.model.scan import ScannedPage
from abstrag.server.pdf_pages import Box, PageWords, lines_of, page_words, squeezed


@record
class WordPlaces:
    """For each stretch that was asked for its boxes, in fractions of the page's size."""

    page: int
    words: tuple[tuple[Box, ...], ...]


def word_places(
    path: Path,
    number: int,
    quote: str,
    parts: Sequence[tuple[int, int]],
    *,
    nth: int = 0,
    scan: ScannedPage | None = None,
) -> WordPlaces:
    """Return where parts of a quotation stand on a page.

    The quotation is found first, so that a short word is looked for in its own sentence only.

    Args:
        path: The PDF.
        number: The page, from 1.
        quote: What the parts are parts of.
        parts: Start and end of each within the quotation.
        nth: Which of several equal quotations, from 0.
        scan: The words of the page, if it is a picture.
    """
    with page_words(path, number, scan) as (words, _, on_screen):
        page = PageWords(words)
        runs = page.spans(quote, nth)
        if sum(end - start for start, end in runs) != len(squeezed(quote)):
            runs = []  # a part of it is on another page, and which one is not known
        made = []
        for start, end in parts:
            before, inside = len(squeezed(quote[:start])), len(squeezed(quote[start:end]))
            held = page.holding(_cut(runs, before, before + inside))
            made.append(tuple(map(on_screen, lines_of(words, held))))
        return WordPlaces(number, tuple(made))


def _cut(runs: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what of some runs lies between two places, counted over all of them in a row."""
    at = 0
    for first, last in runs:
        size = last - first
        low, high = max(start - at, 0), min(end - at, size)
        if low < high:
            yield first + low, first + high
        at += size
