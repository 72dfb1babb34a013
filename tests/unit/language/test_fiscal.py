import pytest

from abstrag.language.fiscal import stated_fiscal_start


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("for the fiscal year ended May 31, 2021", 6),
        ("our fiscal year ends on the last Saturday in September", 10),
        ("the financial year ended 30 June 2019", 7),
        ("for the years ended December 31, 2019 and 2018", 1),
        ("YEAR ENDED MAY 31,", 6),
        ("the fiscal year ended October 1, 2022", 10),
    ],
)
def test_a_stated_year_end_says_when_fiscal_years_begin(text: str, month: int) -> None:
    assert stated_fiscal_start([text]) == month


def test_the_majority_decides() -> None:
    ours, theirs = "year ended May 31, 2021", "year ended December 31, 2020"
    assert stated_fiscal_start([ours, theirs, ours]) == 6
    assert stated_fiscal_start([ours, theirs]) is None


def test_a_year_that_ends_in_january_settles_nothing() -> None:
    assert stated_fiscal_start(["the fiscal year ended January 28, 2023"]) is None


def test_a_text_that_says_nothing_settles_nothing() -> None:
    assert stated_fiscal_start(["fiscal 2021 was a good year", ""]) is None
