"""Rules for dates: days, months, quarters, seasons, fiscal years and the parts of them.

The one idea that keeps it short: "May", "May 15", "summer", "fiscal" and "the year ended September
30" are all functions from a year to days (a *spell*), and "early", "Q1" and "the first half" are
functions from days to days (a *part*). Stages put parts on spells, then years on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Final

from abstrag.language.calendar import (
    ONE_DAY,
    CalendarUnit,
    Days,
    century,
    ending,
    months,
    one_day,
    portion,
    year_of,
)
from abstrag.language.time_lexer import (
    Part,
    RuleStage,
    Spell,
    TimeContext,
    TimeReading,
    TimeRule,
    TimeToken,
    reading,
    take,
)

_LEAP: Final = 2000  # a year that has every day of the calendar
_OF: Final = "(?:DASH | OF | IN | COMMA)? THE?"
_TO: Final = "[DASH TO TILL]"


# --- Days, months, seasons, fiscal years: spells --------------------------------------------------


def _day(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    month, days = take(tokens, "MONTH MAYBE")[0], take(tokens, "DAYNUM")
    first, last = date(_LEAP, month, days[0]), date(_LEAP, month, days[-1])
    adjacent = not take(tokens, "AND") or (last - first) == ONE_DAY
    if first > last or not adjacent:
        raise ValueError("no run of days")
    return lambda year: Days(date(year, month, days[0]), date(year, month, days[-1]))


def _between_days(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    """Read "between 1 and 7 January": all days from the one to the other."""
    month, (one, other) = take(tokens, "MONTH MAYBE")[0], take(tokens, "DAYNUM")
    if date(_LEAP, month, one) > date(_LEAP, month, other):
        raise ValueError("no run of days")
    return lambda year: Days(date(year, month, one), date(year, month, other))


def _month(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    return lambda year: months(year, tokens[0].value)


def _season(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    """Read a season as three whole months, north of the equator; a winter begins its year."""
    return lambda year: months(year, tokens[0].value, 3)


def _winter(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Read "the winter of 2018/19"; with one year only, nobody can tell which winter it is."""
    when = tokens[-1].value
    if not isinstance(when, Days):
        return TimeReading(None, reason="a winter lies in two years")
    two_years = when.last.year == when.first.year + 1
    return TimeReading(months(when.first.year, 12, 3)) if two_years else None


def _fiscal(_tokens: Sequence[TimeToken], frame: TimeContext) -> Spell:
    """Name a fiscal year for the year it ends in, or begins in where the text does so."""
    fiscal = frame.fiscal
    return lambda year: months(fiscal.begins(year), fiscal.start, 12)


def _fiscal_quarter(tokens: Sequence[TimeToken], frame: TimeContext) -> Spell:
    part, whole = _nth_part(tokens, frame), _fiscal(tokens, frame)
    return lambda year: part(whole(year))


# --- Early, mid, late, quarters, halves: parts ----------------------------------------------------


def _third(tokens: Sequence[TimeToken], _frame: TimeContext) -> Part:
    return partial(portion, index=tokens[0].value, parts=3)


def _year_end(tokens: Sequence[TimeToken], _frame: TimeContext) -> Part | None:
    return (lambda days: one_day(days.last)) if tokens[-1].value == 2 else None


def _nth_part(tokens: Sequence[TimeToken], _frame: TimeContext) -> Part:
    """Read "the third quarter", "the latter half"; the last one is the last."""
    parts = 2 if tokens[-1].kind == "HALVES" else 4
    number = (take(tokens, "NTH ORD") or [parts])[0]
    if number > parts:
        raise ValueError(f"no part {number} of {parts}")
    return partial(portion, index=number - 1, parts=parts)


def _some_months(tokens: Sequence[TimeToken], _frame: TimeContext) -> Part | None:
    """Read "the first nine months", "the last three months"."""
    count, which = take(tokens, "COUNT")[0], tokens[0]
    if which.kind == "NTH" and which.value != 1:
        return None
    if which.kind == "NTH":
        return lambda days: months(days.first.year, days.first.month, count)
    return lambda days: ending(days.last, count, CalendarUnit.MONTH)


def _parts_to(tokens: Sequence[TimeToken], _frame: TimeContext) -> Part:
    """Read "Q1 to Q3"; "Q1 and Q2" only where one follows the other."""
    one, other = take(tokens, "PARTS")
    listed = any(token.kind == "AND" for token in tokens)

    def joined(days: Days) -> Days:
        first, last = one(days), other(days)
        if first.last > last.first or (listed and first.last + ONE_DAY != last.first):
            raise ValueError("the parts do not follow each other")
        return Days(first.first, last.last)

    return joined


# --- Spells made of spells ------------------------------------------------------------------------


def _part_of_spell(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    part, spell = take(tokens, "PARTS")[0], take(tokens, "SPELL")[0]
    return lambda year: part(spell(year))


def _with_weekday(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    weekday, spell = tokens[0].value, tokens[-1].value

    def checked(year: int) -> Days:
        days: Days = spell(year)
        if days.first.weekday() != weekday:
            raise ValueError("the weekday does not fit the date")
        return days

    return checked


def _period(tokens: Sequence[TimeToken]) -> Part:
    """Read "three months ended": so many units up to a last day."""
    unit = take(tokens, "UNITS")[0][0]
    count = (take(tokens, "COUNT") or [1])[0]
    return lambda days: ending(days.last, count, unit)


def _ended(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    part, spell = _period(tokens[:-1]), tokens[-1].value
    return lambda year: part(spell(year))


def _spells_to(tokens: Sequence[TimeToken], _frame: TimeContext) -> Spell:
    """Read "May to July"; a run over the new year, "November to January", ends in the year."""
    one, other = take(tokens, "SPELL")

    def run(year: int) -> Days:
        last = other(year)
        first = one(year)
        return Days((first if first.first <= last.last else one(year - 1)).first, last.last)

    return run


# --- Years put on spells and parts ----------------------------------------------------------------


def _fixed(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    value = tokens[0].value
    return TimeReading(value) if isinstance(value, Days) else TimeReading(None, reason=value)


def _iso_run(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    first, last = tokens[0].value, tokens[-1].value
    return TimeReading(Days(first.first, last.last)) if first.first <= last.last else None


def _centuries(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    numbers: list[int] = []
    tens = 0
    for token in tokens:
        if token.kind == "NUMWORD":
            tens = token.value
        elif token.kind in ("NTH", "ORD"):
            numbers.append(tens + token.value)
            tens = 0
    if not 1 <= numbers[0] <= numbers[-1] <= 30:
        return None
    return TimeReading(Days(century(numbers[0]).first, century(numbers[-1]).last))


def _in_year(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    spell, year = take(tokens, "SPELL")[0], take(tokens, "ANYYEAR")[0]
    dash = next((t for t in tokens if t.kind == "DASH"), None)
    if dash and not (tokens[0].end == dash.start and dash.end == tokens[-1].start):
        return None  # "May 15 – 2020": a new thought, not a year
    return TimeReading(spell(year), again=spell)


def _part_in_year(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    part, year = take(tokens, "PARTS")[0], take(tokens, "ANYYEAR")[0]
    return TimeReading(part(year_of(year)), again=lambda other: part(year_of(other)))


def _spell_in_relative_year(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    spell = tokens[0].value
    return reading(tokens[-1]).map(lambda days: spell(days.first.year))


def _part_of(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    return reading(tokens[-1]).map(tokens[0].value)


def _ended_point(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    return reading(tokens[-1]).map(_period(tokens[:-1]))


def _on_weekday(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Take "Tuesday, 2024-05-14" for one day; a weekday that does not fit makes it none."""
    when = _fixed(tokens[-1:], _frame)
    fits = when.days is None or when.days.first.weekday() == tokens[0].value
    return when if fits else None


_FISCAL: Final = "(?:FISCAL YR?+ (?!UMONTH | QTR | WEEK) | FINANCIAL YR)"
_TENS: Final = "(?:NUMWORD DASH?)?"  # of "twenty-first"
_PERIOD: Final = (
    "(?:[NTH ORD] DASH?)? (?:[COUNT] DASH?)? FISCAL? [UNITS] (?:DASH? PERIOD)? ENDED ON?"
)
_YEARS: Final = "[YEAR OLD]"

DATES: Final = (
    TimeRule("[WEEKDAY WKD] COMMA? [ISO NUMERIC]", "POINT", _on_weekday),
    TimeRule("ISO SLASH ISO", "POINT", _iso_run),
    TimeRule("WINTER OF? [PAIR ANYYEAR]", "POINT", _winter),
    TimeRule(
        "(?:[ISO NUMERIC DECADE] | (?<![REF NAME]) PAIR | (?<=[THE THIRD DASH]) OWNED)",
        "POINT",
        _fixed,
    ),
    TimeRule(
        f"{_TENS} [NTH ORD] (?:[AND TO DASH] THE? {_TENS} [NTH ORD])? DASH? CENT (?!BC)",
        "POINT",
        _centuries,
    ),
    TimeRule("(?<=IN) MONTH (?=DAY [PLURAL THING UNITS])", "MONTHLY", _month),
    TimeRule(f"MONTH [DAYNUM] (?:{_TO} | AND) [DAYNUM] (?![MONTH UNITS THING])", "DATED", _day),
    TimeRule("MONTH [DAYNUM] (?!THING)", "DATED", _day),
    TimeRule(f"MAYBE [DAYNUM] (?=COMMA? {_YEARS})", "DATED", _day),
    TimeRule("BETWEEN [DAYNUM] AND [DAYNUM] OF? MONTH", "DATED", _between_days),
    TimeRule("FROM? [DAYNUM] [DASH TO TILL] [DAYNUM] OF? MONTH", "DATED", _day),
    TimeRule(f"[DAYNUM] (?:DASH | UDAY? OF)? MONTH (?!DAY COMMA? {_YEARS})", "DATED", _day),
    TimeRule(f"[DAYNUM] OF? MAYBE (?=COMMA? {_YEARS})", "DATED", _day),
    TimeRule("MONTH", "MONTHLY", _month),
    TimeRule("MAYBE (?=[COMMA OF]? [ANYYEAR])", "MONTHLY", _month),
    TimeRule("[SEASON WINTER]", "YEARLY", _season),
    TimeRule("[NTH ORD] FISCAL QTR (?!ENDED)", "YEARLY", _fiscal_quarter),
    TimeRule(f"{_FISCAL} (?!ENDED)", "FYEAR", _fiscal),
    TimeRule("[NTH ORD] DASH? QTR (?!ENDED | DASH)", "QPART", _nth_part),
    TimeRule(f"[LAST FINAL] QTR (?=OF (?:{_YEARS} | {_FISCAL}))", "PART", _nth_part),
    TimeRule("[NTH LAST FINAL] DASH? HALVES", "PART", _nth_part),
    TimeRule("[NTH LAST FINAL] [COUNT] UMONTH (?=OF)", "PART", _some_months),
    TimeRule("YR DASH? EDGE", "PART", _year_end),
    TimeRule("EDGE (?=OF)", "PART", _third),
    TimeRule("THIRD", "PART", _third),
)

COMPLETIONS: Final = (
    RuleStage(
        (
            TimeRule("[WEEKDAY WKD] COMMA? DATED", "DATED", _with_weekday),
            TimeRule("FYEAR [PARTS]", "FYEAR", _part_of_spell),
            TimeRule("[PARTS] (?:DASH? TO DASH? | [DASH TILL AND]) [PARTS]", "PART", _parts_to),
        )
    ),
    RuleStage(
        (
            TimeRule(f"[PARTS] {_OF} [MONTHLY DATED]", "DATED", _part_of_spell),
            TimeRule(f"[PARTS] {_OF} YEARLY", "YEARLY", _part_of_spell),
            TimeRule(f"[PARTS] {_OF} FYEAR", "FYEAR", _part_of_spell),
        )
    ),
    RuleStage(
        (
            TimeRule(f"{_PERIOD} [SPELL]", "CLOSED", _ended),
            TimeRule(f"FROM? [DATED MONTHLY] {_TO} [DATED MONTHLY]", "DATED", _spells_to),
            TimeRule("BETWEEN [DATED MONTHLY] AND [DATED MONTHLY]", "DATED", _spells_to),
            TimeRule(f"FROM? [YEARLY FYEAR] {_TO} [YEARLY FYEAR]", "YEARLY", _spells_to),
        )
    ),
    RuleStage(
        (
            TimeRule("[SPELL] (?:COMMA | OF | DASH)? YEAR (?!THING)", "POINT", _in_year),
            TimeRule("[SPELL] (?:OF | DASH)? OLD (?!THING)", "POINT", _in_year),
            TimeRule("[SPELL] COMMA OLD (?![THING PLURAL])", "POINT", _in_year),
            TimeRule("[SPELL] SHORT", "POINT", _in_year),
            TimeRule("[SPELL] OF? RELYEAR", "POINT", _spell_in_relative_year),
            TimeRule(f"[PARTS] {_OF} [ANYYEAR] (?!THING)", "POINT", _part_in_year),
            TimeRule(f"[PARTS] {_OF} [POINT RELYEAR]", "POINT", _part_of),
            TimeRule("YEAR [PARTS]", "POINT", _part_in_year),
            TimeRule("YEAR FYEAR", "POINT", _in_year),
            TimeRule(f"{_PERIOD} POINT", "POINT", _ended_point),
        )
    ),
)
