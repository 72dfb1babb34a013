"""Rows of a table are looked for together: which rows those are, and what they share."""

import numpy as np
import pytest

from abstrag.config import Settings
from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.segment import SegmentKind
from abstrag.search.costed_index import IntArray
from abstrag.search.dense import DenseSimilarity
from abstrag.search.lexical import Lexical
from abstrag.search.tables import DocumentTables
from tests.unit.neural.letters import Letters

PAGE = """# Accounts

We owe little.

| Year | 2019 | 2018 |
|---|---|---|
| Debts: | | |
| Loans | 4 | 3 |
| Leases | 2 | 1 |

Words between.

| Year | 2019 |
|---|---|
| Staff | 7 |
"""


def accounts(page: str = PAGE) -> DocumentIndex:
    document = load_bytes(page.encode(), name="accounts.md")
    return index(document, settings=Settings(granularity="paragraph"))


def everywhere(made: DocumentIndex) -> IntArray:
    return np.arange(len(made.segments))


def rows(made: DocumentIndex) -> list[int]:
    return [i for i, s in enumerate(made.segments) if s.kind is SegmentKind.TABLE_ROW]


def test_rows_that_follow_one_another_are_a_table_and_a_single_row_is_none() -> None:
    made = accounts()
    numbers = DocumentTables(made.segments).of(everywhere(made))
    loans, leases, staff = rows(made)
    assert numbers[[loans, leases]].tolist() == [0, 0]
    assert set(np.delete(numbers, [loans, leases]).tolist()) == {-1}
    assert numbers[staff] == -1


def test_a_card_names_columns_titles_and_rows_once() -> None:
    assert DocumentTables(accounts().segments).cards == ("Year 2019 2018 Debts: Loans Leases",)


def test_the_card_of_a_long_table_is_cut() -> None:
    lines = "".join(f"| Name number {i} | {i} |\n" for i in range(400))
    (card,) = DocumentTables(accounts(f"| Who | What |\n|---|---|\n{lines}").segments).cards
    assert card.startswith("Who What Name number 0 Name number 1 ")
    assert len(card) == 1_500


def test_a_row_shares_half_of_what_its_table_has_best() -> None:
    made = accounts()
    loans, leases, staff = rows(made)
    values = np.zeros(len(made.segments))
    values[[loans, leases, staff]] = 0.2, 0.8, 0.4
    shared = DocumentTables(made.segments).shared(values)
    assert shared[[loans, leases, staff]].tolist() == pytest.approx([0.5, 0.8, 0.4])
    assert values[loans] == 0.2  # what was given stays as it is


def test_words_of_one_row_make_its_neighbour_likelier_but_not_as_likely() -> None:
    made = accounts()
    loans, leases, staff = rows(made)
    found = Lexical(made)(Query("leases", ()), everywhere(made))
    assert found[leases] == 1.0
    assert found[loans] == pytest.approx(0.5)
    assert found[staff] == 0.0


def test_a_row_is_as_near_as_what_its_table_is_about() -> None:
    page = "| Who | b |\n|---|---|\n| a | 1 |\n| c | 2 |\n"
    made, encoder = accounts(page), Letters()
    similarity = DenseSimilarity(made, encoder=encoder)
    query = Query("abc", ())
    assert similarity(query, everywhere(made)).tolist() == pytest.approx([1.0, 1.0])
    assert encoder.asked == ["abc", "Who b a | 1", "Who b c | 2", "Who b a c"]
    alone = similarity(Query("a", ()), everywhere(made))
    assert alone.tolist() == pytest.approx([0.5**0.5, 3**-0.5])  # itself, and the table


def test_a_document_without_segments_has_no_tables() -> None:
    tables = DocumentTables(())
    assert tables.cards == ()
    assert tables.shared(np.zeros(0)).tolist() == []
