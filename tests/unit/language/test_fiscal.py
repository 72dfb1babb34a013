from datetime import date

import pytest

from abstrag.language.calendar import FiscalYear, stated_fiscal_year


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("for the fiscal year ended May 31, 2021", 6),
        ("our fiscal year ends on the last Saturday in September", 10),
        ("the financial year ended 30 June 2019", 7),
        ("for the years ended December 31, 2019 and 2018", 1),
        ("YEAR ENDED MAY 31,", 6),
        ("the fiscal year ended October 1, 2022", 10),
        ("our fiscal year ends on the Sunday nearest the end of May", 6),
        ("for the 52 weeks ended September 24, 2022", 10),
    ],
)
def test_a_stated_year_end_says_when_fiscal_years_begin(text: str, month: int) -> None:
    assert stated_fiscal_year([text]) == FiscalYear(month)


def test_the_majority_decides() -> None:
    ours, theirs = "year ended May 31, 2021", "year ended December 31, 2020"
    assert stated_fiscal_year([ours, theirs, ours]) == FiscalYear(6)
    assert stated_fiscal_year([ours, theirs]) is None


def test_a_year_that_ends_in_january_settles_nothing() -> None:
    assert stated_fiscal_year(["the fiscal year ended January 28, 2023"]) is None


def test_a_text_that_says_nothing_settles_nothing() -> None:
    assert stated_fiscal_year(["fiscal 2021 was a good year", ""]) is None


def test_the_title_says_which_year_a_fiscal_year_is_named_for() -> None:
    texts = ["the 52 weeks ended January 28, 2023"]
    for_start, for_end = "Fourth Quarter Fiscal 2022 Results", "Fourth Quarter Fiscal 2023 Results"
    assert stated_fiscal_year(texts, for_start) == FiscalYear(2, named_for_start=True)
    assert stated_fiscal_year(texts, for_end) == FiscalYear(2)


def test_the_years_a_report_speaks_of_say_what_its_own_year_is_called() -> None:
    texts = [
        "our fiscal year ends on the Saturday nearest the end of January",
        "the six months ended July 29, 2023",
    ]
    ours = "the second quarter of fiscal 2024 and of fiscal 2023"
    theirs = "the second quarter of fiscal 2023 and of fiscal 2022"
    assert stated_fiscal_year([*texts, ours]) == FiscalYear(2)
    assert stated_fiscal_year([*texts, theirs]) == FiscalYear(2, named_for_start=True)


def test_a_fiscal_year_knows_when_it_begins() -> None:
    assert [FiscalYear().begins(2022), FiscalYear(6).begins(2022)] == [2022, 2021]
    assert FiscalYear(2, named_for_start=True).begins(2022) == 2022


def test_a_quarter_that_the_title_names_says_when_its_year_begins() -> None:
    texts = ["the quarter ended December 28, 2024"]
    assert stated_fiscal_year(texts, "First Quarter Earnings for Fiscal 2025") == FiscalYear(10)
    assert stated_fiscal_year(texts, "First Quarter Earnings") is None


@pytest.mark.parametrize(
    ("fiscal", "day", "name"),
    [
        (FiscalYear(), "2021-12-31", 2021),
        (FiscalYear(6), "2021-05-31", 2021),
        (FiscalYear(6), "2020-11-30", 2021),
        (FiscalYear(2, named_for_start=True), "2023-01-28", 2022),
        (FiscalYear(2, named_for_start=True), "2024-02-03", 2023),  # 53 weeks
        (FiscalYear(10), "2022-10-01", 2022),
        (FiscalYear(10), "2024-12-28", 2025),
    ],
)
def test_a_period_is_of_the_fiscal_year_in_which_it_ends(
    fiscal: FiscalYear, day: str, name: int
) -> None:
    assert fiscal.name_of(date.fromisoformat(day)) == name
