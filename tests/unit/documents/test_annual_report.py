"""Covers of annual reports that are no form: the company, the year, and what is none."""

from abstrag.documents.header import ANNUAL, INTERIM, Cover, cover_of
from abstrag.documents.load import load_bytes
from abstrag.indexing.genre import detect_genre
from abstrag.language.calendar import stated_fiscal_year
from abstrag.model.document import Genre

BODY = """

The directors of Harbour Tools Limited present their report for the year ended 30 June 2022.
Harbour sells tools. Ms Hill also serves Grain Stores Limited. Harbour Tools Limited grew, and
Harbour will grow in FY23. Deloitte Touche Limited audited Harbour for the year ended 30 June 2022.
For the year ended 30 June 2021 Harbour lost money.
"""


def read(front: str, body: str = BODY) -> Cover | None:
    document = load_bytes((front + body).encode(), name="report.txt")
    return cover_of(document.text, document.blocks)


def cover(front: str, body: str = BODY) -> Cover:
    found = read(front, body)
    assert found is not None
    return found


def test_a_bare_cover_gets_its_company_and_year_from_the_report() -> None:
    found = cover("ANNUAL REPORT\n\n2022")
    assert (found.company, found.form) == ("Harbour Tools Limited", ANNUAL)
    assert (found.period, found.period_end) == ("year ended 30 June 2022", "2022-06-30")
    assert found.title == "Harbour Tools Limited, annual report for the year ended 30 June 2022"


def test_the_company_on_the_cover_comes_first() -> None:
    found = cover("Mill and Co plc\n\nAnnual Report and Accounts 2022")
    assert found.company == "Mill and Co plc"


def test_the_year_on_the_cover_decides_which_one_is_reported() -> None:
    assert cover("Annual Report 2021").period_end == "2021-06-30"


def test_a_half_year_is_told_from_a_year() -> None:
    assert cover("Interim Report").form == INTERIM


def test_a_year_may_be_told_by_its_first_and_last_day() -> None:
    body = "\n\nMill AG reports on 1 January to 31 December 2022. Mill AG grew. Mill AG thanks."
    found = cover("Annual Report", body)
    assert (found.company, found.period_end) == ("Mill AG", "2022-12-31")


def test_a_text_that_only_mentions_reports_is_none() -> None:
    assert (
        read("We read one hundred annual reports of mills and what they say of grain. " * 20)
        is None
    )
    assert read("Annual Report 2022", "\n\nNothing here says when a year was over.") is None


def test_an_annual_report_is_of_the_genre_report() -> None:
    document = load_bytes(f"ANNUAL REPORT{BODY}".encode(), name="report.txt")
    assert detect_genre(document) is Genre.REPORT


def test_fiscal_years_are_counted_as_the_report_does() -> None:
    year = stated_fiscal_year([BODY])
    assert year is not None
    assert (year.start, year.begins(2023)) == (7, 2022)
