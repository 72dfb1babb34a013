"""Filters choose documents by what is known of them, and say why one is left out."""

from pathlib import Path

import pytest

from abstrag.collection.filters import Filters
from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag.stores.protocol import DocumentInfo


def info(
    date: str | None = "2023-12-01", path: str | None = "/library/a/report.md"
) -> DocumentInfo:
    return DocumentInfo(
        id="report",
        title="Report",
        date=date,
        source_path=path,
        source_hash="s",
        content_hash="c",
        genre=Genre.NEWS,
        granularity=Granularity.SENTENCE,
        fingerprint="f",
        segments=1,
        terms=1,
        edges=1,
        indexed_at="2024-01-01T00:00:00",
    )


def passes(filters: Filters, document: DocumentInfo) -> bool:
    return filters.refuses(document) is None


@pytest.mark.parametrize(
    ("since", "until", "date", "passed"),
    [
        ("2023-12-01", "2023-12-01", "2023-12-01", True),  # both ends are included
        ("2023", None, "2023-12-01", True),
        ("2024", None, "2023-12-01", False),
        (None, "2023", "2023-12-31", True),  # all of a year
        (None, "2023-11", "2023-12-01", False),
        ("2023-06", None, "2023", True),  # a year that may be after it
        ("2023-06", None, "2022", False),
        ("2023", None, None, False),
    ],
)
def test_dates_are_compared_as_far_as_both_go(
    since: str | None, until: str | None, date: str | None, passed: bool
) -> None:
    assert passes(Filters(since=since, until=until), info(date)) is passed


@pytest.mark.parametrize(
    ("source", "passed"),
    [
        ("/library", True),
        ("/library/a/", True),
        ("/library/a/report.md", True),
        ("/lib", False),  # no folder of that name
        ("*.md", True),
        ("report.*", True),
        ("/library/*/report.md", True),
        ("*.pdf", False),
    ],
)
def test_a_source_is_a_folder_a_file_or_a_pattern(source: str, passed: bool) -> None:
    assert passes(Filters(source=source), info()) is passed


def test_a_relative_path_is_taken_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert passes(Filters(source="notes"), info(path=str(tmp_path.resolve() / "notes" / "a.md")))


def test_a_document_from_no_file_fails_a_source() -> None:
    refused = Filters(source="/library").refuses(info(path=None))
    assert refused == "it comes from no file, and only /library is asked for"


def test_folder_and_source_hold_together() -> None:
    assert passes(Filters(source="*.md", folder="/library"), info())
    assert not passes(Filters(source="*.md", folder="/elsewhere"), info())


def test_the_reason_names_what_is_asked_for() -> None:
    assert Filters(since="2024", until="2025").refuses(info()) == (
        "its date is 2023-12-01, and only documents since 2024 until 2025 are asked for"
    )
    assert Filters(until="2020").refuses(info(None)) == (
        "it has no date, and only documents until 2020 are asked for"
    )
    assert Filters(genre=Genre.LEGAL).refuses(info()) == (
        "its genre is news, and only legal is asked for"
    )


@pytest.mark.parametrize("date", ["20x4", "2024-13", "2024-05-32", "yesterday", "", "2024-5-1"])
def test_what_is_no_date_is_refused_with_a_hint(date: str) -> None:
    with pytest.raises(InputError) as caught:
        Filters(since=date)
    assert repr(date) in str(caught.value)
    assert caught.value.hint == "2024, 2024-05 or 2024-05-31"


def test_a_range_without_a_day_in_it_is_refused() -> None:
    with pytest.raises(InputError, match="no day is both") as caught:
        Filters(since="2024-02", until="2023")
    assert caught.value.hint == "swap --since and --until"
    Filters(since="2024-02", until="2024")


def test_an_empty_source_is_refused() -> None:
    with pytest.raises(InputError, match="--source is empty"):
        Filters(source=" ")
