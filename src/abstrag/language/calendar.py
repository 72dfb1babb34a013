"""The calendar: runs of days, their units, how they are written, and when fiscal years begin.

Conventions, so that every interval can be checked by hand:

- A week begins on Monday; a decade with its 0 ("1990s" is 1990 to 1999); a century with its 1 (the
  19th is 1801 to 1900).
- A portion of a longer time is cut at whole years where it has enough of them, else at whole
  months, else at days, each cut rounded: the first third of a year is January to April, of the
  1990s 1990 to 1992, of a month of 30 days its days 1 to 10.
- An open end is the first or the last day there is, 0001-01-01 or 9999-12-31; ISO notation writes
  it as two dots.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from abstrag.model.term import Interval

ONE_DAY: Final = timedelta(days=1)
MONTH_NAMES: Final = tuple(
    "January February March April May June July August September October November December".split()
)
_ISO_DATE: Final = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
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
_SLACK: Final = 10  # days
_FEBRUARY: Final = 2
_LATEST: Final = 0.2  # of the ends that are named most: how often one must be, to be the text's own


class CalendarUnit(StrEnum):
    """A unit of the calendar."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


_MONTHS_IN: Final = {
    CalendarUnit.MONTH: 1,
    CalendarUnit.QUARTER: 3,
    CalendarUnit.YEAR: 12,
    CalendarUnit.DECADE: 120,
    CalendarUnit.CENTURY: 1200,
}
_DAYS_BETWEEN: Final = {CalendarUnit.DAY: 1, CalendarUnit.WEEK: 7, CalendarUnit.WEEKEND: 7}
_SATURDAY: Final = 5


class Days(NamedTuple):
    """A run of days, both ends included."""

    first: date
    last: date

    @property
    def interval(self) -> Interval:
        """The same as a record."""
        return Interval(self.first.isoformat(), self.last.isoformat())

    @property
    def whole_year(self) -> int | None:
        """The calendar year this is, if it is one."""
        year = self.first.year
        return year if self == months(year, 1, 12) else None

    def distance(self, day: date) -> int:
        """Return how many days lie between this and a day; none when it holds the day."""
        return max((self.first - day).days, (day - self.last).days, 0)


def days_of(interval: Interval) -> Days:
    """Read a record back."""
    return Days(date.fromisoformat(interval.start), date.fromisoformat(interval.end))


def one_day(day: date) -> Days:
    """Return a day as a run of one."""
    return Days(day, day)


def months(year: int, month: int, count: int = 1) -> Days:
    """Return `count` months from the given one on; month 13 is January of the next year."""
    if year + (month + count - 2) // 12 == date.max.year and (month + count - 2) % 12 == 11:
        return Days(_first_of(year, month), date.max)
    return Days(_first_of(year, month), _first_of(year, month + count) - ONE_DAY)


def _first_of(year: int, month: int) -> date:
    years, index = divmod(month - 1, 12)
    return date(year + years, index + 1, 1)


def year_of(year: int) -> Days:
    """Return a calendar year."""
    return months(year, 1, 12)


def century(number: int) -> Days:
    """Return a century by its ordinal number."""
    return Days(date(number * 100 - 99, 1, 1), date(number * 100, 12, 31))


def around(day: date, unit: CalendarUnit, steps: int = 0) -> Days:
    """Return the calendar unit that holds a day, or the one so many steps after it."""
    if unit is CalendarUnit.DAY:
        return one_day(day + steps * ONE_DAY)
    monday = day - day.weekday() * ONE_DAY + 7 * steps * ONE_DAY
    if unit is CalendarUnit.WEEK:
        return Days(monday, monday + 6 * ONE_DAY)
    if unit is CalendarUnit.WEEKEND:
        return Days(monday + 5 * ONE_DAY, monday + 6 * ONE_DAY)
    size = _MONTHS_IN[unit]
    origin = 12 if unit is CalendarUnit.CENTURY else 0
    block = (day.year * 12 + day.month - 1 - origin) // size + steps
    return months(0, block * size + origin + 1, size)


def shift(day: date, steps: int, unit: CalendarUnit) -> date:
    """Return the same day so many units later; the 31st becomes the month's last day."""
    if unit in _DAYS_BETWEEN:
        return day + steps * _DAYS_BETWEEN[unit] * ONE_DAY
    there = months(day.year, day.month + steps * _MONTHS_IN[unit])
    return there.first.replace(day=min(day.day, there.last.day))


def ending(last: date, count: int, unit: CalendarUnit) -> Days:
    """Return the so many units that end with a day: three months to June 30 begin on April 1."""
    if unit is CalendarUnit.WEEKEND:  # it may end with a holiday: from the Saturday before
        begun = last - (last.weekday() - _SATURDAY) % 7 * ONE_DAY
        return Days(shift(begun, 1 - count, unit), last)
    return Days(shift(last + ONE_DAY, -count, unit), last)


def following(day: date, count: int, unit: CalendarUnit) -> Days:
    """Return the so many units that begin after a day."""
    return Days(day + ONE_DAY, shift(day, count, unit))


def portion(days: Days, index: int, parts: int) -> Days:
    """Return one of so many equal parts, counted from 0; a single day has no parts."""
    after = days.last + ONE_DAY
    count, unit = (after - days.first).days, CalendarUnit.DAY
    if count < parts:
        return days
    if days.first.day == after.day == 1:
        in_months = (after.year - days.first.year) * 12 + after.month - days.first.month
        if in_months % 12 == 0 and in_months // 12 >= parts:
            count, unit = in_months // 12, CalendarUnit.YEAR
        elif in_months >= parts:
            count, unit = in_months, CalendarUnit.MONTH
    cuts = [shift(days.first, round(i * count / parts), unit) for i in (index, index + 1)]
    return Days(cuts[0], cuts[1] - ONE_DAY)


def parse_iso(text: str) -> Days:
    """Read `2024`, `2024-05`, `2024-05-15` or two of them with a slash; else a ValueError."""
    ends = [_parse_end(part.strip()) for part in text.split("/")]
    if len(ends) > 2 or ends[0].first > ends[-1].last:
        raise ValueError(f"not an interval: {text!r}")
    return Days(ends[0].first, ends[-1].last)


def _parse_end(text: str) -> Days:
    found = _ISO_DATE.fullmatch(text)
    if found is None:
        raise ValueError(f"not an ISO date: {text!r}")
    year, month, day = (int(part) if part else None for part in found.groups())
    assert year is not None
    if day is not None and month is not None:
        return one_day(date(year, month, day))
    return months(year, month) if month is not None else year_of(year)


def iso(days: Days) -> str:
    """Write days in the shortest ISO 8601 notation: `2024-05-14`, `2024-05`, `2015/2017`."""
    length = _PRECISION[_grain(days)]
    first = ".." if days.first == date.min else days.first.isoformat()[:length]
    last = ".." if days.last == date.max else days.last.isoformat()[:length]
    return first if first == last else f"{first}/{last}"


def label(days: Days) -> str:
    """Write days for a person: `14 May 2024`, `Q1 2015`, `1990s`, `since 2015`."""
    grain = _grain(days)
    if days.last == date.max:
        return f"since {_name(days.first, grain)}"
    if days.first == date.min:
        return f"until {_name(days.last, grain)}"
    year = days.first.year
    if grain is not CalendarUnit.DAY and days.last.year == year:
        for parts, letter in ((4, "Q"), (2, "H")):
            for index in range(parts):
                if days == portion(year_of(year), index, parts):
                    return f"{letter}{index + 1} {year}"
    if days == around(days.first, CalendarUnit.DECADE):
        return f"{year}s"
    if days == around(days.first, CalendarUnit.CENTURY):
        return f"{_ordinal(year // 100 + 1)} century"
    first, last = _name(days.first, grain), _name(days.last, grain)
    if first == last:
        return first
    return f"{first}–{last}" if grain is CalendarUnit.YEAR else f"{first} – {last}"


_PRECISION: Final = {CalendarUnit.YEAR: 4, CalendarUnit.MONTH: 7, CalendarUnit.DAY: 10}


def _grain(days: Days) -> CalendarUnit:
    """Return the largest of year, month and day that both ends fall on."""
    if days.first.day == 1 and (days.last == date.max or (days.last + ONE_DAY).day == 1):
        whole = days.first.month == 1 and days.last.month == 12
        return CalendarUnit.YEAR if whole else CalendarUnit.MONTH
    return CalendarUnit.DAY


def _name(day: date, grain: CalendarUnit) -> str:
    month = f"{MONTH_NAMES[day.month - 1]} {day.year}"
    return {CalendarUnit.YEAR: str(day.year), CalendarUnit.MONTH: month}.get(
        grain, f"{day.day} {month}"
    )


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


@dataclass(frozen=True, slots=True)
class FiscalYear:
    """The month in which fiscal years begin, and which of their two years they are named for."""

    start: int = 1
    named_for_start: bool = False

    def begins(self, named: int) -> int:
        """Return the calendar year in which the fiscal year of a name begins."""
        return named - (self.start > 1 and not self.named_for_start)

    def name_of(self, day: date) -> int:
        """Return the name of the fiscal year that a period ending on a day is of.

        Years of 52 weeks end some days before or after the end of their month.
        """
        day -= timedelta(days=_SLACK)
        begins = day.year - (day.month < self.start)
        return begins + (self.start > 1 and not self.named_for_start)


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
