"""CSV and TSV with a header: alias,name or thing,class or role,type; then cost and confidence."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abstrag.backgrounds.fact import Fact, Link, Name, named
from abstrag.backgrounds.lines import fault, lines
from abstrag.config import OMEGA, TAU_MAX

_SHAPES: Final = (("alias", "name"), ("thing", "class"), ("role", "type"))
_OPTIONAL: Final = ("cost", "confidence")
_COLUMNS: Final = "alias,name or thing,class or role,type; then cost and confidence if you like"
_TABBED: Final = (".tsv", ".tab")


def read_delimited(path: Path, suffix: str) -> Iterator[Fact]:
    """Go through what a table says; the header tells what it is a table of."""
    rows = _rows(path, suffix)
    first = next(rows, None)
    if first is None:
        return
    table = _Table(path, *_header(path, *first))
    for line, row in rows:
        yield from table.facts(line, row)


@dataclass(frozen=True, slots=True)
class _Table:
    path: Path
    shape: tuple[str, str]
    columns: tuple[str, ...]

    def facts(self, line: int, row: Sequence[str]) -> Iterator[Fact]:
        if len(row) != len(self.columns):
            at = min(len(row), len(self.columns)) + 1
            raise fault(
                self.path,
                line,
                at,
                f"{len(row)} fields where the header has {len(self.columns)}",
                hint="put a field that holds the separator into quotation marks",
            )
        cells = dict(zip(self.columns, (cell.strip() for cell in row), strict=True))
        for column in self.shape:
            if not cells[column]:
                raise self._fault(line, column, "is empty", "delete the line or fill it in")
        left, right = (cells[column] for column in self.shape)
        weight = OMEGA["expression" if self.shape[0] == "alias" else "concept"]
        cost, sure = self._cost(line, cells, weight), self._confidence(line, cells)
        if self.shape[0] == "alias":
            yield Name(named(right), right, preferred=True, line=line)
            yield Name(named(right), left, cost=cost, confidence=sure, line=line)
            return
        for name in (left, right):
            yield Name(named(name), name, preferred=True, line=line)
        role = self.shape[0] == "role"
        yield Link(named(left), named(right), role, cost, sure, line)

    def _cost(self, line: int, cells: dict[str, str], weight: float) -> float | None:
        value = self._number(line, cells, "cost")
        if value is None or value == 0 or weight <= value <= TAU_MAX:
            return value
        raise self._fault(
            line,
            "cost",
            f"is {cells['cost']}",
            f"0 states it; what is only suggested costs from {weight:g} to {TAU_MAX:g}",
        )

    def _confidence(self, line: int, cells: dict[str, str]) -> float:
        value = self._number(line, cells, "confidence")
        if value is None:
            return 1.0
        if not 0 < value <= 1:
            raise self._fault(
                line, "confidence", f"is {cells['confidence']}", "above 0 and at most 1"
            )
        return value

    def _number(self, line: int, cells: dict[str, str], column: str) -> float | None:
        if not cells.get(column):
            return None
        try:
            return float(cells[column])
        except ValueError:
            raise self._fault(
                line, column, f"is {cells[column]!r}", "write a number such as 0.5"
            ) from None

    def _fault(self, line: int, column: str, what: str, hint: str) -> Exception:
        at = self.columns.index(column) + 1
        return fault(self.path, line, at, f"{column} {what}", hint=hint)


def _header(path: Path, line: int, row: Sequence[str]) -> tuple[tuple[str, str], tuple[str, ...]]:
    columns = tuple(cell.strip().casefold() for cell in row)
    shape = next((s for s in _SHAPES if set(s) <= set(columns)), None)
    if shape is None:
        raise fault(path, line, 1, f"no header but {row!r}", hint=f"name the columns: {_COLUMNS}")
    for at, column in enumerate(columns, 1):
        if column not in (*shape, *_OPTIONAL) or column in columns[: at - 1]:
            what = f"{column!r} is no column here, or there twice"
            raise fault(path, line, at, what, hint=f"columns are {_COLUMNS}")
    return shape, columns


def _rows(path: Path, suffix: str) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows that hold something, each with the line it begins on."""
    texts = (text for _, text in lines(path))
    first = next(texts, None)
    if first is None:
        return
    tabs = suffix in _TABBED
    mark = "\t" if tabs else max(",;\t", key=first.count)

    def again() -> Iterator[str]:
        yield first
        yield from texts

    # tabs need no quotation marks, and names in such files hold stray ones
    reader = (
        csv.reader(again(), delimiter=mark, quoting=csv.QUOTE_NONE, strict=True)
        if tabs
        else csv.reader(again(), delimiter=mark, strict=True)
    )
    start = 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise fault(
                path,
                start,
                1,
                f"the fields cannot be told apart: {error}",
                hint="close every quotation mark, and double one inside a field",
            ) from error
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield start, row
        start = reader.line_num + 1
