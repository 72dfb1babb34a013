"""Dates: a part under its own date tells of that one, and some times are counted from another."""

import pytest

from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.indexing.times import dated_parts, heading_date

NOTES = """# Release notes

## 4.2 (12 March 2021)

Yesterday the cache was removed.

## 4.1 (30 November 2020)

The installer was rewritten.
"""
DIARY = """# Log

The party reached camp on 28 April 2009. The following day two climbers turned back.

Two weeks later the road was open.
"""


def test_a_section_under_a_date_tells_of_that_date() -> None:
    document = load_bytes(NOTES.encode(), name="notes.md")
    starts = [part.interval.start for part in dated_parts(document).values()]
    assert starts == ["2021-03-12", "2020-11-30"]
    terms = {term.id for term in index(document).map.terms}
    assert {"time:2021-03-11", "time:2020-11-30"} <= terms


def test_a_time_is_counted_from_the_one_told_before_it_in_the_paragraph() -> None:
    terms = {term.id for term in index(load_bytes(DIARY.encode(), name="log.md")).map.terms}
    assert "time:2009-04-29" in terms
    assert "time:2009-05-12" not in terms  # another paragraph


@pytest.mark.parametrize("heading", ["2019 compared with 2018", "Since 2015", "Method"])
def test_a_heading_that_names_no_one_time_dates_nothing(heading: str) -> None:
    assert heading_date(heading) is None


@pytest.mark.parametrize(
    "text",
    [
        "From: A. Holm\nDate: Tue, 4 Sep 2018 09:12:00 +0200\nSubject: pool\n\nIt was drained.",
        "OSLO, 4 September 2018 (Agency) — A glacier lost its tongue.\n\nNobody was hurt.",
    ],
)
def test_a_header_in_one_block_and_a_dateline_date_the_document(text: str) -> None:
    assert load_bytes(text.encode(), name="a.md").metadata.date == "2018-09-04"


@pytest.mark.parametrize("told", ["The day before,", "The evening before,", "The previous night"])
def test_a_paragraph_that_has_told_no_time_counts_from_the_day_above_it(told: str) -> None:
    text = f"# Log\n\n## Stage of 14 June 2008\n\nIt rained.\n\n{told} a wheel broke.\n"
    terms = {term.id for term in index(load_bytes(text.encode(), name="log.md")).map.terms}
    assert "time:2008-06-13" in terms
