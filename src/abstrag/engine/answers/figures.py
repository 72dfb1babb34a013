"""The figures of a document's tables: every cell that holds a number, with all that names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from abstrag.engine.answers.words import dates, parts_of_year, stems, years
from abstrag.language.statements import FinancialStatement, statement_named
from abstrag.model.document import Block, Document
from abstrag.model.span import Span
from abstrag.model.table import Cell, Grid

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
_PER_SHARE: Final = re.compile(
    r"per (?:\w+ )*share|\bEPS\b|\bratio\b|number of|\bemployees\b|\bstores\b|%|percent|"
    r"\brate\b|\byears\b",
    re.I,
)


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
        if block.table is not None
        for figure in _of_table(number, block, _context(document.blocks, number))
    )


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
    bare = unit == "%" or _PER_SHARE.search(label) is not None
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
