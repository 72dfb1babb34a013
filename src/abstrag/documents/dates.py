"""Dates as files state them in metadata, header lines and front matter, turned into ISO dates.

Only a whole date counts: day, month and year. The order of day and month is never guessed, so
05/06/2024 is no date here while 15/06/2024 is.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, NamedTuple

_MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>[12]\d{3})"
_FORMS: Final = tuple(
    re.compile(rf"(?<![\w/.-]){form}(?![\w/-]|\.\d)", re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<sep>[-/.])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)(?:[T ]\d\d:\d\d\S*)?",
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}",
        rf"{_DAY}-{_MONTH}-{_YEAR}",
        rf"(?P<first>\d{{1,2}})(?P<sep>[/.-])(?P<second>\d{{1,2}})(?P=sep){_YEAR}",
    )
)
_COMPACT: Final = re.compile(r"(?P<year>[12]\d{3})(?P<month>\d\d)(?P<day>\d\d)(?:T?\d{4,6}Z?)?")


class FoundDate(NamedTuple):
    """An ISO date and where in the searched text it stands."""

    iso: str
    start: int
    end: int


def find_date(text: str) -> FoundDate | None:
    """Return the first whole date in a text."""
    found = [
        FoundDate(iso, *match.span())
        for form in _FORMS
        for match in form.finditer(text)
        if (iso := _iso(match)) is not None
    ]
    return min(found, key=lambda f: (f.start, -f.end), default=None)


def parse_date(text: str) -> str | None:
    """Return the ISO date a metadata value states, or None when it states no whole date."""
    text = text.strip()
    if match := _COMPACT.fullmatch(text):
        return _iso(match)
    found = find_date(text)
    return found.iso if found else None


def _iso(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second"])
        if first <= 12 and second <= 12 and first != second:
            return None
        day, month = (first, second) if first > 12 else (second, first)
    else:
        day, month = int(parts["day"]), _month(parts["month"])
    try:
        return date(int(parts["year"]), month, day).isoformat()
    except ValueError:
        return None


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(text.casefold()[:3]))
