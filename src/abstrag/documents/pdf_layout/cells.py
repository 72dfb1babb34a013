"""Cells: what stands together in one row of a table, told by gaps and by how amounts are set.

Financial tables put the currency sign and the percent sign into columns of their own, often closer
to a neighbour's number than to their own, so signs are tied to numbers before gaps are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.documents.pdf_layout.lines import SPACE, PdfLine
from abstrag.documents.pdf_layout.page import Word

_CURRENCY: Final = re.compile(r"[(−–-]?(?:US|C|A|HK)?[$€£¥]|USD|EUR|GBP|CHF|Rs\.?")
_UNIT: Final = re.compile(r"[%)]{1,2}|bps|pp|x")
_AMOUNT: Final = r"(?:US|C|A|HK)?[$€£¥]?[(−–-]?[$€£¥]?(?:\d(?:[\d,.'’]*\d)?|\.\d+)(?:[eE][−-]?\d+)?"
_SCALE: Final = r"(?:%|bps|pp|x|×|[KMB]|bn|m?s|m|thousand|million|billion|trillion)?"
_VALUE: Final = re.compile(
    rf"[+<>~±≈]?\(?{_AMOUNT}{_SCALE}\)?%?"
    rf"(?:(?:[±–−-]|to)\(?{_AMOUNT}{_SCALE}\)?%?)?(?:\(\d\)|\[\d+\]|[*†‡]+)?"
    r"|[$€£¥]?[-–—−]+%?|n/?[am]\.?|nil|NM|N/?A"
)
_YEAR: Final = re.compile(
    r"(?:(?:FY|Fiscal(?:Year)?|CY|[1-4]Q|Q[1-4])'?\d\d(?:\d\d)?|(?:19|20)\d\d(?:[-–](?:19|20)?\d\d)?)[EA*]?",
    re.IGNORECASE,
)
_STARTS_NUMBER: Final = re.compile(r"[(−–-]?[$€£¥]?[\d.]|[-–—−]+$")
_NARROW: Final = 0.5  # ems that part two numbers; words need a wider gap
_UNIT_REACH: Final = 3.0  # ems between a number and its percent sign


def is_value(text: str) -> bool:
    """True for an amount, a share, a dash that stands for nothing, and the like."""
    return _VALUE.fullmatch(re.sub(r"\s", "", text)) is not None


def is_year(text: str) -> bool:
    """True for what heads a column of values although it is a number itself."""
    return _YEAR.fullmatch(re.sub(r"\s", "", text)) is not None


def cells_of(row: Sequence[PdfLine]) -> list[PdfLine]:
    """Cut a row into cells, left to right."""
    if len(row) == 1:
        return list(row)
    words = [word for piece in sorted(row, key=lambda p: p.x0) for word in _loose(piece)]
    groups: list[list[Word]] = []
    for i, word in enumerate(words):
        after = words[i + 1] if i + 1 < len(words) else None
        if groups and _together(groups[-1], word, after):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [PdfLine(group) for group in groups]


def _loose(piece: PdfLine) -> list[Word]:
    """Return a piece's words; its first is glued to nothing."""
    first, *rest = piece.words
    if first.glued:
        first = Word(first.text, first.x0, first.x1, first.base, first.style)
    return [first, *rest]


def _together(group: list[Word], word: Word, after: Word | None) -> bool:
    """True when a word belongs to the cell on its left."""
    last = group[-1]
    if word.glued:
        return True
    gap = (word.x0 - last.x1) / max(word.style.size, last.style.size)
    if _CURRENCY.fullmatch(last.text) and _STARTS_NUMBER.match(word.text):
        return True
    if _CURRENCY.fullmatch(word.text) and after and _STARTS_NUMBER.match(after.text):
        return False
    if _UNIT.fullmatch(word.text) and is_value(_text(group)) and not _near(word, after):
        return gap < _UNIT_REACH
    if _STARTS_NUMBER.match(word.text) and is_value(_text(group)):
        return gap < _NARROW
    return gap < SPACE


def _near(word: Word, after: Word | None) -> bool:
    """True when what follows a word is nearer than a gap between cells: "% change"."""
    return (
        after is not None
        and after.x0 - word.x1 < _NARROW * word.style.size
        and _CURRENCY.fullmatch(after.text) is None
    )


def _text(group: Sequence[Word]) -> str:
    return " ".join(word.text for word in group)
