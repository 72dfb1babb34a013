"""Short answers: the figure, the rows or the yes or no that a document's tables give.

The floors were chosen on tuning parts (docs/ask.md): what falls under them is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from abstrag.engine.answers.calculate import CalculatedAnswer, Reckoner
from abstrag.engine.answers.figures import TableFigure, figures_of
from abstrag.engine.answers.form import Form, Wanted, wanted
from abstrag.engine.answers.lookup import Figures
from abstrag.engine.answers.wording import shown
from abstrag.engine.answers.words import stems
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.search.query.finance import finance_terms
from abstrag.search.query.instructions import read_request

# Other wordings of what is asked for: printed names of line items, formulas of derived figures.

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


LATER: Final = 0.03  # what a wording loses against the one before it
_LEAD: Final = 0.3  # of a row over the next that differs from which on more says no more
_PERCENT: Final = re.compile(
    r"%|\bper\s?cent|\brate\b|\bmargin\b|\bshare of\b|\bproportion\b", re.I
)
_SCALES: Final = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}


@dataclass(frozen=True, slots=True)
class TableFigures:
    """What the tables of one document hold."""

    document: Document
    figures: Figures

    @classmethod
    def of(cls, document: Document) -> TableFigures:
        """Read the tables of a document."""
        return cls(document, Figures(figures_of(document), document.title))


def from_figures(
    tables: TableFigures, index: DocumentIndex, query: Query, hits: Sequence[Hit]
) -> CalculatedAnswer | None:
    """Return the answer that figures give; None where they give none."""
    request = read_request(query.text)
    want = wanted(request.question)
    if want.form is Form.TEXT:
        return None
    segments = index.segments
    near = {
        (segments[hit.position].block, segments[hit.position].row or 0): 1.0
        for hit in hits
        if segments[hit.position].row is not None
    }
    best: CalculatedAnswer | None = None
    for n, reading in enumerate(wordings(request.question, want, tables.figures)):
        found = Reckoner(tables.figures, request.question, reading, near).answer()
        if found is not None:
            found = replace(found, score=found.score - n * LATER, wording=n)
            best = found if best is None or found.score > best.score else best
    return _in_unit(best, query) if best else None


def figure_features(found: CalculatedAnswer, query: Query) -> dict[str, float]:
    """Return what speaks for an answer from figures, for the confidence model."""
    forms = {
        "change": (Form.CHANGE, Form.PERCENT_CHANGE, Form.YES_NO),
        "several": (Form.AVERAGE, Form.SUM, Form.SHARE, Form.RATIO, Form.DIFFERENCE),
        "period": (Form.PERIOD, Form.COUNT),
    }
    many = found.form is Form.NUMBER and len(found.used) > 1
    text = query.text.casefold()
    percent = found.form is Form.NUMBER and found.used[0].unit == "%"
    asked = _PERCENT.search(query.text) is not None
    return {
        "covered": found.covered,
        "bare": found.bare,
        "unmet": float(found.covered < 0.999),
        "exact": found.exact,
        "lead": max(-_LEAD, min(_LEAD, found.margin)),
        "tied": float(found.margin <= 0),
        "assumed": float(found.assumed),
        "wording": float(min(3, found.wording)),
        "listed": float(many and "total" in text and "respective" not in text),
        "unit": float(percent and not asked),
        "alone": float(len(set(stems(found.used[0].label))) <= 1),
        **{name: float(found.form in some) for name, some in forms.items()},
    }


def _in_unit(found: CalculatedAnswer, query: Query) -> CalculatedAnswer:
    """Convert a figure into the unit that the answer is asked in."""
    unit = (query.answer_form.unit if query.answer_form else None) or ""
    asked = re.search(r"thousand|million|billion", unit, re.I)
    figure = found.used[0]
    if asked is None or found.form is not Form.NUMBER or len(found.used) > 1 or not figure.scale:
        return found
    scale = asked.group().casefold()
    if scale == figure.scale:
        return found
    value = abs(figure.value) * _SCALES[figure.scale] / _SCALES[scale]
    sign = "$" if figure.unit == "USD" or "USD" in unit or "$" in unit else ""
    return replace(
        found, text=f"{sign}{shown(value)} {scale}", formula=f"{figure.shown} in {scale}s"
    )


def told(found: CalculatedAnswer) -> str:
    """Say a short answer in a sentence: what it is of, the period, and how it was reckoned."""
    names = list(dict.fromkeys(_clean(f.name) for f in found.used))
    when = list(dict.fromkeys(f.period for f in found.used if f.period))
    of = "; ".join(names) + (f" ({', '.join(when)})" if when else "")
    if found.form is Form.YES_NO:
        return f"{found.text}: {'; '.join(names)}, {found.formula}."
    if found.formula:
        return f"{found.text} = {found.formula}: {of}."
    return f"{found.text}: {of}."


def _clean(name: str) -> str:
    return " ".join(name.replace(":", " ").split()).rstrip(" .")


def cells_of(figures: Sequence[TableFigure]) -> list[TableFigure]:
    """Return the cells an answer rests on, each once."""
    return list({(one.block, one.row, one.column): one for one in figures}.values())
