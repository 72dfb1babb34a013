"""Addresses of cells in a sheet: B7, and B7:D9 for a range.

A table of a sheet has the range it stands in at the end of its section path, such as
`("Revenue", "Sales by region (A3:D12)")`. With a segment's row and column that is its address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.model.document import Document
from abstrag.model.segment import Segment

MAX_ROWS: Final = 1_048_576  # of a sheet, as every spreadsheet program has it
MAX_COLUMNS: Final = 16_384
_SHEETS: Final = frozenset({"xlsx", "csv"})  # formats whose cells have addresses
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

    Args:
        section: The section path of a segment, block or hit.
        row: The row of a segment in its table; None for a text outside tables.
        column: The column of a segment in its table; None for a whole row.
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


def cell_of(document: Document, segment: Segment) -> str | None:
    """Return the address of a segment in its sheet; None in a document that has no sheets."""
    if document.metadata.format not in _SHEETS:
        return None
    return address_in_sheet(segment.section, segment.row, segment.column)
