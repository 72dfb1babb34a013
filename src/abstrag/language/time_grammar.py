"""The grammar of time as a whole: runs, years in context, open ends, and the order of the stages.

A bare number is a year only where something says so: a preposition, brackets of its own, a
determiner before and a noun after it, another year beside it, a table cell to itself, or the edge
of a heading or query. What is counted ("2019 patients") and what dates a source ("Smith (2019)") is
no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Final

from abstrag.language.calendar import ONE_DAY, CalendarUnit, Days, around
from abstrag.language.time_lexer import TimeToken
from abstrag.language.time_relative import (
    RELATIVE,
    bare_weekday,
    offset_from,
    spell_alone,
    spell_near,
    told_elsewhere,
)
from abstrag.language.time_rules import Part, RuleStage, TimeContext, TimeReading, TimeRule, reading
from abstrag.language.time_spells import COMPLETIONS, DATES

_TO: Final = "[DASH TO TILL]"
_NO_COUNT: Final = "(?![THING UNITS] | WORD THING)"  # "2010 patients", "2010 adult patients"
_NO_PLURAL: Final = "(?![THING UNITS PLURAL] | WORD THING)"


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


def parse(tokens: list[TimeToken], frame: TimeContext) -> list[TimeToken]:
    """Return the tokens that are times; their values are `TimeReading`s."""
    for stage in _STAGES:
        tokens = stage(tokens, frame)
    return [token for token in tokens if token.kind in ("POINT", "EPITHET")]
