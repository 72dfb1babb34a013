"""Sheets of cells: cut into tables and lines of text with their addresses; .csv and .tsv files."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePath
from typing import Final

from abstrag.documents.assemble import assemble
from abstrag.documents.decode import decode
from abstrag.documents.visible import MAX_SPAN, RawCell, VisibleText, is_name, is_value
from abstrag.errors import Damaged, FileTooLarge
from abstrag.model.document import BlockKind, Document, Quote

# Addresses of cells in a sheet: B7, and B7:D9 for a range.
#
# A table of a sheet has the range it stands in at the end of its section path, such as
# `("Revenue", "Sales by region (A3:D12)")`. With a segment's row and column that is its address.

MAX_ROWS: Final = 1_048_576  # of a sheet, as every spreadsheet program has it
MAX_COLUMNS: Final = 16_384
SHEETS: Final = frozenset({"xlsx", "csv"})  # formats whose cells have addresses
_IN_SECTION: Final = re.compile(r"\(([A-Z]+\d+(?::[A-Z]+\d+)?)\)\Z")
_ADDRESS: Final = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")


def column_letters(column: int) -> str:
    """Return the letters of a column that is counted from 0: A, B, …, Z, AA."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def cell_address(row: int, column: int) -> str:
    """Return the address of a cell whose row and column are counted from 0."""
    return f"{column_letters(column)}{row + 1}"


def range_address(first: tuple[int, int], last: tuple[int, int]) -> str:
    """Return the address of a range by its corners; a single cell's is its own."""
    start, end = cell_address(*first), cell_address(*last)
    return start if start == end else f"{start}:{end}"


def parse_address(text: str) -> tuple[int, int] | None:
    """Return row and column of an address, counted from 0; None when it is no address."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    row = int(match[2])
    return (row - 1, column - 1) if row <= MAX_ROWS and column <= MAX_COLUMNS else None


def parse_range(text: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the corners of a range; a single address is both of its corners."""
    first, _, last = text.partition(":")
    start, end = parse_address(first), parse_address(last or first)
    if start is None or end is None or end < start or end[1] < start[1]:
        return None
    return start, end


def address_in_sheet(section: Sequence[str], row: int | None, column: int | None) -> str | None:
    """Return where a segment of a sheet stands: B7, or A7:D7 for a row; None for other text.

    `section` is its section path. A text outside tables has no row, a whole row no column.
    """
    match = _IN_SECTION.search(section[-1]) if section else None
    corners = parse_range(match[1]) if match else None
    if match is None or corners is None:
        return None
    (top, left), (_, right) = corners
    if row is None:
        return match[1]
    if column is None:
        return range_address((top + row, left), (top + row, right))
    return cell_address(top + row, left + column)


MAX_CELLS: Final = 500_000  # of all sheets, empty ones between others counted
MAX_GAP: Final = 3  # empty rows that a table may have inside it
MAX_TITLE: Final = 3  # lines over a table that are its title, not a text of their own
MAX_HEADER: Final = 60  # characters of a column's name
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_RANGE_LEVEL: Final = 9  # below every heading

Row = Mapping[int, str]  # the cells of a row that show something, by column


@dataclass(slots=True)
class Sheet:
    """The cells of a sheet that show something, and which of them are merged."""

    name: str
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # → rows, columns


class SheetWriter:
    """Writes sheets as blocks, and counts their cells."""

    def __init__(self, visible: VisibleText, name: str) -> None:
        self._visible = visible
        self._name = name
        self._cells = 0

    def write(self, sheet: Sheet) -> None:
        """Write the tables and lines of a sheet, top to bottom, each below its own address."""
        for top, bottom in _regions(sheet.rows):
            self._region(sheet, top, bottom)
        self._visible.sections.leave(_RANGE_LEVEL)

    def _region(self, sheet: Sheet, top: int, bottom: int) -> None:
        numbers = [row for row in range(top, bottom + 1) if row in sheet.rows]
        first = next((row for row in numbers if len(sheet.rows[row]) > 1), None)
        if first is None:
            for row in numbers:
                ((column, text),) = sheet.rows[row].items()
                self._enter(sheet.name, (row, column), (row, column))
                self._visible.add(BlockKind.PARAGRAPH, text)
            return
        titles = [row for row in numbers if row < first]
        while titles and _is_row_title(sheet, titles[-1], first):
            first = titles.pop()
        caption = self._caption(sheet, titles)
        self._table(sheet, first, bottom, caption)

    def _caption(self, sheet: Sheet, numbers: Sequence[int]) -> Quote | None:
        """Write the lines of one cell each over a table as its caption."""
        if not numbers:
            return None
        columns = [column for row in numbers for column in sheet.rows[row]]
        corners = (numbers[0], min(columns)), (numbers[-1], max(columns))
        self._enter(sheet.name, *corners)
        text = "\n".join(text for row in numbers for text in sheet.rows[row].values())
        return self._visible.add_caption(text)

    def _table(self, sheet: Sheet, top: int, bottom: int, caption: Quote | None) -> None:
        numbers = range(top, bottom + 1)
        columns = [column for row in numbers for column in sheet.rows.get(row, ())]
        left, right = min(columns), max(columns)
        name = caption.text if caption and len(caption.text) <= MAX_HEADER else sheet.name
        self._enter(name, (top, left), (bottom, right))
        covered: set[tuple[int, int]] = set()
        rows = [self._row(sheet, row, left, bottom, covered) for row in numbers]
        heads = min(_header_rows([row for row in rows if row]), [*rows, []].index([]))
        for i, row in enumerate(rows[:heads]):
            rows[i] = [replace(cell, header=True) for cell in row]
        self._visible.add_table(rows, caption)

    def _row(
        self, sheet: Sheet, number: int, left: int, bottom: int, covered: set[tuple[int, int]]
    ) -> list[RawCell]:
        """Return a row's cells, without those that merged cells cover."""
        shown = sheet.rows.get(number, {})
        made: list[RawCell] = []
        for column in range(left, max(shown, default=left - 1) + 1):
            if (number, column) in covered:
                continue
            self._count()
            down, right = sheet.merged.get((number, column), (1, 1))
            down = min(down, bottom - number + 1)
            free = (n for n in range(1, right) if (number, column + n) in covered)
            right = next(free, right)
            covered.update(
                (r, c) for r in range(number, number + down) for c in range(column, column + right)
            )
            made.append(RawCell(shown.get(column, ""), row_span=down, column_span=right))
        return made

    def _count(self) -> None:
        self._cells += 1
        if self._cells > MAX_CELLS:
            raise too_many_cells(self._name)

    def _enter(self, name: str, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Open a section for a range; models read its name, and people its address."""
        self._visible.sections.enter(_RANGE_LEVEL, f"{name} ({range_address(first, last)})")


def too_many_cells(name: str) -> FileTooLarge:
    """Say that a file has too many cells; the caller raises it."""
    return FileTooLarge(
        f"{name!r} has more than {MAX_CELLS:,} cells",
        hint="split it, or leave out what is data only",
    )


def mergeable(rows: int, columns: int) -> bool:
    """True when a merged cell is one that people make, and not half of the sheet."""
    return 1 <= rows <= MAX_SPAN and 1 <= columns <= MAX_SPAN


def _regions(rows: Mapping[int, Row]) -> Iterator[tuple[int, int]]:
    """Cut a sheet at its empty rows, except where what follows goes on with the table above.

    A region is told by the numbers of its first and last row.
    """
    open_: _Run | None = None
    for run in _runs(rows):
        if open_ is not None and _goes_on(open_, run):
            open_ = open_.with_(run)
            continue
        if open_ is not None:
            yield open_.top, open_.bottom
        open_ = run
    if open_ is not None:
        yield open_.top, open_.bottom


@dataclass(slots=True)
class _Run:
    """Rows without an empty one between them, and what of them tells whether a table goes on."""

    top: int
    bottom: int
    lines: list[str] = field(default_factory=list)  # rows of one cell
    first: Row | None = None  # row of more than one
    left: int = MAX_COLUMNS  # the columns that the latter reach over
    right: int = -1

    def add(self, row: Row) -> None:
        """Take in what a row shows."""
        if len(row) == 1:
            self.lines.extend(row.values())
            return
        self.first = self.first or row
        self.left, self.right = min(self.left, *row), max(self.right, *row)

    def with_(self, below: _Run) -> _Run:
        """Return both as one."""
        left, right = min(self.left, below.left), max(self.right, below.right)
        return _Run(self.top, below.bottom, self.lines, self.first or below.first, left, right)


def _runs(rows: Mapping[int, Row]) -> Iterator[_Run]:
    run: _Run | None = None
    for number in sorted(rows):
        if run is None or run.bottom != number - 1:
            if run is not None:
                yield run
            run = _Run(number, number)
        run.bottom = number
        run.add(rows[number])
    if run is not None:
        yield run


def _goes_on(above: _Run, below: _Run) -> bool:
    """True when rows after a gap belong to those above it.

    Either they have no header of their own and fit below the table above, or a short title stands
    above, one empty row away.
    """
    gap = below.top - above.bottom - 1
    if below.first is None or gap > MAX_GAP:
        return False
    if above.first is None:
        short = len(above.lines) <= MAX_TITLE and not any(t.endswith(".") for t in above.lines)
        return gap == 1 and short
    if all(map(_can_head, below.first.values())):
        return False
    return above.left <= below.left and below.right <= above.right


def _is_row_title(sheet: Sheet, number: int, below: int) -> bool:
    """True when a lone cell over the first full row is no title: that row is not a header."""
    (text,) = sheet.rows[number].values()
    return is_value(text) and not all(map(_can_head, sheet.rows[below].values()))


def _can_head(text: str) -> bool:
    """True for a text that can be the name of a column: words, a year or a date."""
    return len(text) <= MAX_HEADER and (is_name(text) or _DATE.fullmatch(text) is not None)


def _header_rows(rows: Sequence[Sequence[RawCell]]) -> int:
    """Return how many rows at the top are headers.

    The first row is one when it holds names only and values stand below it, or when all is text
    and its names are whole, distinct and not repeated below. A row with merged cells or gaps may
    have the next row of names below it.
    """
    if len(rows) < 2 or not _is_header(rows[0], rows[1:]):
        return 0
    heads = 1
    while heads < min(3, len(rows) - 1) and _is_open(rows[heads - 1], rows[heads]):
        heads += 1
    return heads


def _is_header(first: Sequence[RawCell], rest: Sequence[Sequence[RawCell]]) -> bool:
    names = [cell.text for cell in first if cell.text]
    if not names or not all(map(_can_head, names)):
        return False
    body = [cell.text for row in rest for cell in row]
    if any(map(is_value, body)):
        return True
    return len(names) == len(first) == len(set(names)) and not set(names) & set(body)


def _is_open(row: Sequence[RawCell], below: Sequence[RawCell]) -> bool:
    """True when a header row has groups of columns whose names the row below gives."""
    named = [cell.text for cell in below if cell.text]
    if len(named) < 2 or not all(map(_can_head, named)):
        return False
    return any(cell.column_span > 1 for cell in row) and len(named) > sum(
        1 for cell in row if cell.text
    )


_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLE: Final = 100  # rows looked at to tell the delimiter
_DECLARES: Final = "sep="  # the first line by which spreadsheet programs say it


def load_delimited(data: bytes, name: str) -> Document:
    """Read a table from text; it is a sheet that has the name of its file."""
    text = decode(data, name)
    visible = VisibleText()
    SheetWriter(visible, name).write(_sheet(text, name))
    return assemble(name, visible.text, visible.blocks, format_name="csv")


def _sheet(text: str, name: str) -> Sheet:
    sheet = Sheet(PurePath(name).stem or name)
    cells = 0
    for number, fields in enumerate(_records(text, name)):
        if number >= MAX_ROWS or len(fields) > MAX_COLUMNS:
            raise FileTooLarge(
                f"{name!r} has more than {MAX_ROWS:,} rows or {MAX_COLUMNS:,} columns",
                hint="split it",
            )
        shown = {i: one for i, field in enumerate(fields) if (one := " ".join(field.split()))}
        cells += len(shown)
        if cells > MAX_CELLS:
            raise too_many_cells(name)
        if shown:
            sheet.rows[number] = shown
    return sheet


def _records(text: str, name: str) -> Iterator[list[str]]:
    lines = list(io.StringIO(text, newline=""))  # as they end, for line breaks inside fields
    first = lines[0].strip() if lines else ""
    if first.casefold().startswith(_DECLARES) and len(first) == len(_DECLARES) + 1:
        delimiter = first[-1]
        yield []  # so that addresses count it, as it is a line of the file
        lines = lines[1:]
    else:
        delimiter = _delimiter(lines)
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise Damaged(
            f"{name!r} is no table that can be read: {error}", hint="look for an unclosed quote"
        ) from error


def _delimiter(lines: list[str]) -> str:
    """Return what parts most rows into the same number of fields, more than one."""

    def rank(delimiter: str) -> tuple[int, int]:
        try:
            rows = list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLE))
        except csv.Error:
            return 0, 0
        widths = Counter(len(row) for row in rows if len(row) > 1)
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return count, width

    return max(_DELIMITERS, key=rank)
