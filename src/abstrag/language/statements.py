"""Financial statements by kind: what a heading or an asker calls them."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final


class FinancialStatement(StrEnum):
    """The statements that every report of accounts has, and the notes to them."""

    INCOME = "income statement"
    COMPREHENSIVE = "statement of comprehensive income"
    BALANCE = "balance sheet"
    CASH_FLOW = "cash flow statement"
    EQUITY = "statement of equity"
    NOTES = "notes"


# Tried in this order, on text without spaces: justified headings are set with gaps inside of words.
_KINDS: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (FinancialStatement.NOTES, r"notesto(?:the)?(?:condensed|consolidated|financial)"),
        (FinancialStatement.CASH_FLOW, r"statements?of(?:\w*)cashflow|cashflowstatement"),
        (
            FinancialStatement.BALANCE,
            r"balancesheet|statements?of(?:\w*)financial(?:position|condition)",
        ),
        (FinancialStatement.COMPREHENSIVE, r"statements?of(?:\w*)comprehensiveincome"),
        (
            FinancialStatement.EQUITY,
            r"statements?of(?:changesin)?(?:\w*)(?:equity|stockholders|shareholders)",
        ),
        (
            FinancialStatement.INCOME,
            r"statements?of(?:consolidated)?(?:net)?(?:income|operations|earnings|profit)"
            r"|incomestatement|profitandlossstatement|profitandlossaccount|p&lstatement",
        ),
    )
)
_LONGEST: Final = 160  # characters of a heading that is the title of a statement
_ABOUT: Final = re.compile(
    r"off?-?balance|analysisof|discussion|supplemental|reportof|effecton|index"
)


@lru_cache(maxsize=4096)
def statement_named(text: str) -> FinancialStatement | None:
    """Return the statement that a title or a phrase names, None for any other text."""
    if len(text) > _LONGEST:
        return None
    packed = re.sub(r"[\s’']+", "", text.casefold())
    if _ABOUT.search(packed):
        return None
    return next((kind for kind, pattern in _KINDS if pattern.search(packed)), None)
