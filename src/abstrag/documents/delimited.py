"""Tables as text: comma-, semicolon- or tab-separated values (.csv, .tsv)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePath
from typing import Final

from abstrag.documents.assemble import assemble
from abstrag.documents.cell_address import MAX_COLUMNS, MAX_ROWS
from abstrag.documents.decode import decode
from abstrag.documents.sheet import MAX_CELLS, Sheet, SheetWriter, too_many_cells
from abstrag.documents.visible import VisibleText
from abstrag.errors import Damaged, FileTooLarge
from abstrag.model.document import Document

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
