"""Other wordings of what is asked for: printed names of line items, formulas of derived figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from abstrag.engine.answers.form import Form, Wanted
from abstrag.engine.answers.lookup import Figures
from abstrag.search.query.finance import finance_terms

# A derived figure as a share, ratio or difference of two printed ones.
_FORMULAS: Final[tuple[tuple[str, Form, str, str], ...]] = (
    ("gross profit margin", Form.SHARE, "gross profit", "net sales"),
    ("gross margin", Form.SHARE, "gross profit", "net sales"),
    ("operating profit margin", Form.SHARE, "operating income", "net sales"),
    ("operating income margin", Form.SHARE, "operating income", "net sales"),
    ("operating margin", Form.SHARE, "operating income", "net sales"),
    ("net profit margin", Form.SHARE, "net income", "net sales"),
    ("net income margin", Form.SHARE, "net income", "net sales"),
    ("profit margin", Form.SHARE, "net income", "net sales"),
    ("effective tax rate", Form.SHARE, "provision for income taxes", "income before income taxes"),
    ("current ratio", Form.RATIO, "total current assets", "total current liabilities"),
    ("debt to equity", Form.RATIO, "total liabilities", "total equity"),
    ("return on assets", Form.SHARE, "net income", "total assets"),
    ("working capital", Form.DIFFERENCE, "total current assets", "total current liabilities"),
    (
        "free cash flow",
        Form.DIFFERENCE,
        "net cash provided by operating activities",
        "capital expenditure",
    ),
)
_REVENUE: Final = ("net sales", "revenues", "total revenues", "net revenue", "revenue", "sales")
_MOST: Final = 8


def wordings(question: str, want: Wanted, figures: Figures) -> Iterator[Wanted]:
    """Go through the readings of a question: its own, and with names that statements print."""
    named = _formula(question, want)
    if named is not None and not _printed(named[0], figures):
        _, form, first, second = named
        for a in _other_names(first):
            for b in _other_names(second):
                yield replace(want, form=form, measures=(a, b))
        return
    yield want
    if len(want.measures) == 1:
        for name in _replaced(want.measures[0]):
            yield replace(want, measures=(name,))
        return
    first, second = want.measures
    for a in (first, *_replaced(first)):
        for b in (second, *_replaced(second)):
            if (a, b) != (first, second):
                yield replace(want, measures=(a, b))


def _formula(question: str, want: Wanted) -> tuple[str, Form, str, str] | None:
    if want.form is not Form.NUMBER:
        return None
    asked = question.casefold().replace("-", " ")
    return next((one for one in _FORMULAS if one[0] in asked), None)


def _printed(name: str, figures: Figures) -> bool:
    rows = figures.find(name, most=1)
    return bool(rows) and rows[0].covered > 0.95 and rows[0].exact > 0.5


def _other_names(name: str) -> tuple[str, ...]:
    if name == "net sales":
        return _REVENUE
    return (name, *finance_terms().printed.get(name, ())[:3])


def _replaced(name: str) -> list[str]:
    """Return a wording with each of the printed names of the line item it holds in its place."""
    terms = finance_terms()
    pattern = terms.pattern
    found = pattern.search(name) if pattern else None
    if found is None:
        return []
    asked = " ".join(found["name"].casefold().split())
    printed = terms.printed[asked]
    if "net sales" in printed and not any(word in asked for word in ("revenue", "sales", "line")):
        return []  # a derived figure: what it is made of is not what it is
    return [name[: found.start()] + one + name[found.end() :] for one in printed[:_MOST]]
