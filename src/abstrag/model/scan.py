"""Words that were read from pictures of pages: where they stand, and how sure the reader was."""

from __future__ import annotations

from typing import Final

from abstrag.model.record import Unit, record

DOUBTFUL: Final = 0.9  # a word read with less may be wrong; docs/scans.md has the measurements

Box = tuple[float, float, float, float]


@record
class ScannedWord:
    """A word, its box in fractions of the page's width and height from top left, its confidence."""

    text: str
    box: Box
    confidence: Unit


@record
class ScannedPage:
    """A page that is a picture, counted from 1, with its words line by line.

    A page of which nothing was `read` has no words; the reader of pictures was not installed.
    """

    number: int
    words: tuple[ScannedWord, ...] = ()
    read: bool = True


def doubtful_words(page: ScannedPage, quote: str) -> tuple[str, ...]:
    """Return the words of a quotation that the page's reader was not sure of, in their order."""
    said = set(quote.split())
    found = (w.text for w in page.words if w.confidence < DOUBTFUL and w.text in said)
    return tuple(dict.fromkeys(found))
