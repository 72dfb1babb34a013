"""Find time expressions in plain text and resolve them to intervals of days.

Documents and queries are read by the same function. Absolute expressions are resolved by
themselves. Relative ones are resolved against an anchor, the day the text speaks from; without one
they are found but stay unresolved. What is ambiguous stays unresolved too, with the reason.

How relative expressions are read, for an anchor on Wednesday 2024-05-15:

- "this Tuesday" is in the anchor's week, Monday to Sunday (05-14); "last Tuesday" in the week
  before (05-07), "next Tuesday" in the week after (05-21); where the nearest one is another, it is
  kept as a second reading ("last Tuesday" may be 05-14). "Tuesday" and "on Tuesday" are the
  latest that is not after the anchor; "this past" and "coming" strictly before and after it.
- "last year", "this quarter", "next month" are calendar units next to the anchor's own.
- "the past three years", "the last year" end with the anchor (2021-05-16 to 2024-05-15); "next two
  weeks" begin the day after it, but "the next two weeks" may follow anything told and stay open.
- "two weeks ago" is as coarse as its unit: a week, a month, a year; a decade ago is a year.
- "May 20" and "in May" lie in the anchor's year or the year before, whichever is nearer ("December
  20" in a text of January is last year's); "last May" is the latest that is over, "next May" the
  first that has not begun.
- "the following day", "two weeks later", "the next morning", "the day before," are counted from
  what is told before, by whoever knows that; "the previous year", "a year earlier", "the first
  quarter", "the year ended May 31" stay open.

How absolute ones are read:

- "early", "mid", "late" are the thirds of a year, decade, century or month; so are "the beginning
  of" and "the end of", which are vaguer than a day.
- A season is three whole months, as in the north; a winter needs both of its years.
- A fiscal year is named for the year it ends in, unless the text names it for the one it begins in;
  if it begins in month 1 it is the calendar year.
- "since 2015" has no end (9999-12-31) and "before 2010" no beginning (0001-01-01); "until",
  "through" and "by" include what they name, "before" and "after" do not.
- Citations date their source, not what is told: "(Smith et al., 2019)", "Smith (2019)" and
  "[2019]" are no times. A bare number is a year only where its context says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from abstrag.errors import InputError
from abstrag.language.calendar import Days, parse_iso
from abstrag.language.fiscal import FiscalYear
from abstrag.language.time_grammar import parse
from abstrag.language.time_lexer import TimeToken, lex
from abstrag.language.time_rules import Step, TimeContext, TimeReading
from abstrag.model.record import record
from abstrag.model.term import Interval

NO_ANCHORS: Final[Mapping[str, str]] = MappingProxyType({})

# Every expression holds one of these, in lower case; most texts hold none and are done with here.
_TRIGGER: Final = re.compile(
    r"""\b(?:
      \d{4}(?!\d) | \d{1,3}0['’]?s\b | \d\d(?<=['’]\d\d) | \d[qh](?:\d|fy) | [qh][1-4] | fy | centur
    | monday | tuesday | wednesday | thursday | friday | saturday | sunday
    | today | yesterday | tomorrow | tonight
    | (?:january|february|april|june|july|september|october|november|december)\b
    | (?:jan|feb|mar|march|apr|may|jun|jul|aug|august|sept?|oct|nov|dec)\b
    | (?:days?|weeks?|months?|quarters?|years?|yrs?|decades?)\s+
      (?:ago|earlier|later|previously|afterwards?|thereafter|before|after|from)\b
    | (?:morning|afternoon|evening|night)\s+(?:before|after)\b
    | fortnight\s+(?:ago|earlier|later|afterwards?)\b
    | (?:last|past|next|this|that|current|coming|upcoming|previous|prior|preceding|following
      |subsequent|ensuing|same)\s+(?:[\w-]+\s+){0,2}(?:day|week|month|quarter|year|yr|decade|night
      |morning|afternoon|evening|spring|summer|autumn|fall|winter|fiscal|financial)
    | (?:first|second|third|fourth|[1-4](?:st|nd|rd|th))[\s-]+quarter
    )""",
    re.VERBOSE,
)


@record
class TimeExpression:
    """A time expression at `text[start:end]`; without an interval, `reason` says why."""

    start: int
    end: int
    interval: Interval | None
    relative: bool  # its meaning depends on when the text was written
    reason: str = ""
    step: Step | None = field(default=None, compare=False)  # counts it from the time told before
    other: Interval | None = None  # another reading that is as good


def find_times(
    text: str,
    *,
    anchor: date | None = None,
    anchors: Mapping[str, str] = NO_ANCHORS,
    fiscal_year_start: int = 1,
    fiscal_named_for_start: bool = False,
) -> tuple[TimeExpression, ...]:
    """Return the time expressions of a text, left to right; they do not overlap.

    `anchors` are expressions of the user's own with their ISO date or interval, for instance
    `{"the merger": "2019-03-01", "FY2024": "2023-10-01/2024-09-30"}`; they win over the grammar.
    `fiscal_year_start` is the month in which fiscal years begin; they are named for the year they
    end in, unless `fiscal_named_for_start`.
    """
    if not 1 <= fiscal_year_start <= 12:
        raise InputError(
            f"no fiscal year begins in month {fiscal_year_start!r}", hint="a month from 1 to 12"
        )
    named = _named(tuple(sorted(anchors.items()))) if anchors else None
    if named is None and _TRIGGER.search(text.lower()) is None:
        return ()
    tokens = lex(text) if named is None else _lex_around(text, named)
    fiscal = FiscalYear(fiscal_year_start, fiscal_named_for_start)
    found = parse(tokens, TimeContext(anchor, fiscal))
    return tuple(_expression(token) for token in found)


def _expression(token: TimeToken) -> TimeExpression:
    reading: TimeReading = token.value
    interval = reading.days.interval if reading.days else None
    other = reading.other.interval if reading.other else None
    return TimeExpression(
        *(token.start, token.end, interval, reading.relative, reading.reason, reading.step, other)
    )


class _Named:
    """The user's own expressions, ready to be looked for."""

    def __init__(self, entries: tuple[tuple[str, str], ...]) -> None:
        self.days: dict[str, Days] = {}
        for name, value in entries:
            try:
                self.days[_folded(name)] = parse_iso(value)
            except ValueError:
                raise InputError(
                    f"the time anchor {name!r} has the value {value!r}, which is no ISO interval",
                    hint="write it as 2019-03-01 or 2023-10-01/2024-09-30",
                ) from None
        names = sorted(filter(None, self.days), key=lambda name: (-len(name), name))
        words = "|".join(r"\s+".join(map(re.escape, name.split())) for name in names)
        self.regex = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=64)
def _named(entries: tuple[tuple[str, str], ...]) -> _Named:
    return _Named(entries)


def _folded(name: str) -> str:
    return " ".join(name.lower().split())


def _lex_around(text: str, named: _Named) -> list[TimeToken]:
    """Lex a text with the user's own expressions as points in it."""
    tokens: list[TimeToken] = []
    done = 0
    for found in named.regex.finditer(text):
        tokens += lex(text, done, found.start())
        days = named.days[_folded(found[0])]
        tokens.append(TimeToken("POINT", found.start(), found.end(), TimeReading(days)))
        done = found.end()
    return tokens + lex(text, done)
