import time
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.errors import InputError
from abstrag.language.times import TimeExpression, find_times
from abstrag.model.term import Interval
from tests.unit.language.time_examples import (
    ABSOLUTE,
    ANCHOR,
    NOT_TIMES,
    RELATIVE,
    UNRESOLVED,
)


def only(text: str, anchor: date | None = ANCHOR) -> TimeExpression:
    (found,) = find_times(text, anchor=anchor)
    return found


@pytest.mark.parametrize(("text", "surface", "start", "end"), ABSOLUTE)
def test_an_absolute_expression_means_its_days_without_an_anchor(
    text: str, surface: str, start: str, end: str
) -> None:
    found = only(text, anchor=None)
    assert text[found.start : found.end] == surface
    assert found.interval == Interval(start, end or start)
    assert not found.relative
    assert found.reason == ""


@pytest.mark.parametrize(("text", "surface", "start", "end"), RELATIVE)
def test_a_relative_expression_is_resolved_against_the_anchor(
    text: str, surface: str, start: str, end: str
) -> None:
    found = only(text)
    assert text[found.start : found.end] == surface
    assert found.interval == Interval(start, end or start)
    assert found.relative


@pytest.mark.parametrize(("text", "surface"), [row[:2] for row in RELATIVE])
def test_a_relative_expression_without_an_anchor_stays_open(text: str, surface: str) -> None:
    found = only(text, anchor=None)
    assert text[found.start : found.end] == surface
    assert found.relative
    assert (found.interval, found.reason) == (None, "no anchor")


@pytest.mark.parametrize(("text", "surface", "reason"), UNRESOLVED)
def test_what_cannot_be_settled_says_why(text: str, surface: str, reason: str) -> None:
    found = only(text)
    assert text[found.start : found.end] == surface
    assert (found.interval, found.reason) == (None, reason)


@pytest.mark.parametrize("text", NOT_TIMES)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert find_times(text, anchor=ANCHOR) == ()


def intervals(text: str, *, fiscal_year_start: int = 1) -> list[tuple[str, str]]:
    found = find_times(text, anchor=ANCHOR, fiscal_year_start=fiscal_year_start)
    return [(e.interval.start, e.interval.end) for e in found if e.interval]


def test_a_list_of_years_carries_the_date_before_it() -> None:
    assert intervals("as of December 31, 2019 and 2018") == [
        ("2019-12-31", "2019-12-31"),
        ("2018-12-31", "2018-12-31"),
    ]
    assert intervals("fiscal years ended September 30, 2021, 2020 and 2019") == [
        ("2020-10-01", "2021-09-30"),
        ("2019-10-01", "2020-09-30"),
        ("2018-10-01", "2019-09-30"),
    ]


def test_a_year_is_shared_by_the_months_before_it() -> None:
    assert intervals("during July and August 1988") == [
        ("1988-07-01", "1988-07-31"),
        ("1988-08-01", "1988-08-31"),
    ]


def test_a_year_that_qualifies_a_noun_keeps_to_itself() -> None:
    assert intervals("before the 2010 elections") == [("2010-01-01", "2010-12-31")]


def test_an_unmatched_title_and_a_cited_year_differ() -> None:
    assert intervals("the Paris Agreement (2015)") == [("2015-01-01", "2015-12-31")]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("fiscal 2024", "2023-10-01", "2024-09-30"),
        ("Q1 FY2024", "2023-10-01", "2023-12-31"),
        ("first quarter of fiscal 2024", "2023-10-01", "2023-12-31"),
        ("third fiscal quarter of 2024", "2024-04-01", "2024-06-30"),
        ("this fiscal year", "2023-10-01", "2024-09-30"),
        ("last fiscal year", "2022-10-01", "2023-09-30"),
        ("Q1 2024", "2024-01-01", "2024-03-31"),
    ],
)
def test_fiscal_years_begin_where_they_are_said_to(text: str, start: str, end: str) -> None:
    assert intervals(text, fiscal_year_start=10) == [(start, end)]


def test_the_users_own_anchors_win_over_the_grammar() -> None:
    mine = {"FY2024": "2023-10-01/2024-09-30", "the  merger": "2019-03-01", "The War": "1939/1945"}
    text = "In FY2024, since The Merger and after the war."
    found = find_times(text, anchors=mine)
    assert [(text[e.start : e.end], e.interval) for e in found] == [
        ("FY2024", Interval("2023-10-01", "2024-09-30")),
        ("since The Merger", Interval("2019-03-01", "9999-12-31")),
        ("after the war", Interval("1946-01-01", "9999-12-31")),
    ]


@pytest.mark.parametrize("value", ["soon", "2024-13-01", "2024-05-02/2024-05-01", "a/b/c"])
def test_an_anchor_that_is_no_interval_is_refused_by_name(value: str) -> None:
    with pytest.raises(InputError, match="'the merger'"):
        find_times("in 2024", anchors={"the merger": value})


def test_a_fiscal_year_cannot_begin_in_month_thirteen() -> None:
    with pytest.raises(InputError, match="13"):
        find_times("fiscal 2024", fiscal_year_start=13)


def test_a_date_the_calendar_does_not_reach_is_no_time() -> None:
    assert find_times("999 decades ago", anchor=ANCHOR) == ()


def test_a_long_list_takes_linear_time() -> None:
    began = time.process_time()
    assert len(find_times("in 2019, " * 3_000)) == 3_000
    assert time.process_time() - began < 5


# --- Laws -----------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    "in on since until before after from to between and of the a this last next past early mid "
    "late end May march Sept. 15 31 2 30th 2019 2020 1850 1990s Q1 H2 FY FY23 fiscal year years "
    "ended quarter month week days ago later Tuesday yesterday today century 19th twenty first "
    "second half summer winter , . - – / ( ) | 2024-05-15 05/06/2024 2018/19 two few three Smith "
    "et al. patients every Friday present current prior previous decade weekend '15 % $".split(" ")
)
PHRASES = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "  "])), max_size=14).map(
    lambda parts: "".join(word + space for word, space in parts)
)
TEXTS = st.one_of(PHRASES, st.text(max_size=60))
DAYS = st.dates(date(1600, 1, 1), date(2300, 12, 31))


@settings(deadline=None)  # the first call compiles the grammar
@given(TEXTS, st.one_of(st.none(), DAYS), st.integers(1, 12))
def test_expressions_are_sorted_disjoint_pieces_of_the_text(
    text: str, anchor: date | None, fiscal: int
) -> None:
    found = find_times(text, anchor=anchor, fiscal_year_start=fiscal)
    ends = [0, *(e.end for e in found)]
    for e, before in zip(found, ends, strict=False):
        assert before <= e.start < e.end <= len(text)
        assert text[e.start : e.end].strip() == text[e.start : e.end]
        assert (e.interval is None) == bool(e.reason)
        if e.interval:
            first, last = map(date.fromisoformat, (e.interval.start, e.interval.end))
            assert first <= last
    assert found == find_times(text, anchor=anchor, fiscal_year_start=fiscal)


@settings(deadline=None)  # the first call compiles the grammar
@given(TEXTS)
def test_nothing_relative_is_resolved_without_an_anchor(text: str) -> None:
    assert all(e.interval is None for e in find_times(text) if e.relative)


@settings(deadline=None)  # the first call compiles the grammar
@given(TEXTS, DAYS)
def test_an_anchor_does_not_change_what_is_absolute(text: str, anchor: date) -> None:
    without, with_one = find_times(text), find_times(text, anchor=anchor)
    assert [e for e in without if not e.relative] == [e for e in with_one if not e.relative]
    assert {(e.start, e.end) for e in with_one} <= {(e.start, e.end) for e in without}


@settings(deadline=None)  # the first call compiles the grammar
@given(DAYS)
def test_the_weekday_rules_agree_with_each_other(anchor: date) -> None:
    def day(text: str) -> date:
        interval = only(text, anchor).interval
        assert interval is not None
        return date.fromisoformat(interval.start)

    for name in ("Monday", "Thursday", "Sunday"):
        assert day(f"next {name}") - day(f"this {name}") == timedelta(days=7)
        assert day(f"this {name}") - day(f"last {name}") == timedelta(days=7)
        assert abs((day(f"this {name}") - anchor).days) < 7
        assert timedelta(0) <= anchor - day(f"on {name}") < timedelta(days=7)
        assert anchor - timedelta(days=7) <= day(f"this past {name}") < anchor


def test_an_old_year_after_another_is_a_year_too_unless_it_counts_something() -> None:
    def years(text: str) -> list[str]:
        return [text[found.start : found.end] for found in find_times(text)]

    assert years("revolutions broke out in 1830 and 1848") == ["1830", "1848"]
    assert years("it had 40 mice in 1990 and 1200 sick mice later") == ["1990"]
