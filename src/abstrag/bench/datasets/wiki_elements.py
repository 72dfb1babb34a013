"""The elements of one FEVEROUS page: sentences, list items, cells with their heads, captions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from abstrag.baselines.pool import Element, ElementKind
from abstrag.bench.datasets.files import Place

_LINK: Final = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")
_Cell = Mapping[str, Any]
_Grid = list[list[_Cell | None]]


def page_elements(
    place: Place, page: Mapping[str, Any], title: str, *, outer: tuple[str, ...] = ()
) -> Iterator[Element]:
    """Go through a page in its own order; ids are `TITLE_ELEMENT`, as claims spell them."""
    path: list[tuple[int, str]] = []  # level and heading of the sections we are in
    for name in place.strings(page, "order"):
        if name not in page:
            continue  # the official reader passes over what a page announces and does not have
        item = page[name]
        section = (*outer, *(heading for _, heading in path))
        if name.startswith("section_"):
            level = int(place.field(item, "level", int, str))
            path = [(depth, heading) for depth, heading in path if depth < level]
            path.append((level, _plain(place.field(item, "value", str))))
        elif name.startswith("sentence_"):
            if isinstance(item, str) and item.strip():
                yield Element(f"{title}_{name}", _plain(item), ElementKind.SENTENCE, section)
        elif name.startswith("list_"):
            for entry in place.field(item, "list", list):
                if entry["value"].strip():
                    name_, text = f"{title}_{entry['id']}", _plain(entry["value"])
                    yield Element(name_, text, ElementKind.LIST_ITEM, section)
        elif name.startswith("table_"):
            yield from _table(place, name, place.field(page, name, dict), title, section)


def _table(
    place: Place, name: str, table: Mapping[str, Any], title: str, section: tuple[str, ...]
) -> Iterator[Element]:
    caption = _plain(str(table.get("caption") or ""))
    if caption:
        number = name.rsplit("_", 1)[-1]
        yield Element(f"{title}_table_caption_{number}", caption, ElementKind.CAPTION, section)
    grid = _laid_out(place.field(table, "table", list))
    seen: set[str] = set()
    for r, row in enumerate(grid):
        for c, cell in enumerate(row):
            if cell is None or cell["id"] in seen or not cell["value"].strip():
                continue
            seen.add(cell["id"])
            yield Element(
                f"{title}_{cell['id']}",
                _plain(cell["value"]),
                ElementKind.TABLE_CELL,
                section,
                () if cell.get("is_header") else _heads(grid, r, c),
                caption or None,
            )


def _laid_out(rows: Sequence[Sequence[_Cell]]) -> _Grid:
    """Put every cell on each field of the grid that it covers."""
    width = max((sum(_reach(c, "column_span") for c in row) for row in rows), default=0)
    grid: _Grid = [[None] * width for _ in rows]
    for r, row in enumerate(rows):
        for cell in row:
            free = next((i for i, field in enumerate(grid[r]) if field is None), None)
            if free is None:
                break
            for i in range(r, min(r + _reach(cell, "row_span"), len(grid))):
                for j in range(free, min(free + _reach(cell, "column_span"), width)):
                    if grid[i][j] is None:
                        grid[i][j] = cell
    return grid


def _reach(cell: _Cell, name: str) -> int:
    """Return how many fields a cell covers; what is no number above 0 is 1, as HTML has it."""
    text = str(cell.get(name, 1)).strip()
    return max(1, int(text)) if text.isdecimal() else 1


def _heads(grid: _Grid, row: int, column: int) -> tuple[str, ...]:
    """Return a cell's heads: the nearest run of head cells above it, and to its left."""
    above = _nearest_run([grid[i][column] for i in range(row - 1, -1, -1)])
    left = _nearest_run([grid[row][j] for j in range(column - 1, -1, -1)])
    return tuple(dict.fromkeys((*above, *left)))


def _nearest_run(cells: Sequence[_Cell | None]) -> list[str]:
    found: list[str] = []
    for cell in cells:
        if cell is not None and cell.get("is_header"):
            if text := _plain(cell["value"]):
                found.append(text)
        elif found:
            break
    return found[::-1]


def _plain(text: str) -> str:
    """Return a text without link marks and with single spaces."""
    return " ".join(_LINK.sub(r"\1", text).split())
