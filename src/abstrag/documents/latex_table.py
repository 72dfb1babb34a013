"""The body of a `tabular`: cut into rows and cells, header rows told by the rules between them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from abstrag.config import MAX_TABLE_COLUMNS
from abstrag.documents.latex_source import LatexSource
from abstrag.documents.visible import MAX_SPAN, GridCell, as_header, has_header_look, too_large

TABULARS: Final = {  # environments, and the arguments in front of their bodies
    "tabular": "[{",
    "tabular*": "{[{",
    "tabularx": "{[{",
    "tabulary": "{[{",
    "longtable": "[{",
    "supertabular": "[{",
    "tabu": "{",
    "NiceTabular": "[{",
    "tblr": "[{",
}
_TOKEN: Final = re.compile(
    r"(?P<cell>&)"
    r"|(?P<row>\\\\\*?|\\tabularnewline\b|\\cr\b)"
    r"|\\(?:(?P<rule>midrule|hline|specialrule|Xhline|endhead|endfirsthead)"
    r"|(?P<line>toprule|bottomrule|cmidrule|cline|addlinespace|rowcolor|endfoot|endlastfoot"
    r"|noalign|hdashline|cdashline|arrayrulecolor|morecmidrules))(?![A-Za-z])"
    r"|(?P<begin>\\begin\s*\{)"
    r"|(?P<group>\{)|\\.",
    re.DOTALL,
)
_RULE_ARGUMENTS: Final = {
    "midrule": "[",
    "toprule": "[",
    "bottomrule": "[",
    "cmidrule": "[({",
    "cline": "{",
    "specialrule": "{{{",
    "Xhline": "{",
    "addlinespace": "[",
    "rowcolor": "[{",
    "arrayrulecolor": "[{",
    "hdashline": "[",
    "cdashline": "{",
    "noalign": "{",
}
_TRIMS: Final = re.compile(r"\s*\([lr\d.a-z{}\s]*\)")
_MULTICOLUMN: Final = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,3})\s*\}")
_MULTIROW: Final = re.compile(r"\\multirow\s*(?:\[[^\]]{0,200}\])?\s*\{\s*(\d{1,3})\s*\}")
_SHOWN: Final = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class RawTableCell:
    """Where a cell's source stands and how far the cell reaches."""

    start: int
    end: int
    row_span: int
    column_span: int


@dataclass(slots=True)
class RawRow:
    """One row, and whether a rule runs the whole way above it."""

    cells: list[RawTableCell] = field(default_factory=list)
    ruled: bool = False


def cut_rows(source: LatexSource, start: int, end: int) -> list[RawRow]:
    """Cut a table's body into rows."""
    cutter = _Cutter(source, start)
    at = start
    while match := _TOKEN.search(source.text, at, end):
        at = min(max(cutter.take(match), match.end()), end)
    cutter.end_row(end)
    return cutter.rows


def shape(rows: list[RawRow], read: Callable[[int, int], GridCell]) -> list[list[GridCell]]:
    """Read the cells, drop those that a cell from above covers, and mark the header rows."""
    made: list[list[GridCell]] = []
    covered: dict[int, int] = {}  # column → first row that no cell from above reaches
    for r, row in enumerate(rows):
        made.append([])
        column = 0
        for cell in row.cells:
            here = read(cell.start, cell.end)
            if column + cell.column_span > MAX_TABLE_COLUMNS:
                raise too_large(f"{MAX_TABLE_COLUMNS:,} columns", "MAX_TABLE_COLUMNS")
            if here.text or covered.get(column, 0) <= r:
                down, across = min(cell.row_span, len(rows) - r), cell.column_span
                made[r].append(replace(here, row_span=down, column_span=across))
                covered.update(dict.fromkeys(range(column, column + across), r + down))
            column += cell.column_span
    heads = _header_rows(rows)
    if not heads and made:
        heads = int(has_header_look(made[0], made[1:]))
    return [as_header(row) if r < heads else row for r, row in enumerate(made)]


def _header_rows(rows: list[RawRow]) -> int:
    """Return how many rows stand above the first rule inside the table; 0 if none does."""
    return next((i for i, row in enumerate(rows) if row.ruled and i > 0), 0)


class _Cutter:
    def __init__(self, source: LatexSource, start: int) -> None:
        self.rows: list[RawRow] = []
        self._source = source
        self._row = RawRow()
        self._from = start

    def take(self, match: re.Match[str]) -> int:
        """Take one token and return where to go on."""
        at = match.end()
        if match["group"]:
            return (self._source.closing(match.start()) or match.start()) + 1
        if match["begin"]:
            inner = self._source.environment(match.start())
            return inner[1] if inner else at
        if match["cell"]:
            self._end_cell(match.start())
            self._from = at
        elif match["row"]:
            self.end_row(match.start())
            option = self._source.option(at) if match["row"].startswith("\\\\") else None
            self._from = at = option.after if option else at
        elif (match["rule"] or match["line"]) and self._at_row_start(match.start()):
            self._row.ruled = self._row.ruled or bool(match["rule"])
            self._from = at = self._rule_end(match["rule"] or match["line"], at)
        return at

    def _at_row_start(self, at: int) -> bool:
        return not self._row.cells and _SHOWN.search(self._source.text, self._from, at) is None

    def end_row(self, at: int) -> None:
        """Finish a row unless nothing is in it."""
        if self._row.cells or self._source.text[self._from : at].strip():
            self._end_cell(at)
            self.rows.append(self._row)
            self._row = RawRow()

    def _end_cell(self, at: int) -> None:
        raw = self._source.text[self._from : at]
        across, down = _MULTICOLUMN.match(raw), _MULTIROW.search(raw)
        self._row.cells.append(
            RawTableCell(
                self._from,
                at,
                max(1, int(down[1])) if down else 1,
                min(max(1, int(across[1])), MAX_SPAN) if across else 1,
            )
        )

    def _rule_end(self, name: str, at: int) -> int:
        """Go past the options, trims and widths of a rule."""
        for kind in _RULE_ARGUMENTS.get(name, ""):
            if kind == "(":
                trims = _TRIMS.match(self._source.text, at)
                at = trims.end() if trims else at
            else:
                at = self._source.skip(at, kind)
        return at
