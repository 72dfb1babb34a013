"""Rules for times that are counted from the anchor: "this Tuesday", "two weeks ago"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from abstrag.language.calendar import (
    ONE_DAY,
    CalendarUnit,
    Days,
    around,
    ending,
    following,
    one_day,
    shift,
)
from abstrag.language.time_lexer import (
    DISCOURSE,
    NO_ANCHOR,
    VAGUE,
    Spell,
    Step,
    TimeContext,
    TimeReading,
    TimeRule,
    TimeToken,
    from_anchor,
    reading,
    take,
)

_STEPS: Final = {"LAST": -1, "THIS": 0, "NEXT": 1}
_ACCOUNTED: Final = (CalendarUnit.YEAR, CalendarUnit.QUARTER)  # what reports compare
_DISCOURSE: Final = TimeReading(None, True, DISCOURSE)
_VAGUE: Final = TimeReading(None, True, VAGUE)


def nothing(_tokens: Sequence[TimeToken], _frame: TimeContext) -> None:
    """Rule out what only looks like a time: "every Monday", "Good Friday"."""


def _today(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    steps = take(tokens, "TODAY")[0]
    if len(tokens) > 1:  # the day before yesterday, the day after tomorrow
        before = tokens[1].kind == "BEFORE"
        if steps != (-1 if before else 1):
            return _DISCOURSE
        steps *= 2
    return from_anchor(frame, lambda anchor: around(anchor, CalendarUnit.DAY, steps))


def _hours(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    last = tokens[0].kind == "LAST"
    if last and tokens[1].value != "night":
        return None
    return from_anchor(frame, lambda anchor: around(anchor, CalendarUnit.DAY, -1 if last else 0))


def _unit(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "last quarter" as the calendar quarter before the anchor's."""
    (unit, plural), steps = tokens[1].value, _STEPS[tokens[0].kind]
    if plural or unit is CalendarUnit.DAY:
        return None
    return from_anchor(frame, lambda anchor: around(anchor, unit, steps))


def _ago(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "two years ago" as a calendar year: an expression is as coarse as its unit."""
    unit, count = take(tokens, "UNITS")[0][0], take(tokens, "COUNT")
    if take(tokens, "VAGUE"):
        return _VAGUE
    if unit in (CalendarUnit.CENTURY, CalendarUnit.WEEKEND):
        return None
    back = count[0] if tokens[-1].kind == "AGO" else -count[0]
    grain = CalendarUnit.YEAR if unit is CalendarUnit.DECADE else unit
    return from_anchor(frame, lambda anchor: around(shift(anchor, -back, unit), grain))


def _window(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "the past three years" as the three years that end with the anchor."""
    unit, plural = take(tokens, "UNITS")[0]
    counts = take(tokens, "COUNT")
    if unit is CalendarUnit.WEEKEND or (plural and len(tokens) == 2):
        return None
    if take(tokens, "VAGUE"):
        return _VAGUE
    count = counts[0] if counts else 1
    if tokens[0].kind in ("LAST", "PAST"):
        return from_anchor(frame, lambda anchor: ending(anchor, count, unit))
    return from_anchor(frame, lambda anchor: following(anchor, count, unit))


def _told(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading | None:
    """Leave open what another sentence settles: "the previous year".

    "The following day" is counted from the time told before. Of "the prior year" a report may speak
    in every sentence, and count it from its own.
    """
    unit, plural = take(tokens, "UNITS")[0]
    counted = take(tokens, "COUNT VAGUE")
    if unit is CalendarUnit.WEEKEND or (plural and not counted):
        return None
    way = next((t.value for t in tokens if t.kind == "PRIOR"), 1)
    if counted or tokens[0].kind == "THAT" or (way < 1 and unit in _ACCOUNTED):
        return _DISCOURSE
    return TimeReading(None, True, DISCOURSE, step=counted_from(way, unit))


def counted_from(steps: int, unit: CalendarUnit) -> Step:
    """Return what lies so many units from another time; from a day, days and weeks are days."""

    def step(told: Days) -> Days:
        start = told.first if steps < 0 else told.last
        exact = told.first == told.last and unit in (CalendarUnit.DAY, CalendarUnit.WEEK)
        grain = CalendarUnit.YEAR if unit is CalendarUnit.DECADE else unit
        there = shift(start, steps, unit)
        return one_day(there) if exact else around(there, grain)

    return step


def _told_unit(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    """Read "the day before," and "the next morning" against the time told before."""
    way = next((t.value for t in tokens if t.kind == "PRIOR"), 1)
    if tokens[-1].kind in ("BEFORE", "AFTER"):
        way = -1 if tokens[-1].kind == "BEFORE" else 1
    unit = next((u for u, _ in take(tokens, "UNITS")), CalendarUnit.DAY)
    return TimeReading(None, True, DISCOURSE, step=counted_from(way, unit))


def _told_weekday(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    """Read "the following Friday" against the time told before."""
    weekday = take(tokens, "WEEKDAY")[0]
    way = next((t.value for t in tokens if t.kind == "PRIOR"), 1)

    def step(told: Days) -> Days:
        if way < 0:
            return one_day(_on_or_before(told.first - ONE_DAY, weekday))
        return one_day(_on_or_before(told.last + 7 * ONE_DAY, weekday))

    return TimeReading(None, True, DISCOURSE, step=step)


def _earlier(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    """Read "two weeks later" against the time told before."""
    if take(tokens, "VAGUE"):
        return _VAGUE
    way = tokens[-1].value
    if fortnight := take(tokens, "FORTNIGHT"):
        return TimeReading(
            None, True, DISCOURSE, step=counted_from(way * fortnight[0], CalendarUnit.WEEK)
        )
    unit, count = take(tokens, "UNITS")[0][0], take(tokens, "COUNT")[0]
    if unit in (CalendarUnit.WEEKEND, CalendarUnit.CENTURY) or (way < 0 and unit in _ACCOUNTED):
        return _DISCOURSE
    return TimeReading(None, True, DISCOURSE, step=counted_from(way * count, unit))


def _fortnight(_tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    def back(anchor: date) -> Days:
        return around(shift(anchor, -2, CalendarUnit.WEEK), CalendarUnit.WEEK)

    return from_anchor(frame, back)


def _offset(tokens: Sequence[TimeToken], _frame: TimeContext) -> tuple[int | None, CalendarUnit]:
    """Keep a distance and its unit; a distance of None is not exact."""
    unit: CalendarUnit = take(tokens, "UNITS")[0][0]
    count = take(tokens, "COUNT")
    forward = tokens[-1].kind == "AFTER"
    if take(tokens, "VAGUE"):
        return None, unit
    return (count[0] if forward else -count[0]), unit


def told_elsewhere(_tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    """Leave open what "a year earlier" is counted from, and which year's "first quarter" it is."""
    return _DISCOURSE


def offset_from(tokens: Sequence[TimeToken], _frame: TimeContext) -> TimeReading:
    """Read "two years after 2010" and "three days before May 15, 2024"; else leave it open."""
    (count, unit), start = tokens[0].value, reading(tokens[-1])
    if start.days is None:
        return start
    if count is None:
        return TimeReading(None, start.relative, VAGUE)
    year = start.days.whole_year
    if year is not None and unit in (CalendarUnit.YEAR, CalendarUnit.DECADE):
        return TimeReading(
            around(date(year, 1, 1), CalendarUnit.YEAR, count * _YEARS[unit]), start.relative
        )
    if start.days.first == start.days.last and unit in (CalendarUnit.DAY, CalendarUnit.WEEK):
        return TimeReading(one_day(shift(start.days.first, count, unit)), start.relative)
    return TimeReading(None, start.relative, VAGUE)


_YEARS: Final = {CalendarUnit.YEAR: 1, CalendarUnit.DECADE: 10}


def _weekday(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    """Read a weekday with "this", "last" or "next" in the anchor's week or its neighbour.

    Many mean by "last Friday" simply the latest one, so that is another reading.
    """
    weekday = take(tokens, "WEEKDAY")[0]
    steps = next(_STEPS[t.kind] for t in tokens if t.kind in _STEPS)
    found = from_anchor(
        frame,
        lambda anchor: one_day(around(anchor, CalendarUnit.WEEK, steps).first + weekday * ONE_DAY),
    )
    if frame.anchor is None or not steps or any(t.kind == "WEEK" for t in tokens):
        return found
    near = frame.anchor - ONE_DAY if steps < 0 else frame.anchor + 7 * ONE_DAY
    nearest = one_day(_on_or_before(near, weekday))
    return found._replace(other=nearest) if nearest != found.days else found


def _nearest_weekday(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    """Read "this past Friday" strictly before the anchor, "coming Friday" strictly after."""
    weekday = take(tokens, "WEEKDAY")[0]
    if any(t.kind == "COMING" for t in tokens):
        return from_anchor(frame, lambda a: one_day(_on_or_before(a + 7 * ONE_DAY, weekday)))
    return from_anchor(frame, lambda a: one_day(_on_or_before(a - ONE_DAY, weekday)))


def bare_weekday(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    """Read "on Tuesday" as the latest Tuesday that is not after the anchor."""
    return from_anchor(frame, lambda a: one_day(_on_or_before(a, tokens[-1].value)))


def _before_last(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "the week before last", "the Tuesday before last" and "the night before last"."""
    if weekday := take(tokens, "WEEKDAY"):
        return from_anchor(
            frame, lambda a: one_day(_on_or_before(a - ONE_DAY, weekday[0]) - 7 * ONE_DAY)
        )
    if hours := take(tokens, "HOURS"):
        found = from_anchor(frame, lambda a: around(a, CalendarUnit.DAY, -2))
        return found if hours[0] == "night" else None
    unit = take(tokens, "UNITS")[0][0]
    return from_anchor(frame, lambda a: around(a, unit, -2))


def _weekdays_ago(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    """Read "two Sundays ago" and "Monday two weeks ago"."""
    count = take(tokens, "COUNT")[0]
    if take(tokens, "WEEK"):
        weekday = take(tokens, "WEEKDAY")[0]
        return from_anchor(
            frame,
            lambda a: one_day(around(a, CalendarUnit.WEEK, -count).first + weekday * ONE_DAY),
        )
    weekday = take(tokens, "WEEKDAYS")[0]
    return from_anchor(
        frame,
        lambda a: one_day(_on_or_before(a - ONE_DAY, weekday) - 7 * (count - 1) * ONE_DAY),
    )


def _half_year_ago(_tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    return from_anchor(
        frame, lambda a: around(shift(a, -6, CalendarUnit.MONTH), CalendarUnit.MONTH)
    )


def _nth_weekday(tokens: Sequence[TimeToken], frame: TimeContext) -> Spell | TimeReading:
    """Read "the last Sunday of July" in some year, or that "of this month"."""
    weekday = take(tokens, "WEEKDAY")[0]
    nth = next(iter(take(tokens, "NTH")), None)

    def within(month: Days) -> Days:
        if nth is None:
            return one_day(_on_or_before(month.last, weekday))
        day = _on_or_before(month.first + 6 * ONE_DAY, weekday) + 7 * (nth - 1) * ONE_DAY
        if day > month.last:
            raise ValueError(f"no weekday {nth} in the month")
        return one_day(day)

    if named := take(tokens, "MONTH"):
        return lambda year: within(around(date(year, named[0], 1), CalendarUnit.MONTH))
    steps = next(_STEPS[t.kind] for t in tokens[1:] if t.kind in _STEPS)
    return from_anchor(frame, lambda a: within(around(a, CalendarUnit.MONTH, steps)))


def _day_of_month(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading:
    """Read "the 3rd of last month", and "on the 3rd" as the latest that is not after the anchor."""
    number = take(tokens, "ORD")[0]
    steps = next((_STEPS[t.kind] for t in tokens if t.kind in _STEPS), None)

    def there(anchor: date) -> Days:
        back = 0 if anchor.day >= number else -1
        month = around(anchor, CalendarUnit.MONTH, back if steps is None else steps)
        return one_day(month.first.replace(day=number))

    return from_anchor(frame, there)


def _on_or_before(day: date, weekday: int) -> date:
    return day - (day.weekday() - weekday) % 7 * ONE_DAY


def spell_alone(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "May 15" in the anchor's year or the year before, whichever is nearer the anchor."""
    spell = tokens[-1].value
    if frame.anchor is None:
        return TimeReading(None, True, NO_ANCHOR)
    anchor = frame.anchor
    found = _valid(spell, (anchor.year, anchor.year - 1))
    return TimeReading(min(found, key=lambda d: d.distance(anchor)), True) if found else None


def spell_near(tokens: Sequence[TimeToken], frame: TimeContext) -> TimeReading | None:
    """Read "last May" as the latest that is over, "next May" as the first that has not begun."""
    steps, spell = _STEPS[tokens[0].kind], tokens[-1].value
    if frame.anchor is None:
        return TimeReading(None, True, NO_ANCHOR)
    anchor = frame.anchor
    years = range(anchor.year - 4, anchor.year + 5)
    found = _valid(spell, years if steps else (anchor.year, anchor.year - 1, anchor.year + 1))
    if steps < 0:
        found = [d for d in reversed(found) if d.last < anchor]
    elif steps > 0:
        found = [d for d in found if d.first > anchor]
    else:
        found = [d for d in found if d.distance(anchor) == 0] or found
    return TimeReading(found[0], True) if found else None


def _valid(spell: Spell, years: Sequence[int]) -> list[Days]:
    """Return what a time of year is in those years that have it: February 29 is in few."""
    found: list[Days] = []
    for year in years:
        try:
            found.append(spell(year))
        except ValueError:
            continue
    return found


RELATIVE: Final = (
    TimeRule("EVERY [WEEKDAY UNITS SEASON MONTH]", "OTHER", nothing),
    TimeRule("[FEAST ONE] WEEKDAY", "OTHER", nothing),
    TimeRule("WEEKDAY [TO DASH TILL] WEEKDAY", "OTHER", nothing),
    TimeRule("[NTH LAST] WEEKDAY [OF IN] [MONTH MAYBE]", "DATED", _nth_weekday),
    TimeRule("[NTH LAST] WEEKDAY [OF IN] [LAST THIS NEXT] UMONTH", "POINT", _nth_weekday),
    TimeRule("ORD OF [LAST THIS NEXT] UMONTH", "POINT", _day_of_month),
    TimeRule("(?<=ON THE) ORD (?=[COMMA DOT ONE THE POSS STOP CLOSE] | $)", "POINT", _day_of_month),
    TimeRule("(?<=THE) [WEEK UMONTH YR WEEKDAY HOURS] BEFORE LAST", "POINT", _before_last),
    TimeRule("[COUNT] WEEKDAYS AGO", "POINT", _weekdays_ago),
    TimeRule("WEEKDAY COMMA? [COUNT] WEEK AGO", "POINT", _weekdays_ago),
    TimeRule("HALVES ONE YR AGO", "POINT", _half_year_ago),
    TimeRule("(?<=THE) LAST WEEKDAY", "OTHER", nothing),
    TimeRule("(?<=THE) TODAY", "OTHER", nothing),
    TimeRule("UDAY [BEFORE AFTER] TODAY", "POINT", _today),
    TimeRule("TODAY", "POINT", _today),
    TimeRule("[THIS LAST] HOURS", "POINT", _hours),
    TimeRule("(?:[COUNT] | ONE? VAGUE OF?) [UNITS] (?:AGO | FROM NOW)", "POINT", _ago),
    TimeRule("ONE FORTNIGHT AGO", "POINT", _fortnight),
    TimeRule("ONE FORTNIGHT EARLIER", "POINT", _earlier),
    TimeRule("(?:[COUNT] | ONE? VAGUE OF?) [UNITS] EARLIER", "POINT", _earlier),
    TimeRule(
        "(?<=THE) [UDAY WEEK UMONTH YR HOURS] [BEFORE AFTER] (?=COMMA | $)", "POINT", _told_unit
    ),
    TimeRule("(?<=THE) NEXT HOURS", "POINT", _told_unit),
    TimeRule("(?<=THE) PRIOR HOURS", "POINT", _told_unit),
    TimeRule("(?<=THE) [NEXT PRIOR] WEEKDAY", "POINT", _told_weekday),
    TimeRule("(?:[COUNT] | ONE? VAGUE OF?) [UNITS] [BEFORE AFTER]", "OFFSET", _offset),
    TimeRule("(?:(?<=THE) NEXT | PRIOR) [COUNT VAGUE] [UNITS] (?!OF | ENDED)", "POINT", _told),
    TimeRule("[LAST PAST NEXT COMING] [COUNT VAGUE] [UNITS] (?!OF | ENDED)", "POINT", _window),
    TimeRule("(?<=THE) LAST [UNITS] (?!OF | ENDED)", "POINT", _window),
    TimeRule("[PAST COMING] [UNITS] (?!OF | ENDED)", "POINT", _window),
    TimeRule("(?<=THE) NEXT [UNITS] (?!OF)", "POINT", _told),
    TimeRule("[PRIOR THAT] [UNITS] (?!OF | ENDED | DASH)", "POINT", _told),
    TimeRule("[LAST THIS NEXT] YR (?!OF | ENDED)", "RELYEAR", _unit),
    TimeRule("[LAST THIS NEXT] [UNITS] (?!OF | ENDED)", "POINT", _unit),
    TimeRule("WEEKDAY OF? [LAST THIS NEXT] WEEK", "POINT", _weekday),
    TimeRule("THIS? [PAST COMING] WEEKDAY", "POINT", _nearest_weekday),
    TimeRule("[LAST THIS NEXT] WEEKDAY (?!COMMA? [MONTH DAY])", "POINT", _weekday),
)
