"""How lines begin that are more than text: bullets, numbers, captions, footnotes."""

from __future__ import annotations

import re
from typing import Final

from abstrag.documents.pdf_layout.lines import PdfLine

_BULLET: Final = re.compile(r"[•◦▪▫‣⁃·∙●○■□◆◇►▶➢➤✓✔❖\uf000-\uf0ff](?:\s|$)|[–—*-]\s(?=\S)")
_ENUMERATOR: Final = re.compile(
    r"(?:\d{1,3}[.)]|\(\d{1,3}\)|\[\d{1,3}\]|[a-z][.)]|\([a-z]{1,4}\)|[ivx]{1,5}[.)]|[A-Z]\))\s+[^\s\d]"
)
_NUMBERED: Final = re.compile(
    r"(?:(?P<part>(?i:part|chapter|section|item|article|appendix|annex|schedule|exhibit|note))\s+)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4}|[IVX]{1,5}|[A-Z]|\d{1,2}[A-Z])"
    r"(?P<end>[.:)]|\s*[—–-])?\s+(?=\S)"
)
_CAPTION: Final = re.compile(
    r"(?i:(?P<what>table|tab\.|figure|fig\.|scheme|listing|algorithm|chart|plate|box))\s*"
    r"(?P<number>[A-Z]?\d{1,3}(?:[.-]\d{1,3})*[a-z]?|[IVX]{1,5})(?P<end>\s*[.:|—–]|\s|$)"
)
OPEN_WORDS: Final = frozenset(  # a line that ends in one of them goes on
    "a an and are as at be by for from in into is its of on or our than that the their this to was"
    " were which whose with".split()
)
SMALL_PRINT: Final = 0.95  # of the body's size
_NOTE: Final = re.compile(r"\(\d{1,2}\)|\d{1,2}|[*∗†‡§¶]+|\([a-z*]\)")


def is_bullet(line: PdfLine) -> bool:
    """True for a line that begins with a bullet or a dash set off from the text."""
    return _BULLET.match(line.text) is not None


def is_enumerated(line: PdfLine) -> bool:
    """True for a line that begins like an item of a numbered list or of a bibliography."""
    return _ENUMERATOR.match(line.text) is not None


def caption_of(line: PdfLine) -> str | None:
    """Return what a caption is for, "table" or "figure", or None for a line that begins none.

    "Table 2: Results" and "Table 2. Results" are captions; "Table 2 shows" is not, unless its label
    is set in a style of its own.
    """
    match = _CAPTION.match(line.text)
    if match is None:
        return None
    if not match["end"].strip() and match.end() < len(line.text) and not _set_off(line):
        return None
    return "table" if match["what"].casefold().startswith("tab") else "figure"


def _set_off(line: PdfLine) -> bool:
    """True when the label of a caption is bold, or the number is, and what follows is not."""
    first, number = line.words[0], line.words[min(1, len(line.words) - 1)]
    rest = line.words[2:]
    return first.style.bold and number.style.bold and not (rest and rest[-1].style.bold)


def note_mark(line: PdfLine, body: float) -> bool:
    """True for a line that begins with the mark of a footnote.

    A raised mark is one by itself; a symbol or "(1)" on the base line only in small print.
    """
    first = line.words[0]
    if _NOTE.match(first.text) is None:
        return False
    raised = first.base < line.base - 0.1 * line.size and first.style.size < 0.9 * line.size
    return raised or (line.size < SMALL_PRINT * body and not first.text[0].isdigit())


def number_depth(text: str) -> int:
    """Return how deep a heading's number is, 2 for "3.1 Method", or 0 when it has none.

    A lone letter or Roman number needs what a sentence would not put there: a full stop, or a word
    like "Appendix" in front.
    """
    match = _NUMBERED.match(text)
    if match is None:
        return 0
    number = match["number"]
    if not number[0].isdigit() and "." not in number and not (match["part"] or match["end"]):
        rest = text[match.end() :]
        if number == "I" or (number == "A" and rest[:1].islower()) or len(number) > 1:
            return 0
    return number.count(".") + 1
