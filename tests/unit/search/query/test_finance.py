"""Questions about reports, read with the names that statements print."""

from pathlib import Path

import pytest

from abstrag.errors import BackgroundError
from abstrag.model.document import OffsetMap, Span
from abstrag.model.segment import Segment, SegmentKind, SegmentRole
from abstrag.search.query.finance import VARIABLE, RowNames, finance_terms
from abstrag.search.query.normalize import abbreviated


def glossed(text: str, *rows: str) -> str:
    """Read a question put to a document that prints some rows."""
    return finance_terms().read(text, rows.__contains__, lambda _name: False).glossed


def _row(text: str) -> Segment:
    span = Span(0, len(text))
    runs = OffsetMap(((0, 0),))
    return Segment("s1", SegmentKind.TABLE_ROW, SegmentRole.TABLE, text, span, runs, 0)


@pytest.fixture(autouse=True)
def bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_an_asked_name_is_followed_by_the_printed_ones() -> None:
    printed = "purchases of property, plant and equipment"
    assert glossed("What was capex in 2018?", printed) == f"What was capex ({printed}) in 2018?"


def test_a_derived_figure_is_followed_by_the_rows_it_is_made_of() -> None:
    rows = ("cash and cash equivalents", "accounts receivable", "total current liabilities")
    assert glossed("What is the quick ratio?", *rows) == (
        f"What is the quick ratio ({'; '.join(rows)})?"
    )


def test_a_name_that_the_document_does_not_say_is_replaced_by_what_it_prints() -> None:
    text, row = "Did PPNE grow?", "property, plant and equipment"
    terms = finance_terms()
    assert terms.read(text, row.__eq__, lambda _: False).literal == f"Did {row} grow?"
    assert terms.read(text, row.__eq__, lambda _: True).literal == text
    text = "What are accounts receivable?"
    assert terms.read(text, lambda _: True, lambda _: False).literal == text


def test_of_several_printed_names_the_likeliest_is_a_condition() -> None:
    terms, rows = finance_terms(), ("revenues", "sales", "total current assets")
    read = terms.read("How much did net revenue grow?", rows.__contains__, lambda _: False)
    assert read.literal == "How much did revenues grow?"
    assert read.figures == ("revenues", "sales")
    parts = ("total current assets", "total current liabilities")
    read = terms.read("What is the working capital?", parts.__contains__, lambda _: False)
    assert read.literal == "What is the total current assets?"
    assert read.figures == parts


def test_a_margin_is_looked_for_by_the_line_that_it_names_itself() -> None:
    terms, rows = finance_terms(), ("gross profit", "cost of sales", "net sales")
    read = terms.read("Why did gross profit margin rise?", rows.__contains__, lambda _: False)
    assert read.literal == "Why did gross profit rise?"
    assert read.figures == rows


def test_rows_are_known_by_whole_words_of_their_names() -> None:
    rows = RowNames([_row("Property, plant and equipment — net | 8,738"), _row("Goodwill | 1")])
    assert rows("property, plant and equipment, net")
    assert rows("goodwill")
    assert not rows("will")
    assert not rows("equipment, net goodwill")


def test_what_the_question_says_itself_is_not_said_again() -> None:
    text = "Was EPS above earnings per share of 2017?"
    assert glossed(text) == text


def test_a_name_inside_of_a_word_is_no_name() -> None:
    assert glossed("How many steps did Roeper take?") == ("How many steps did Roeper take?")


def test_a_file_of_ones_own_takes_the_place_of_the_bundled_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[items]\n"footfall" = ["visits"]\n')
    monkeypatch.setenv(VARIABLE, str(own))
    assert glossed("Capex and footfall?") == "Capex and footfall (visits)?"


def test_an_empty_file_switches_the_terms_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none.toml").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.toml"))
    assert glossed("What was capex?") == "What was capex?"


def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing.toml"))
    with pytest.raises(BackgroundError, match=r"missing\.toml"):
        finance_terms()


def test_a_file_without_abbreviations_switches_them_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [found.forms[0] for found in abbreviated("What was capex?")] == ["capex"]
    mine = tmp_path / "mine.toml"
    mine.write_text('[abbreviations]\nkiln = ["rotary furnace"]\n')
    monkeypatch.setenv(VARIABLE, str(mine))
    assert [found.words for found in abbreviated("capex of the kiln")] == [("rotary", "furnace")]
    mine_empty = tmp_path / "empty.toml"
    mine_empty.write_text("")
    monkeypatch.setenv(VARIABLE, str(mine_empty))
    assert list(abbreviated("What was capex?")) == []


def test_an_item_has_the_names_its_abbreviation_stands_for() -> None:
    assert finance_terms().printed["eps"] == ("earnings per share",)
    assert "research and development" in finance_terms().printed["r&d"]
