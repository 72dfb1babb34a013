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
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Final

from abstrag.errors import InputError
from abstrag.language.calendar import ONE_DAY, CalendarUnit, Days, FiscalYear, around, parse_iso
from abstrag.language.time_lexer import (
    Part,
    RuleStage,
    Step,
    TimeContext,
    TimeReading,
    TimeRule,
    TimeToken,
    lex,
    reading,
)
from abstrag.language.time_relative import (
    RELATIVE,
    bare_weekday,
    offset_from,
    spell_alone,
    spell_near,
    told_elsewhere,
)
from abstrag.language.time_spells import COMPLETIONS, DATES
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
    | on\s+the\s+\d{1,2}(?:st|nd|rd|th) | \d(?:st|nd|rd|th)\s+of\s+(?:this|last|next)\s
    )""",
    re.VERBOSE,
)
_TO: Final = "[DASH TO TILL]"
_NO_COUNT: Final = "(?![THING UNITS] | WORD THING)"  # "2010 patients", "2010 adult patients"
_NO_PLURAL: Final = "(?![THING UNITS PLURAL] | WORD THING)"


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
    found = _parse(tokens, TimeContext(anchor, fiscal))
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


def _run(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    first, last = _when(tokens)
    relative = first.relative or last.relative
    if first.days is None or last.days is None:
        return TimeReading(None, relative, first.reason or last.reason)
    if first.days.first > last.days.last:
        return None
    return TimeReading(Days(first.days.first, last.days.last), relative)


def _between(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "between Q2 of 2024 and 2023": people compare the later with the earlier, too."""
    return _run(tokens, frame) or _run(tokens[::-1], frame)


def _run_into_spell(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Read "from May 2019 to July": the first July that is not before it."""
    start, spell = _when(tokens)[0], tokens[-1].value
    if start.days is None:
        return start
    year = start.days.first.year
    end = next((spell(y) for y in (year, year + 1) if spell(y).last >= start.days.last), None)
    return TimeReading(Days(start.days.first, end.last), start.relative) if end else None


def _until_now(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    return _when(tokens)[0].map(_since)


def _since(days: Days) -> Days:
    return Days(days.first, date.max)


def _until(days: Days) -> Days:
    return Days(date.min, days.last)


def _before(days: Days) -> Days:
    return Days(date.min, days.first - ONE_DAY)


def _after(days: Days) -> Days:
    return Days(days.last + ONE_DAY, date.max)


def _open(side: Part, tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    return _when(tokens)[0].map(side)


def _prior_to(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Read "prior to" and "subsequent to"."""
    side = {-1: _before, 1: _after}.get(tokens[0].value)
    return _when(tokens)[0].map(side) if side else None


def _year(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    return reading(tokens[0])


def _uneven(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Read a year where a count is as likely, so a round number is none: "over 2000 kinds"."""
    return reading(tokens[0]) if tokens[0].value % 100 else None


def _epithet(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Read "the 1855 constitution"; an old and round number counts: "a 1500 metre race"."""
    counted = tokens[0].kind == "OLD" and tokens[0].value % 10 == 0
    return None if counted else reading(tokens[0])


def _when(tokens: Sequence[TimeToken]) -> list[TimeReading]:
    return [reading(token) for token in tokens if token.kind in _WHEN]


def _week_of(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    return reading(tokens[-1]).map(lambda days: around(days.first, CalendarUnit.WEEK))


_WHEN: Final = ("POINT", "RELYEAR", "YEAR", "OLD")
_NOUN: Final = "(?=[NAME WORD ERA FINANCIAL FISCAL FEAST FINAL NTH SEASON WINTER PERIOD TALLY])"

_RUNS: Final = RuleStage(
    (
        TimeRule("WEEK OF POINT", "POINT", _week_of),
        TimeRule("OFFSET [WHEN]", "POINT", offset_from),
        TimeRule(f"FROM? [POINT YEAR OLD] {_TO} THE? NOW", "POINT", _until_now),
        TimeRule(f"FROM THE? [WHEN] COMMA? [TO TILL] THE? [WHEN] {_NO_COUNT}", "POINT", _run),
        TimeRule(f"BETWEEN THE? [WHEN] COMMA? AND THE? [WHEN] {_NO_COUNT}", "POINT", _between),
        TimeRule(f"FROM POINT {_TO} [DATED MONTHLY]", "POINT", _run_into_spell),
        TimeRule(f"(?<!REF) [POINT YEAR] DASH THE? [WHEN] {_NO_COUNT}", "POINT", _run),
        TimeRule(f"POINT [TO TILL] THE? [WHEN] {_NO_COUNT}", "POINT", _run),
        TimeRule("YEAR [TO TILL] POINT", "POINT", _run),
        TimeRule(f"(?<![REF TALLY]) YEAR [TO TILL] YEAR {_NO_PLURAL}", "POINT", _run),
        TimeRule(f"(?<=[OPEN IN OF THE NAME]) OLD {_TO} [YEAR OLD] {_NO_PLURAL}", "POINT", _run),
    )
)
_ALONE: Final = RuleStage(
    (
        # A time of year, a weekday or a part whose year the anchor has to give.
        TimeRule("[LAST THIS NEXT] [DATED MONTHLY FYEAR CLOSED]", "POINT", spell_near),
        TimeRule("[LAST THIS NEXT] YEARLY (?!IN)", "POINT", spell_near),  # "this fall in prices"
        TimeRule("[PRIOR THAT] FYEAR", "POINT", told_elsewhere),
        TimeRule("[CLOSED QPART]", "POINT", told_elsewhere),
        TimeRule("DATED (?=COMMA (?:$ | BAR | OPEN | DATED))", "POINT", told_elsewhere),
        TimeRule("DATED", "POINT", spell_alone),
        TimeRule("(?<=[IN SINCE TILL BY BEFORE AFTER]) MONTHLY", "POINT", spell_alone),
        TimeRule("RELYEAR", "POINT", _year),
        TimeRule("(?<=ON) WEEKDAY", "POINT", bare_weekday),
        TimeRule("WEEKDAY (?!NAME)", "POINT", bare_weekday),
        # A year that its context shows to be one.
        TimeRule(f"(?<=[IN SINCE TILL BEFORE YR ERA]) YEAR {_NO_COUNT}", "POINT", _year),
        TimeRule(f"(?<=[IN SINCE TILL BEFORE YR ERA]) OLD {_NO_PLURAL}", "POINT", _year),
        TimeRule(f"(?<=WEAK) YEAR {_NO_PLURAL}", "POINT", _uneven),
        TimeRule("(?<=[BY AFTER TO VERSUS]) YEAR (?=[WORD NAME])", "POINT", _uneven),
        TimeRule(f"(?<=[BY AFTER FROM TO VERSUS]) YEAR {_NO_PLURAL}", "POINT", _year),
        TimeRule("(?<=[BY AFTER FROM]) OLD (?![THING UNITS PLURAL WORD NAME])", "POINT", _year),
        TimeRule(f"(?<=NAME OF) [YEAR OLD] {_NO_COUNT}", "POINT", _year),
        TimeRule(f"(?<=(?<!TALLY) OF) YEAR {_NO_PLURAL}", "POINT", _year),
        TimeRule("(?<=WORD OF) OLD (?![THING UNITS PLURAL WORD NAME])", "POINT", _year),
        TimeRule("(?<=[PRE POST] DASH) [YEAR OLD]", "POINT", _year),
        TimeRule(
            "(?<=(?<![NAME ETAL FEAST POSS DOT]) OPEN) YEAR (?=[CLOSE COLON DASH])", "POINT", _year
        ),
        TimeRule("(?<=NAME NAME OPEN) [YEAR OLD] (?=CLOSE)", "POINT", _year),
        TimeRule(f"(?<=[THE POSS ONE THIS THAT]) [YEAR OLD] {_NOUN}", "EPITHET", _epithet),
        TimeRule("^ YEAR (?![THING UNITS PLURAL STOP DOT CLOSE])", "POINT", _year),
        TimeRule("(?<=[NAME WORD PLURAL]) YEAR $", "POINT", _year),
        TimeRule("(?<=BAR) YEAR (?=BAR | $)", "POINT", _year),
        TimeRule(
            "(?<![COMMA DOT REF ETAL NAME OPEN]) YEAR"
            f"(?=(?:COMMA? [AND OR] | COMMA | VERSUS | SLASH) YEAR {_NO_PLURAL})",
            "POINT",
            _year,
        ),
    )
)
_OPEN: Final = RuleStage(
    (
        TimeRule("FROM THE? POINT (?:AND? ONWARD | ON)", "POINT", partial(_open, _since)),
        TimeRule("POINT AND? ONWARD", "POINT", partial(_open, _since)),
        TimeRule("SINCE THE? POINT", "POINT", partial(_open, _since)),
        TimeRule("(?:TILL | BY | UP TO) THE? POINT", "POINT", partial(_open, _until)),
        TimeRule("PRIOR TO THE? POINT", "POINT", _prior_to),
        TimeRule("(?:BEFORE | PRE DASH) THE? POINT", "POINT", partial(_open, _before)),
        TimeRule("(?:AFTER | POST DASH) THE? POINT", "POINT", partial(_open, _after)),
    )
)
_LINKS: Final = ("COMMA", "AND", "OR", "VERSUS", "SLASH")
_NAMED: Final = ("WORD", "NAME")  # an old year is none before these: "in 1990 and 1200 sick mice"
_COUNTED: Final = ("THING", "PLURAL", "UDAY", "WEEK", "UMONTH", "QTR", "YR", "CENT", "UNIT")


def _shared_years(tokens: list[TimeToken], _frame: TimeContext) -> list[TimeToken]:
    """Carry a year back to the dates before it: in "July and August 1988", to both."""
    done = list(tokens)
    year = None
    for i in range(len(tokens) - 1, -1, -1):
        token = tokens[i]
        if token.kind == "POINT":
            when: TimeReading = token.value
            year = when.days.first.year if when.days and when.again else None
        elif token.kind in ("DATED", "MONTHLY") and year:
            try:
                done[i] = token._replace(kind="POINT", value=TimeReading(token.value(year)))
            except ValueError:  # February 29
                year = None
        elif token.kind not in ("COMMA", "AND", "OR"):
            year = None
    return done


def _lists(tokens: list[TimeToken], _frame: TimeContext) -> list[TimeToken]:
    """Carry a date on to the years after it: in "December 31, 2019 and 2018", to both.

    In a table's header the years stand side by side with nothing between them.
    """
    done = list(tokens)
    again = None
    for i, token in enumerate(tokens):
        after = tokens[i + 1].kind if i + 1 < len(tokens) else ""
        listed = token.kind == "YEAR" or (
            token.kind == "OLD" and after not in _NAMED and tokens[i - 1].kind in ("AND", "OR")
        )
        if token.kind == "POINT":
            again = token.value.again
        elif listed and again and after not in _COUNTED:
            try:
                done[i] = token._replace(
                    kind="POINT", value=TimeReading(again(token.value), again=again)
                )
            except ValueError:  # February 29
                again = None
        elif token.kind not in _LINKS:
            again = None
    return done


_STAGES: Final = (
    RuleStage((*RELATIVE, *DATES)),
    *COMPLETIONS,
    _RUNS,
    _shared_years,
    _ALONE,
    _lists,
    _OPEN,
)


def _parse(tokens: list[TimeToken], frame: TimeContext) -> list[TimeToken]:
    """Return the tokens that are times; their values are `TimeReading`s."""
    for stage in _STAGES:
        tokens = stage(tokens, frame)
    return [token for token in tokens if token.kind in ("POINT", "EPITHET")]
