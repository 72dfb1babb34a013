"""Questions to a report: statements are scopes, and asked figures find the printed rows."""

from functools import cache

import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.document import Genre
from abstrag.model.segment import CELL_SEPARATOR
from abstrag.search.query.finance import VARIABLE, StatementRows
from abstrag.search.relevance import FAST, GENERAL

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


def printed(question: str) -> list[str]:
    """Return the rows that are known to print what a question asks for."""
    scoring = report().scoring(question)
    return [report().index.segments[p].text.partition(CELL_SEPARATOR)[0] for p in scoring.printed]


def test_a_figure_is_known_to_stand_in_the_rows_of_primary_statements() -> None:
    asked = "What was the days inventory outstanding?"
    assert printed(asked) == ["Inventories"]
    assert report().normalize(asked).figures == ("inventories",)
    assert printed("How large is PP&E?") == ["Property, plant and equipment, net"]


def test_a_question_that_asks_for_no_figure_has_no_row_that_prints_it() -> None:
    assert printed("Who is the chairman?") == []


def test_figures_of_a_part_of_the_company_are_not_looked_for_in_its_statements() -> None:
    assert printed("Which segment had the highest capex?") == []


def test_a_statement_to_rely_on_comes_before_others() -> None:
    rows = StatementRows(report().index.segments)
    (owned, bought) = (rows((name,)) for name in ("property, plant and equipment", "purchases of"))
    both = ("property, plant and equipment", "purchases of property, plant and equipment")
    assert rows(both) == (*owned, *bought)
    assert rows(both, ("cash flow statement",)) == bought


def test_the_row_that_prints_a_figure_outranks_what_only_speaks_of_it() -> None:
    text = REPORT + b"\n\n## Outlook\n\nCapex may change, and capex is what the board looks at.\n"
    asked = Searcher(index(load_bytes(text, name="report.md")), preset=GENERAL)
    found = asked.search("What was capex in 2022?", k=1).hits[0]
    assert found.text.startswith("Purchases of property")


def test_a_statement_without_a_line_for_the_question_hides_nothing_and_that_is_said() -> None:
    asked = report().normalize("What were total current liabilities in the cash flow statement?")
    assert asked.scope == ()
    assert asked.sources == ("cash flow statement",)
    assert asked.widened.startswith("no line of the cash flow statement has what is asked for")
    assert first(asked.text).startswith("Total current liabilities")


def test_a_statement_with_a_line_for_the_question_stays_the_only_place() -> None:
    for question in (
        "What was capex in the cash flow statement?",
        "What dividends were paid in the cash flow statement?",
    ):
        asked = report().normalize(question)
        assert (asked.scope, asked.widened) == (("cash flow statement",), "")
