from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.header import find_date, parse_date


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-15",
        "2024-05-15T10:00:00Z",
        "2024-05-15 10:00",
        "2024/05/15",
        "20240515",
        "May 15, 2024",
        "May 15th 2024",
        "15 May 2024",
        "15th of May, 2024",
        "Wed, 15 May 2024 10:00:00 +0000",
        "15-May-2024",
        "15/05/2024",
        "05/15/2024",
        "15.05.2024",
    ],
)
def test_a_whole_date_becomes_an_iso_date(text: str) -> None:
    assert parse_date(text) == "2024-05-15"


@pytest.mark.parametrize(
    "text",
    [
        "05/06/2024",
        "05.06.2024",
        "May 2024",
        "2024",
        "2024-13-01",
        "31/02/2024",
        "soon",
        "",
        "1.2.3",
    ],
)
def test_what_is_no_whole_date_or_ambiguous_is_none(text: str) -> None:
    assert parse_date(text) is None


def test_equal_day_and_month_are_not_ambiguous() -> None:
    assert parse_date("05/05/2024") == "2024-05-05"


def test_the_first_date_of_a_text_is_found_where_it_stands() -> None:
    text = "Published on 3 March 2021, updated 4 March 2021"
    found = find_date(text)
    assert found is not None
    assert (found.iso, text[found.start : found.end]) == ("2021-03-03", "3 March 2021")


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_every_iso_date_is_its_own_date(day: date) -> None:
    assert parse_date(day.isoformat()) == day.isoformat()


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = parse_date(text)
    assert found is None or date.fromisoformat(found).isoformat() == found
