"""Covers of filings: who files, which form, for which period, signed when."""

import pytest

from abstrag.documents.header import read_cover, signing_date

ANNUAL = [
    "UNITED STATES",
    "SECURITIES AND EXCHANGE COMMISSION",
    "Washington, D.C. 20549",
    "FORM 10-K",
    "(Mark One)",
    "☒ ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
    "For the fiscal year ended December 31, 2018",
    "Commission file number 1-0000",
    "HARBOUR TOOLS, INC.",
    "(Exact name of registrant as specified in its charter)",
    "Delaware 12-3456789",
]


def test_a_form_names_its_filer_form_and_period() -> None:
    cover = read_cover(ANNUAL)
    assert cover is not None
    assert (cover.company, cover.form) == ("HARBOUR TOOLS, INC.", "10-K")
    assert cover.period_end == "2018-12-31"
    assert cover.title == (
        "HARBOUR TOOLS, INC., Form 10-K for the fiscal year ended December 31, 2018"
    )


def test_a_filer_without_its_label_stands_below_the_file_number() -> None:
    cover = read_cover([line for line in ANNUAL if "Exact name" not in line])
    assert cover is not None
    assert cover.company == "HARBOUR TOOLS, INC."


def test_a_quarterly_report_states_the_end_of_its_quarter() -> None:
    lines = ["FORM 10-Q", *ANNUAL[:3], "For the quarterly period ended July 29, 2023"]
    cover = read_cover(lines)
    assert cover is not None
    assert (cover.form, cover.period_end) == ("10-Q", "2023-07-29")


def test_a_current_report_is_of_the_day_it_reports() -> None:
    cover = read_cover([*ANNUAL[:3], "FORM 8-K", "Date of Report: May 4, 2021", *ANNUAL[7:]])
    assert cover is not None
    assert (cover.form, cover.period) == ("8-K", "report of May 4, 2021")


@pytest.mark.parametrize(
    ("headline", "company", "period"),
    [
        (
            "Harbour Tools Announces Fourth Quarter Fiscal 2022 Results",
            "Harbour Tools",
            "Fourth Quarter Fiscal 2022",
        ),
        (
            "THE HARBOUR COMPANY REPORTS FIRST QUARTER EARNINGS FOR FISCAL 2025",
            "THE HARBOUR COMPANY",
            "FIRST QUARTER EARNINGS FOR FISCAL 2025",
        ),
    ],
)
def test_a_release_names_company_and_period_in_its_headline(
    headline: str, company: str, period: str
) -> None:
    cover = read_cover(["FOR IMMEDIATE RELEASE", headline])
    assert cover is not None
    assert (cover.company, cover.period, cover.filed) == (company, period, False)


def test_a_page_that_is_no_cover_has_none() -> None:
    assert read_cover(["On the harbour", "The council reports that ships may moor again."]) is None
    assert read_cover(["Fill in form 10-K of the harbour office."]) is None


def test_a_filing_is_dated_by_its_signature_and_never_before_its_period() -> None:
    text = "…\nSIGNATURES\nPursuant to …\nDate: February 7, 2019\nJane Roe"
    assert signing_date(text, "2018-12-31") == "2019-02-07"
    assert signing_date(text, "2019-12-31") is None
