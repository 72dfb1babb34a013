from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.language.calendar import (
    CalendarUnit,
    Days,
    around,
    century,
    days_of,
    ending,
    following,
    iso,
    label,
    months,
    parse_iso,
    portion,
    shift,
    year_of,
)
from abstrag.model.term import Interval

DAY = date(2024, 5, 15)


@pytest.mark.parametrize(
    ("text", "shortest", "name"),
    [
        ("2024-05-14", "2024-05-14", "14 May 2024"),
        ("2024-05", "2024-05", "May 2024"),
        ("2024", "2024", "2024"),
        ("2015-01/2015-03", "2015-01/2015-03", "Q1 2015"),
        ("2020-07/2020-12", "2020-07/2020-12", "H2 2020"),
        ("2010/2015", "2010/2015", "2010–2015"),
        ("1990/1999", "1990/1999", "1990s"),
        ("1801/1900", "1801/1900", "19th century"),
        ("2001/2100", "2001/2100", "21st century"),
        ("1001/1100", "1001/1100", "11th century"),
        ("2020-05/2020-07", "2020-05/2020-07", "May 2020 – July 2020"),
        ("2021-03-03/2021-03-07", "2021-03-03/2021-03-07", "3 March 2021 – 7 March 2021"),
        ("2024-01-01/2024-12-31", "2024", "2024"),
        ("2015-01-01/9999-12-31", "2015/..", "since 2015"),
        ("0001-01-01/2009-12-31", "../2009", "until 2009"),
        ("0001-01-01/2010-02-28", "../2010-02", "until February 2010"),
        ("2020-04-02/9999-12-31", "2020-04-02/..", "since 2 April 2020"),
    ],
)
def test_days_are_read_and_written_in_iso_and_for_people(
    text: str, shortest: str, name: str
) -> None:
    days = parse_iso(text)
    assert iso(days) == shortest
    assert label(days) == name


@pytest.mark.parametrize("text", ["", "24", "2024-5", "2024-02-30", "2024/2023", "1/2/3", "x"])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_iso(text)


@pytest.mark.parametrize(
    ("unit", "steps", "expected"),
    [
        (CalendarUnit.DAY, -1, "2024-05-14"),
        (CalendarUnit.WEEK, 0, "2024-05-13/2024-05-19"),
        (CalendarUnit.WEEKEND, 0, "2024-05-18/2024-05-19"),
        (CalendarUnit.MONTH, 8, "2025-01"),
        (CalendarUnit.QUARTER, -2, "2023-10/2023-12"),
        (CalendarUnit.YEAR, 1, "2025"),
        (CalendarUnit.DECADE, -1, "2010/2019"),
        (CalendarUnit.CENTURY, 0, "2001/2100"),
    ],
)
def test_units_are_counted_from_the_one_that_holds_the_day(
    unit: CalendarUnit, steps: int, expected: str
) -> None:
    assert around(DAY, unit, steps) == parse_iso(expected)


def test_a_century_begins_with_its_one() -> None:
    assert century(20) == parse_iso("1901/2000")
    assert around(date(2000, 6, 1), CalendarUnit.CENTURY) == century(20)


def test_shifting_to_a_shorter_month_ends_with_it() -> None:
    assert shift(date(2024, 1, 31), 1, CalendarUnit.MONTH) == date(2024, 2, 29)
    assert shift(date(2024, 2, 29), 1, CalendarUnit.YEAR) == date(2025, 2, 28)


def test_periods_that_end_with_a_month_begin_with_one() -> None:
    assert ending(date(2023, 6, 30), 3, CalendarUnit.MONTH) == parse_iso("2023-04/2023-06")
    assert ending(date(2024, 2, 29), 1, CalendarUnit.YEAR) == parse_iso("2023-03/2024-02")
    assert following(DAY, 2, CalendarUnit.WEEK) == parse_iso("2024-05-16/2024-05-29")


@pytest.mark.parametrize(
    ("whole", "parts", "expected"),
    [
        ("2023", 3, ["2023-01/2023-04", "2023-05/2023-08", "2023-09/2023-12"]),
        ("1990/1999", 3, ["1990/1992", "1993/1996", "1997/1999"]),
        ("2023-06", 3, ["2023-06-01/2023-06-10", "2023-06-11/2023-06-20", "2023-06-21/2023-06-30"]),
        ("1801/1900", 2, ["1801/1850", "1851/1900"]),
        ("2024-05-15", 3, ["2024-05-15"] * 3),
    ],
)
def test_portions_are_cut_at_whole_units(whole: str, parts: int, expected: list[str]) -> None:
    days = parse_iso(whole)
    assert [iso(portion(days, i, parts)) for i in range(parts)] == expected


def test_the_calendar_ends_without_a_fall() -> None:
    assert months(9999, 12) == Days(date(9999, 12, 1), date.max)
    assert year_of(9999).last == date.max


@given(st.dates(), st.dates(), st.sampled_from([2, 3, 4]))
def test_portions_cover_the_whole_without_gap_or_overlap(a: date, b: date, parts: int) -> None:
    days = Days(min(a, b), min(max(a, b), date(9999, 12, 30)))
    if days.first > days.last or (days.last - days.first).days < parts:
        return
    cut = [portion(days, i, parts) for i in range(parts)]
    assert cut[0].first == days.first
    assert cut[-1].last == days.last
    for one, other in pairwise(cut):
        assert one.last + timedelta(days=1) == other.first
        assert one.first <= one.last


@given(st.dates(), st.dates())
def test_notation_loses_nothing(a: date, b: date) -> None:
    days = Days(min(a, b), max(a, b))
    assert days_of(days.interval) == days
    if days.first > date.min and days.last < date.max:
        assert parse_iso(iso(days)) == days


@given(
    st.dates(date(1600, 1, 1), date(2400, 1, 1)), st.sampled_from(CalendarUnit), st.integers(-9, 9)
)
def test_a_unit_holds_its_day_and_its_neighbour_follows_it(
    day: date, unit: CalendarUnit, steps: int
) -> None:
    here, there = around(day, unit, steps), around(day, unit, steps + 1)
    assert here.last < there.first
    if unit is not CalendarUnit.WEEKEND:
        assert around(day, unit).distance(day) == 0
        assert here.last + timedelta(days=1) == there.first
        assert around(here.first, unit) == here


def test_only_a_calendar_year_is_a_whole_year() -> None:
    assert parse_iso("2024").whole_year == 2024
    assert parse_iso("2023-10/2024-09").whole_year is None


def test_an_interval_is_both_ends_included() -> None:
    assert parse_iso("2024-02").interval == Interval("2024-02-01", "2024-02-29")
