"""When a text's fiscal years begin and what they are called, as far as the text itself says so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from abstrag.language.calendar import MONTH_NAMES

_MONTH: Final = "|".join(MONTH_NAMES)
_STATED: Final = re.compile(
    rf"""\b(?:years?|5[23][\s-]+weeks?)\s+(?:that\s+)?(?:ended|ending|ends?)\s+(?:on\s+)?(?:the\s+)?
    (?:(?P<before>\d\d?)\s+ | last\s+[a-z]+\s+(?:in|of)\s+
      | [a-z]+day\s+(?:nearest|closest\s+to)\s+(?:the\s+end\s+of\s+)?)?
    (?P<month>{_MONTH})\b(?:\s+(?P<after>\d\d?)\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_ENDED: Final = re.compile(
    rf"\b(?:ended|ending)\s+(?:\d\d?\s+)?(?P<month>{_MONTH})(?:\s+\d\d?,)?\s+(?P<year>20\d\d)",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"\b(?:(?:fiscal|financial)\s+(?:year\s+)?|FY\s?)(?P<year>20\d\d|(?<=FY)\d\d)\b", re.IGNORECASE
)
_ORDINALS: Final = ("first", "second", "third", "fourth")
_QUARTER: Final = re.compile(rf"\b(?P<nth>{'|'.join(_ORDINALS)})[\s-]+quarter\b", re.IGNORECASE)
_MID_MONTH: Final = 15  # a year that ends on October 1 begins with October, on September 28 too
_FEBRUARY: Final = 2
_LATEST: Final = 0.2  # of the ends that are named most: how often one must be, to be the text's own


@dataclass(frozen=True, slots=True)
class FiscalYear:
    """The month in which fiscal years begin, and which of their two years they are named for."""

    start: int = 1
    named_for_start: bool = False

    def begins(self, named: int) -> int:
        """Return the calendar year in which the fiscal year of a name begins."""
        return named - (self.start > 1 and not self.named_for_start)


CALENDAR_YEAR: Final = FiscalYear()


def stated_fiscal_year(texts: Iterable[str], title: str = "") -> FiscalYear | None:
    """Return the year that most of the texts see "ended", and what they call it.

    A year is named for the one it ends in, unless the title or the years that the texts name say
    otherwise: "fourth quarter of fiscal 2022" that ended on January 28, 2023. None when the texts
    say nothing or disagree; a year that ends in January is named either way by many, so then the
    texts have to settle that too.
    """
    starts: Counter[int] = Counter()
    ends: Counter[tuple[int, int]] = Counter()
    named: Counter[int] = Counter()
    for text in texts:
        for found in _STATED.finditer(text):
            month = _month(found["month"])
            day = int(found["before"] or found["after"] or _MID_MONTH)
            starts[month % 12 + 1 if day >= _MID_MONTH else month] += 1
        ends.update((int(m["year"]), _month(m["month"])) for m in _ENDED.finditer(text))
        named.update(_year(m["year"]) for m in _NAMED.finditer(text))
    if not starts:
        return _by_quarter(ends, title)
    start, count = max(starts.items(), key=lambda item: (item[1], -item[0]))
    if 2 * count <= starts.total():
        return None
    for_start = _named_for_start(start, ends, named, title) if start > 1 else False
    if for_start is None:
        return None if start == _FEBRUARY else FiscalYear(start)
    return FiscalYear(start, for_start)


def _named_for_start(
    start: int, ends: Counter[tuple[int, int]], named: Counter[int], title: str
) -> bool | None:
    """Tell which year fiscal years are named for, None where nothing settles it.

    A report speaks of its own year and the one before, so of the three names that these two may
    have the outer one that is said more often decides.
    """
    if not ends:
        return None
    year, month = _latest(ends)
    final = year if month < start else year + 1  # the year in which that fiscal year ends
    if stated := _NAMED.search(title):
        own = _year(stated["year"])
        return own == final - 1 if own in (final, final - 1) else None
    if named[final] == named[final - 2]:
        return None
    return named[final] < named[final - 2]


def _by_quarter(ends: Counter[tuple[int, int]], title: str) -> FiscalYear | None:
    """Return the year whose quarter a title names, by the end of that quarter."""
    quarter, stated = _QUARTER.search(title), _NAMED.search(title)
    if not ends or quarter is None or stated is None:
        return None
    year, month = _latest(ends)
    number = _ORDINALS.index(quarter["nth"].casefold()) + 1
    start = (month - 3 * number) % 12 + 1
    begins = year - (month < start)
    named = _year(stated["year"])
    return FiscalYear(start, start > 1 and named == begins) if named - begins in (0, 1) else None


def _latest(ends: Counter[tuple[int, int]]) -> tuple[int, int]:
    """Return the last year and month that a text often sees something end in."""
    often = max(ends.values())
    return max(end for end, count in ends.items() if count >= _LATEST * often)


def _month(name: str) -> int:
    return MONTH_NAMES.index(name.capitalize()) + 1


def _year(digits: str) -> int:
    return int(digits) if len(digits) > 2 else 2000 + int(digits)
