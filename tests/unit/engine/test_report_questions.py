"""Questions to a report: statements are scopes, and asked figures find the printed rows."""

from functools import cache

import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.document import Genre
from abstrag.query.finance import VARIABLE
from abstrag.rank.relevance import FAST

REPORT = b"""# Harbour Tools Reports Fourth Quarter Fiscal 2022 Results

## Consolidated Balance Sheets

| (in millions) | 2022 | 2021 |
|---|---|---|
| Inventories | 30 | 20 |
| Property, plant and equipment, net | 90 | 80 |
| Total current liabilities | 40 | 44 |

## Consolidated Statements of Cash Flows

| (in millions) | 2022 | 2021 |
|---|---|---|
| Change in inventories | (10) | 4 |
| Purchases of property, plant and equipment | (12) | (11) |
| Dividends paid to shareholders | (5) | (4) |

## Note 7. Supplemental cash flow statement information

| (in millions) | 2022 | 2021 |
|---|---|---|
| Inventories bought on credit | 3 | 2 |
"""


@pytest.fixture(autouse=True)
def bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@cache
def report() -> Searcher:
    return Searcher(index(load_bytes(REPORT, name="report.md")), preset=FAST)


def first(question: str) -> str:
    return report().search(question, k=1).hits[0].text


def test_a_headline_of_results_makes_a_report() -> None:
    assert report().index.genre is Genre.REPORT


def test_capex_finds_the_purchases_that_the_statement_prints() -> None:
    assert first("What was capex in 2022?").startswith("Purchases of property")


def test_a_name_for_equipment_finds_the_row_of_the_balance_sheet() -> None:
    assert first("Did PPNE grow?").startswith("Property, plant and equipment, net")


@pytest.mark.parametrize("name", ["cash flow statement", "consolidated statement of cash flows"])
def test_a_statement_is_a_scope_under_any_of_its_names(name: str) -> None:
    hits = report().search(f"inventories in the {name}", k=9).hits
    assert hits
    assert {hit.section[-1] for hit in hits} == {"Consolidated Statements of Cash Flows"}


def test_a_statement_that_the_report_lacks_is_no_scope() -> None:
    assert report().normalize("inventories in the income statement").scope == ()


def test_the_query_keeps_its_words_and_shows_how_it_was_read() -> None:
    query = report().normalize("What was capex?")
    assert query.text == "What was capex?"
    assert query.glossed == "What was capex (purchases of property, plant and equipment)?"
