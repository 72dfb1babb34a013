"""Financial statements by what their titles and askers call them."""

import pytest

from abstrag.language.statements import FinancialStatement, statement_named


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Consolidated Statements of Cash Flows", FinancialStatement.CASH_FLOW),
        ("cash flow statement", FinancialStatement.CASH_FLOW),
        ("3M Company and Subsidiaries Consolidated Balance Shee t", FinancialStatement.BALANCE),
        ("Statement of Financial Position", FinancialStatement.BALANCE),
        ("Condensed Consolidated Statements of Earnings", FinancialStatement.INCOME),
        ("income statement", FinancialStatement.INCOME),
        ("Consolidated Statements of Comprehensive Income", FinancialStatement.COMPREHENSIVE),
        ("Statement of Changes in Equity", FinancialStatement.EQUITY),
        ("Consolidated Statements of Shareholders' Equity", FinancialStatement.EQUITY),
        ("Notes to Consolidated Financial Statements", FinancialStatement.NOTES),
    ],
)
def test_a_title_names_its_statement(text: str, kind: FinancialStatement) -> None:
    assert statement_named(text) is kind


@pytest.mark.parametrize(
    "text",
    [
        "Results of operations",
        "ANALYSIS OF THE CONSOLIDATED STATEMENTS OF CASH FLOWS",
        "Off-Balance Sheet Arrangements",
        "NOTE 7. Supplemental Balance Sheet Information",
        "Share Repurchase Program",
        "The accompanying notes are an integral part of this statement of income. " * 4,
    ],
)
def test_other_headings_name_none(text: str) -> None:
    assert statement_named(text) is None
