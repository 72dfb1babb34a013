"""The figures of a document's tables, and looking one up by its name and period.

A row is found by the words of the question that its name, the lines over it, its column and the
title of its table hold, and by how little else its name says. Two figures that fit about as well
and differ are a doubt; the same figure in several tables is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import log
from typing import Final

from abstrag.answers.question_form import dates, parts_of_year, stems, years
from abstrag.answers.quotable import lists_contents
from abstrag.language.calendar import FiscalYear
from abstrag.language.statements import FinancialStatement, statement_named
from abstrag.model.document import Block, Cell, Document, Grid, Span

_FIGURE: Final = re.compile(
    r"^[\s$€£¥]*(?:US\$|RMB|R|A\$|C\$|S\$)?\s*(?P<open>\()?\s*(?P<sign>[-−–])?\s*[$€£¥]?\s*"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"\s*(?P<percent>%|bps|pts?\.?|x)?\s*\)?\s*(?P<after>%|x|m|million|billion|bn)?"
    r"\s*(?:\([\w*]{1,3}\)|\[[\w*]{1,3}\]|[*†‡])*\s*$",
    re.I,
)
_NIL: Final = re.compile(r"^[\s$€£]*[—–-]+\s*%?$|^\s*(?:nil)\s*$", re.I)
_SCALE: Final = re.compile(
    r"\b(?P<word>thousand|million|billion)s?\b|(?P<zeros>['’]000s?|\b000s)|[$€£](?P<letter>[mMkKbB])\b"
    r"|\b(?:US\$|USD|EUR|GBP|RMB)\s?(?P<letters>[mM]|[bB]n)\b",
    re.I,
)
_SCALES: Final = {
    "thousand": "thousand",
    "million": "million",
    "billion": "billion",
    "k": "thousand",
    "m": "million",
    "b": "billion",
    "bn": "billion",
}
_TWO: Final = 2
_AROUND: Final = 3  # blocks before a table, and behind it, that may say what it is of
_WORDS_AROUND: Final = 60  # of each of them
_UNITS: Final = frozenset({"%", "$", "€", "£", "$m", "$M", "US$", "$000", "$'000", "RMB"})
_BARE_YEAR: Final = re.compile(
    r"^\W*(?:FY\s?|CY\s?)?(?:19|20)\d\d\W*(?:\(?[\w*]{1,2}\)?)*\W*$", re.I
)
_SHORTER: Final = frozenset({"3 months", "6 months", "9 months", "q1", "q2", "q3", "q4"})
_PER_SHARE: Final = re.compile(
    r"per (?:\w+ )*share|\bEPS\b|\bratio\b|number of|\bemployees\b|\bstores\b|%|percent|"
    r"\brate\b|\byears\b",
    re.I,
)
_SHARE: Final = re.compile(r"per (?:\w+ )*share\b|\bEPS\b", re.I)
_IN_OVER: Final = 0.95
_IN_COLUMN: Final = 0.95
_IN_TITLE: Final = 0.7
_IN_CONTEXT: Final = 0.6  # of a word that only the text around a table has
_HIT: Final = 0.03  # what a row gains that search has found too
_PRIMARY: Final = 0.04  # and one of a primary statement
_NOT_PER_SHARE: Final = 0.1  # what a figure per share loses where none is asked for
_LIGHT: Final = 0.4  # what a word of a row's name weighs that says little


@dataclass(frozen=True, slots=True)
class TableFigure:
    """A number in a cell: `label` names its row, `over` the lines above, `above` its column."""

    value: float
    text: str
    span: Span
    block: int
    row: int
    column: int
    label: str
    over: tuple[str, ...]
    above: tuple[str, ...]
    title: str  # of the table: its section and its caption
    years: tuple[str, ...]
    parts: frozenset[str]  # of a year
    unit: str  # "%", "USD" or ""
    scale: str  # thousand, million, billion or ""
    statement: FinancialStatement | None = None
    names: frozenset[str] = field(default=frozenset())  # stems of all that names it
    dates: tuple[str, ...] = ()  # that its headers name in full
    line: int = 0  # the row, or -1 - column where periods are the names of rows
    context: frozenset[str] = field(default=frozenset())  # stems of the text around the table

    @property
    def shown(self) -> str:
        """The figure with its unit and scale, for a person."""
        text = " ".join(self.text.split()).replace("$ ", "$")
        if self.unit == "%" and "%" not in text:
            text = f"{text} %"
        return f"{text} {self.scale}".strip()

    @property
    def period(self) -> str:
        """What its headers say about the time it is of."""
        for heads in (self.above, (self.label,), self.over):
            fit = [" ".join(h.split()) for h in heads if years(h) or parts_of_year(h)]
            if fit:
                return " ".join(dict.fromkeys(fit))
        return ", ".join(self.years)

    @property
    def name(self) -> str:
        """What the row is called, with what it stands under where that is needed."""
        return " – ".join((*self.over[-1:], self.label)) if self.over else self.label


def read_figure(text: str) -> tuple[float, str] | None:
    """Return the number of a cell and its unit; None where it does not hold one number."""
    if _NIL.match(text):
        return 0.0, ""
    found = _FIGURE.match(text)
    if found is None:
        return None
    value = float(found["digits"].replace(",", ""))
    negative = found["open"] is not None or found["sign"] is not None
    unit = "%" if "%" in text else "USD" if "$" in text else ""
    return (-value if negative else value), unit


def figures_of(document: Document) -> tuple[TableFigure, ...]:
    """Return all figures of a document's tables, in reading order."""
    return tuple(
        figure
        for number, block in enumerate(document.blocks)
        if block.table is not None and not lists_contents(block)
        for figure in _of_table(number, block, _context(document.blocks, number))
    )


def by_fiscal_year(figures: Iterable[TableFigure], fiscal: FiscalYear) -> Iterator[TableFigure]:
    """Go through figures, each that only a date tells the year of with that date's fiscal year.

    What ended on January 29, 2022 can be of fiscal 2021.
    """
    for one in figures:
        days = [date.fromisoformat(day) for day in one.dates]
        if days and {day.year for day in days} >= set(map(int, one.years)):
            yield replace(one, years=tuple(dict.fromkeys(str(fiscal.name_of(d)) for d in days)))
        else:
            yield one


def _context(blocks: Sequence[Block], number: int) -> frozenset[str]:
    """Return the stems of the text around a table: its introduction says what it is of."""
    near = blocks[max(0, number - _AROUND) : number + _AROUND + 1]
    texts = [
        " ".join(one.text.split()[:_WORDS_AROUND])
        for one in near
        if one.table is None and one.section[:1] == blocks[number].section[:1]
    ]
    return frozenset(stems(" ".join((*texts, *blocks[number].section))))


def _of_table(number: int, block: Block, context: frozenset[str]) -> Iterator[TableFigure]:
    table = block.table
    assert table is not None
    grid = Grid(table)
    caption = table.caption.text if table.caption else ""
    title = " ".join((*block.section[-1:], caption)).strip()
    heads = " ".join(c.text for c in table.cells if c.row <= 1 and (c.header or c.column == 0))
    scale = _scale(heads) or _scale(title)
    statement = statement_named(title) if title else None
    lead = _lead(table.cells)
    second = _second_heads(grid)
    for cell in table.cells:
        if cell.header or cell.column == 0 or cell.row in second or not cell.text.strip():
            continue
        read = read_figure(cell.text)
        if read is None:
            continue
        label = _label(grid, cell)
        above = tuple(q.text for q in grid.above(cell)) or lead.get(cell.column, ())
        above = _shared(table.cells, cell, above)
        above += tuple(t for heads in second.values() if (t := heads.get(cell.column)))
        above = _spread(grid, cell, tuple(dict.fromkeys(above)))
        over = tuple(q.text for q in grid.over(cell.row))
        made = _figure(number, cell, read, label, over, above, title, scale, statement)
        yield replace(made, context=context)


def _figure(
    number: int,
    cell: Cell,
    read: tuple[float, str],
    label: str,
    over: tuple[str, ...],
    above: tuple[str, ...],
    title: str,
    scale: str,
    statement: FinancialStatement | None,
) -> TableFigure:
    value, unit = read
    line = cell.row
    if years(label) and not years(" ".join(above)) and not stems(label):  # a row for each period
        label, above, line = " ".join(above), (label,), -1 - cell.column
    heads = " ".join(above)
    named = next(
        (y for y in (years(heads), years(label), years(" ".join(over)), years(title)) if y), ()
    )
    parts = (
        parts_of_year(heads)
        or parts_of_year(label)
        or parts_of_year(" ".join(over)) | parts_of_year(title)
    )
    if not unit and ("%" in label or "%" in heads or "percent" in label.casefold()):
        unit = "%"
    per_share = _PER_SHARE.search(label) or _SHARE.search(" ".join(over))
    bare = unit == "%" or per_share is not None
    own = _scale(label) or _scale(heads)
    return TableFigure(
        value=value,
        text=cell.text,
        span=cell.span,
        block=number,
        row=cell.row,
        column=cell.column,
        label=label,
        over=over,
        above=above,
        title=title,
        years=named,
        parts=parts,
        unit=unit,
        scale="" if bare else own or scale,
        statement=statement,
        names=frozenset(stems(" ".join((label, *over, *above, title)))),
        dates=dates(heads) or dates(label),
        line=line,
    )


def _label(grid: Grid, cell: Cell) -> str:
    """Return what stands at the beginning of a cell's row."""
    first = [c for c in grid.rows[cell.row] if c.column < cell.column and c.text.strip()]
    texts = [c.text for c in first if c.header] or [c.text for c in first if c.column == 0]
    return " ".join(" ".join(texts).split())


def _second_heads(grid: Grid) -> dict[int, dict[int, str]]:
    """Return rows that are heads though not marked as such: years or words under the first heads.

    Files often mark only the first row of heads: "Fiscal Year" over "2019" and "2018".
    """
    made: dict[int, dict[int, str]] = {}
    marked = False
    for row, cells in sorted(grid.rows.items()):
        filled = [cell for cell in cells if cell.column > 0 and cell.text.strip()]
        if all(cell.header for cell in cells):
            marked = True
            continue
        heads = [cell.text for cell in filled]
        named = all(_BARE_YEAR.match(t) or read_figure(t) is None for t in heads)
        dated = any(_BARE_YEAR.match(t) for t in heads)
        unit = bool(made) and all(t.strip() in _UNITS for t in heads)
        if not heads or not marked or not named or not (dated or unit or len(heads) > _TWO):
            break
        made[row] = {cell.column: cell.text for cell in filled}
    return made


def _lead(cells: tuple[Cell, ...]) -> dict[int, tuple[str, ...]]:
    """Return the first row's texts by column, for tables whose heads are not marked as such."""
    return {c.column: (c.text,) for c in cells if c.row == 0 and c.text.strip()}


def _shared(cells: tuple[Cell, ...], cell: Cell, above: tuple[str, ...]) -> tuple[str, ...]:
    """Give a column its own year of a head that holds all of them: "December 31, 2021 2020"."""
    heads = [c for c in cells if c.header and c.row < cell.row and c.column > 0 and c.text.strip()]
    columns = sorted({c.column for c in cells if not c.header and c.column > 0 and c.text.strip()})
    if len(heads) != 1 or len(columns) < _TWO:
        return above
    named = years(heads[0].text)
    if len(named) != len(columns):
        return above
    own = named[columns.index(cell.column)]
    rest = [year for year in named if year != own]
    text = heads[0].text
    for year in rest:
        text = text.replace(year, " ")
    return (" ".join(text.split()),)


def _spread(grid: Grid, cell: Cell, above: tuple[str, ...]) -> tuple[str, ...]:
    """Add a head that stands over a group of columns.

    Files print "Year ended December 31," once over several columns of years.
    """
    if years(" ".join(above)) and not parts_of_year(" ".join(above)):
        for row in sorted(grid.rows):
            if row >= cell.row:
                break
            texts = [c for c in grid.rows[row] if c.header and c.text.strip() and c.column > 0]
            if len(texts) == 1 and texts[0].text not in above:
                return (texts[0].text, *above)
    return above


def _scale(text: str) -> str:
    found = _SCALE.search(text)
    if found is None:
        return ""
    if found["zeros"]:
        return "thousand"
    name = (found["word"] or found["letter"] or found["letters"]).casefold()
    return _SCALES.get(name, "")


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
            score -= _NOT_PER_SHARE
        if first.statement not in (None, FinancialStatement.NOTES):
            score += _PRIMARY
        return Row(row, round(score, 9), covered, bare, exact)


def is_whole(figure: TableFigure) -> bool:
    """Tell whether a figure is of no part of a year that is known to be shorter."""
    return figure.parts.isdisjoint(_SHORTER)


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
    if years and not parts and not dates and any(map(is_whole, fit)):
        fit = list(filter(is_whole, fit))
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
