"""Tables of web pages: told from layout, read as rows of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lxml.html import HtmlElement

from abstrag.documents.grid import is_name, is_value
from abstrag.documents.visible import RawCell

ReadText = Callable[[HtmlElement], str]


def is_data_table(table: HtmlElement) -> bool:
    """True when a table holds data, False when it only arranges things on the page."""
    if table.get("role") in ("presentation", "none"):
        return False
    if next(table.iterdescendants("table", "h1", "h2", "h3", "h4"), None) is not None:
        return False
    rows = [list(_cells(row)) for row in _rows(table)]
    if table.xpath(".//th | .//caption"):
        return any(rows)
    return len(rows) > 1 and max(map(len, rows), default=0) > 1


def table_rows(table: HtmlElement, read: ReadText) -> list[list[RawCell]]:
    """Read the cells of a table; a first row that nothing marks may be its header."""
    rows: list[list[RawCell]] = []
    for row in _rows(table):
        in_head = row.getparent() is not None and row.getparent().tag == "thead"
        cells = [
            RawCell(
                " ".join(read(cell).split()),
                header=in_head or cell.tag == "th",
                row_span=_reach(cell, "rowspan"),
                column_span=_reach(cell, "colspan"),
            )
            for cell in _cells(row)
        ]
        if cells:
            rows.append(_whole_header(cells))
    return mark_header(rows)


def _whole_header(cells: list[RawCell]) -> list[RawCell]:
    """Make the empty corner of a header row a header too; authors leave it a plain cell."""
    shown = [cell for cell in cells if cell.text]
    if len(shown) < 2 or not all(cell.header for cell in shown):
        return cells
    return [replace(cell, header=True) for cell in cells]


def mark_header(rows: list[list[RawCell]]) -> list[list[RawCell]]:
    """Make the first row a header if no cell is one and it reads like names over values."""
    if len(rows) < 2 or any(cell.header for row in rows for cell in row):
        return rows
    first = [cell.text for cell in rows[0] if cell.text]
    body = [cell.text for row in rows[1:] for cell in row]
    if not first or not all(map(is_name, first)) or not any(map(is_value, body)):
        return rows
    return [[replace(cell, header=True) for cell in rows[0]], *rows[1:]]


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _cells(row: HtmlElement) -> Iterator[HtmlElement]:
    return (cell for cell in row if cell.tag in ("td", "th"))


def _reach(cell: HtmlElement, attribute: str) -> int:
    value = (cell.get(attribute) or "1").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1
