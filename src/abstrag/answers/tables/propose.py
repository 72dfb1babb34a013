"""Answers that tables give: figures looked up or reckoned with, and rows that are listed.

The floors were chosen on tuning parts (docs/ask.md): what falls under them is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from abstrag.answers.citations import Citations, CitedPassage
from abstrag.answers.proposals import AnswerWay, ProposedAnswer, ToldAnswer
from abstrag.answers.question_form import (
    LISTS,
    Form,
    QuestionTarget,
    names_fiscal_year,
    stems,
    wanted,
)
from abstrag.answers.sentences import strangers
from abstrag.answers.tables.calculate import CalculatedAnswer, Calculator
from abstrag.answers.tables.figures import Figures, by_fiscal_year, figures_of, shown
from abstrag.answers.tables.rows import Reads, RowSet, row_sets
from abstrag.engine.searcher import Searcher
from abstrag.model.answer import AnswerSentence, ShortAnswer
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Hit, Ranking
from abstrag.search.query.finance import finance_terms
from abstrag.search.query.question import read_request

_REVENUE: Final = ("net sales", "revenues", "total revenues", "net revenue", "revenue", "sales")
_MOST: Final = 8
_NAMED: Final = re.compile(r"[A-Z]|.*\d")  # a name, a month, a number
_AT_HAND: Final = frozenset(stems("hold held end date day"))  # of an item: "held at the end of"
ROW_FORM: Final = "row"  # of a short answer that is no figure


def wordings(question: str, want: QuestionTarget, figures: Figures) -> Iterator[QuestionTarget]:
    """Go through the readings of a question: its own, and with names that statements print."""
    named = _formula(question, want)
    if named is not None and not _printed(named["name"], figures):
        for a in _other_names(named["of"]):
            for b in _other_names(named["and"]):
                yield replace(want, form=Form(named["is"]), measures=(a, b))
        return
    item = _item(want, figures)
    if item is not None:
        yield replace(want, measures=(item,))
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


def _formula(question: str, want: QuestionTarget) -> Mapping[str, str] | None:
    """Return the derived figure that a question names, as two printed ones, if it names any."""
    if want.form is not Form.NUMBER:
        return None
    asked = question.casefold().replace("-", " ")
    return next((one for one in LISTS["formulas"] if one["name"] in asked), None)


def _item(want: QuestionTarget, figures: Figures) -> str | None:
    """Return the printed name of what is meant by one word, where nothing else is asked for."""
    words = " ".join(want.measures).split()
    for one in LISTS["items"]:
        plain = (w for w in words if w.casefold() == one["asked"] or not _NAMED.match(w))
        if set(stems(" ".join(plain))) - _AT_HAND == {one["asked"]}:
            return next((name for name in one["printed"] if _printed(name, figures)), None)
    return None


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


def from_figures(
    figures: Figures, index: DocumentIndex, query: Query, hits: Sequence[Hit]
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
    for n, reading in enumerate(wordings(request.question, want, figures)):
        found = Calculator(figures, request.question, reading, near).answer()
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


@dataclass(frozen=True, slots=True)
class TableAnswers:
    """Proposes answers to one question from the tables of one document.

    A row that search did not find becomes one more passage, at the end of the list it is given.
    """

    searcher: Searcher
    ranking: Ranking
    passages: list[CitedPassage]
    citations: Citations
    reads: Reads | None

    def __call__(self) -> Iterator[ProposedAnswer]:
        """Go through what tables say to the question."""
        index, query = self.searcher.index, self.ranking.query
        if not any(block.table for block in index.document.blocks):
            return
        if strangers(self.ranking.hits, index.document):
            return
        printed = figures_of(index.document)
        if names_fiscal_year(query.text):
            printed = tuple(by_fiscal_year(printed, self.searcher.vocabulary.fiscal))
        figures = Figures(printed, index.document.title)
        found = from_figures(figures, index, query, self.ranking.hits)
        if found is not None:
            features = figure_features(found, query)
            yield ProposedAnswer(
                AnswerWay.FIGURES, features, found.text, lambda: self._figured(found)
            )
        for rows in row_sets(index.document, read_request(query.text).question, self.reads):
            tell = partial(self._listed, rows)
            way = AnswerWay.NAMED_ROWS if self.reads is None else AnswerWay.ROWS
            yield ProposedAnswer(way, rows.features, rows.text, tell)

    def _figured(self, found: CalculatedAnswer) -> ToldAnswer:
        numbers = []
        for one in {(one.block, one.row, one.column): one for one in found.used}.values():
            passage = self._row(one.block, one.row, one.column)
            headers = tuple(dict.fromkeys((*one.above, *one.over, one.label)))
            numbers.append(self.citations.cell(passage, one.text, one.span, headers).number)
        period = ", ".join(dict.fromkeys(one.period for one in found.used if one.period))
        short = ShortAnswer(found.form.value, found.text, found.formula, period)
        return ToldAnswer((AnswerSentence(told(found), tuple(numbers)),), short)

    def _listed(self, rows: RowSet) -> ToldAnswer:
        sentences = []
        for row in rows.records:
            cited = [
                self.citations.cell(
                    self._row(row.block, row.row, cell.column),
                    cell.text,
                    cell.span,
                    (head,) if head else (),
                )
                for head, cell in row.cells
            ]
            sentences.append(AnswerSentence(row.text, tuple(one.number for one in cited)))
        if rows.subject:
            first = sentences[0]
            sentences[0] = AnswerSentence(f"{rows.subject} – {first.text}", first.citations)
        return ToldAnswer(tuple(sentences), ShortAnswer(ROW_FORM, rows.text))

    def _row(self, block: int, row: int, column: int) -> CitedPassage:
        """Return the passage a cell belongs to, beside those that were found if it is none."""
        segments = self.searcher.index.segments
        fit = [
            i
            for i, one in enumerate(segments)
            if one.block == block and one.row == row and one.column in (None, column)
        ]
        position = fit[0] if fit else next(i for i, s in enumerate(segments) if s.block == block)
        for passage in self.passages:
            if passage.hit.position == position:
                return passage
        hit = self.searcher.explain(self.ranking.query.text, segments[position].id)
        made = CitedPassage(
            len(self.passages) + 1, hit, segments[position], self.searcher.index.document
        )
        self.passages.append(made)
        return made
