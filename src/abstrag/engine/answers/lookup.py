"""Looking up a figure by its name and period: which cell of which table is meant, and how surely.

A row is found by the words of the question that its name, the lines over it, its column and the
title of its table hold, and by how little else its name says. Two figures that fit about as well
and differ are a doubt; the same figure in several tables is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from abstrag.engine.answers.figures import TableFigure
from abstrag.engine.answers.words import stems
from abstrag.language.statements import FinancialStatement

_IN_OVER: Final = 0.95
_IN_COLUMN: Final = 0.95
_IN_TITLE: Final = 0.7
_IN_CONTEXT: Final = 0.6  # of a word that only the text around a table has
_HIT: Final = 0.03  # what a row gains that search has found too
_PRIMARY: Final = 0.04  # and one of a primary statement
_PER_SHARE: Final = 0.1  # what a figure per share loses where none is asked for
_LIGHT: Final = 0.4  # what a word of a row's name weighs that says little


@dataclass(frozen=True, slots=True)
class Row:
    """A row of figures that may be what a name means, and how well."""

    figures: tuple[TableFigure, ...]
    score: float
    covered: float  # of the name's weight
    bare: float  # of it without what only the text around the table says
    exact: float  # of the row's own name that was asked for

    @property
    def key(self) -> tuple[int, int]:
        """Where it stands."""
        return self.figures[0].block, self.figures[0].line


_LIGHT_WORDS: Final = frozenset(stems("total net other less attributable company related gross"))


class Figures:
    """The figures of a document, ready to be looked up."""

    def __init__(self, figures: Sequence[TableFigure], title: str = "") -> None:
        rows: defaultdict[tuple[int, int], list[TableFigure]] = defaultdict(list)
        for figure in figures:
            rows[figure.block, figure.line].append(figure)
        self.rows = [tuple(row) for row in rows.values()]
        self._about = frozenset(stems(title))
        counts: defaultdict[str, int] = defaultdict(int)
        for row in self.rows:
            for word in {w for one in row for w in one.names}:
                counts[word] += 1
        self._counts = counts
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        for i, row in enumerate(self.rows):
            for word in set(stems(row[0].label)) | {w for one in row for w in one.names}:
                self._by_word[word].append(i)

    def weight(self, word: str) -> float:
        """Return how much a word says: rare ones more."""
        return log(2 + len(self.rows) / (1 + self._counts.get(word, 0)))

    def knows(self, word: str) -> bool:
        """Tell whether a word names any figure."""
        return word in self._counts

    def find(
        self, name: str, *, near: Mapping[tuple[int, int], float] | None = None, most: int = 8
    ) -> list[Row]:
        """Return the rows that a name may mean, best first; `near` are those that search found."""
        words = list(dict.fromkeys(stems(name)))
        asked = [w for w in words if w not in self._about] or words
        if not asked:
            return []
        places = {i for word in asked for i in self._by_word.get(word, ())}
        found = [self._scored(self.rows[i], asked, near or {}) for i in places]
        found.sort(key=lambda row: (-row.score, row.key))
        return found[:most]

    def _scored(
        self,
        row: tuple[TableFigure, ...],
        asked: Sequence[str],
        near: Mapping[tuple[int, int], float],
    ) -> Row:
        first = row[0]
        label = stems(first.label)
        own = dict.fromkeys(label)
        over = set(stems(" ".join(first.over)))
        columns = {w for one in row for w in stems(" ".join(one.above))}
        title = set(stems(first.title))
        total = sum(self.weight(w) for w in asked)
        covered = bare = 0.0
        for word in asked:
            share = (
                1.0
                if word in own
                else _IN_OVER
                if word in over
                else _IN_COLUMN
                if word in columns
                else _IN_TITLE
                if word in title
                else 0.0
            )
            bare += share * self.weight(word)
            if not share and word in first.context:
                share = _IN_CONTEXT
            covered += share * self.weight(word)
        covered, bare = covered / total, bare / total
        wanted = set(asked) | self._about
        weights = {w: self.weight(w) * (_LIGHT if w in _LIGHT_WORDS else 1.0) for w in own}
        said = sum(weights.values())
        exact = sum(weights[w] for w in own if w in wanted) / said if said else 0.0
        if not own.keys() & set(asked) and not over & set(asked):
            exact *= 0.5
        score = covered * (0.55 + 0.45 * exact)
        score += _HIT * near.get((first.block, first.line), 0.0)
        per_share = "shar" in over and "per" in " ".join(first.over).casefold().split()
        if per_share and "shar" not in asked and "eps" not in asked:
            score -= _PER_SHARE
        if first.statement not in (None, FinancialStatement.NOTES):
            score += _PRIMARY
        return Row(row, round(score, 9), covered, bare, exact)


def in_period(
    row: Row,
    years: Sequence[str],
    parts: frozenset[str],
    asked: Sequence[str],
    dates: Sequence[str] = (),
) -> list[TableFigure]:
    """Return the figures of a row that are of a period, best first.

    Columns that are named in the question go before others; `asked` are its words.
    """
    fit = [one for one in row.figures if not years or set(years) & set(one.years)]
    alone = [one for one in fit if set(one.years) <= set(years)]
    fit = alone if years and alone else fit  # "2018 versus 2017" is of neither
    if dates and any(set(dates) & set(one.dates) for one in fit):
        fit = [one for one in fit if set(dates) & set(one.dates)]
    if parts and any(parts & one.parts for one in fit):
        most = max(len(parts & one.parts) for one in fit)
        fit = [one for one in fit if len(parts & one.parts) == most]
    wanted = set(asked)
    scores = [len(wanted & set(stems(" ".join(one.above)))) for one in fit]
    if scores and max(scores) > 0:
        fit = [one for one, score in zip(fit, scores, strict=True) if score == max(scores)]
    return fit


_DAY: Final = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}")
_SHORT_HEAD: Final = 12  # characters of a head that is a period and nothing else


def is_named(row: Row, words: Sequence[str]) -> bool:
    """Tell whether a row's name has one of some words."""
    own = set(stems(row.figures[0].label))
    return any(stem in own for word in words for stem in stems(word))


def when(figure: TableFigure) -> str:
    """Return a figure's period as its head has it, or the bare year where the head is long."""
    head = figure.period
    short = len(head) <= _SHORT_HEAD and not _DAY.search(head)
    return head if short or not figure.years else figure.years[0]


def yes_or_no(holds: bool) -> str:
    """Return the word."""
    return "Yes" if holds else "No"


def listed(used: Sequence[TableFigure]) -> str:
    """Write figures with their periods."""
    return ", ".join(f"{f.period}: {f.shown}" for f in used)


def plain(figure: TableFigure, *, positive: bool = False) -> str:
    """Write a figure as an operand of a formula."""
    value = abs(figure.value) if positive else figure.value
    return f"({shown(value)})" if value < 0 else shown(value)


def shown(value: float) -> str:
    """Write a number with at most two decimals and commas between thousands."""
    text = f"{value:,.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def with_scale(value: float, like: TableFigure) -> str:
    """Write a number with the unit and the scale of a figure."""
    unit = " %" if like.unit == "%" else ""
    sign = "$" if like.unit == "USD" else ""
    minus = "-" if value < 0 else ""
    return f"{minus}{sign}{shown(abs(value))}{unit} {like.scale}".strip()
