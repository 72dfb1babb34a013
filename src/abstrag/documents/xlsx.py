"""Excel workbooks (.xlsx): sheets as tables, formulas by the values they last had."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import PurePath
from typing import Final

from lxml import etree

from abstrag.documents.assemble import assemble
from abstrag.documents.sheet import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_ROWS,
    Sheet,
    SheetWriter,
    mergeable,
    parse_address,
    parse_range,
    too_many_cells,
)
from abstrag.documents.visible import VisibleText
from abstrag.documents.zip_package import ZipPackage, child, children, local, number, value
from abstrag.model.document import BlockKind, Document

# Numbers of a workbook as a reader needs them: dates in ISO form, percentages as such.

_EPOCH_1900: Final = datetime(1899, 12, 30)
_EPOCH_1904: Final = datetime(1904, 1, 1)
_FALSE_LEAP_DAY: Final = (
    60  # Excel takes 1900 for a leap year; dates before that day are off by one
)
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|[_*].')  # what a format writes as it stands
_BRACKETS: Final = re.compile(r"\[(?![hms]+\])[^\]]*\]", re.IGNORECASE)  # colours, locales
_ELAPSED: Final = re.compile(r"\[[hms]+\]", re.IGNORECASE)


class NumberKind(StrEnum):
    """What the format of a cell makes of a number."""

    NUMBER = "number"
    PERCENT = "percent"
    DATE = "date"
    TIME = "time"
    MOMENT = "moment"  # date and time
    DURATION = "duration"


_BUILT_IN: Final = {
    **dict.fromkeys((9, 10), NumberKind.PERCENT),
    **dict.fromkeys((*range(14, 18), *range(27, 32), 36, *range(50, 59)), NumberKind.DATE),
    **dict.fromkeys((*range(18, 22), *range(32, 36), 45, 47), NumberKind.TIME),
    22: NumberKind.MOMENT,
    46: NumberKind.DURATION,
}


class Formats:
    """Which kind of number each cell style shows."""

    def __init__(self, styles: etree._Element | None, properties: etree._Element | None) -> None:
        is_1904 = value(properties, "date1904") in ("1", "true")
        self.epoch: Final = _EPOCH_1904 if is_1904 else _EPOCH_1900
        codes = child(styles, "numFmts")
        own = {
            number(one, "numFmtId"): kind_of_format(value(one, "formatCode") or "")
            for one in children(codes, "numFmt")
        }
        cells = child(styles, "cellXfs")
        self._kinds = [
            own.get(code) or _BUILT_IN.get(code or 0, NumberKind.NUMBER)
            for one in children(cells, "xf")
            for code in [number(one, "numFmtId")]
        ]

    def of(self, style: int) -> NumberKind:
        """Return the kind of a cell style, by its number."""
        return self._kinds[style] if style < len(self._kinds) else NumberKind.NUMBER


def kind_of_format(code: str) -> NumberKind:
    """Tell what a format such as `yyyy-mm-dd` or `0.0%` shows."""
    first = _BRACKETS.sub("", _LITERAL.sub("", code.partition(";")[0])).casefold()
    if _ELAPSED.search(first):
        return NumberKind.DURATION
    has_time = re.search(r"[hs]", first) is not None
    has_date = re.search(r"[yd]", first) is not None or ("m" in first and not has_time)
    if has_date:
        return NumberKind.MOMENT if has_time else NumberKind.DATE
    if has_time:
        return NumberKind.TIME
    return NumberKind.PERCENT if "%" in first else NumberKind.NUMBER


def shown_number(text: str, kind: NumberKind, epoch: datetime = _EPOCH_1900) -> str:
    """Return how a number reads; what is no number, or no date, stays as it stands."""
    try:
        amount = float(text)
        if kind is NumberKind.PERCENT:
            return f"{amount * 100:.12g}%"
        if kind is NumberKind.NUMBER:
            return f"{amount:.15g}"
        if kind is NumberKind.DURATION:
            return _clock(round(amount * 86_400))
        return _moment(amount, kind, epoch)
    except (ValueError, OverflowError):
        return text


def _moment(days: float, kind: NumberKind, epoch: datetime) -> str:
    if kind is NumberKind.TIME:
        return _clock(round(days % 1 * 86_400))
    if epoch == _EPOCH_1900 and days < _FALSE_LEAP_DAY:
        days += 1
    when = epoch + timedelta(seconds=round(days * 86_400))
    is_day = kind is NumberKind.DATE or when == datetime(when.year, when.month, when.day)
    return when.date().isoformat() if is_day else when.isoformat(" ")


def _clock(seconds: int) -> str:
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{sign}{hours:02}:{minutes:02}" + (f":{rest:02}" if rest else "")


_WORKBOOK: Final = "xl/workbook.xml"
_HIDDEN: Final = frozenset(("hidden", "veryHidden"))


def load_xlsx(data: bytes, name: str) -> Document:
    """Read a workbook: macros, queries and links to other files stay where they are."""
    reader = _Reader(ZipPackage(data, name, "Excel workbook"), name)
    reader.read()
    title, date = reader.package.properties()
    visible = reader.visible
    return assemble(
        name,
        visible.text,
        visible.blocks if reader.cells else (),  # names of sheets alone are no text to read
        format_name="xlsx",
        title=title or PurePath(name).stem,  # no sheet's name
        date=date,
    )


class _Reader:
    def __init__(self, package: ZipPackage, name: str) -> None:
        self.package = package
        self.visible = VisibleText()
        self.cells = 0
        self._name = name
        self._strings: list[str] = []
        self._formats = Formats(None, None)
        self._last_row = -1  # that was read; a row need not say its number

    def read(self) -> None:
        """Read all sheets, in the order of their tabs."""
        workbook = self.package.main(_WORKBOOK)
        parts = self.package.relations(_WORKBOOK)
        by_kind = {part.kind: part.target for part in parts.values()}
        self._formats = Formats(self._part(by_kind.get("styles")), child(workbook, "workbookPr"))
        strings = self._part(by_kind.get("sharedStrings"))
        self._strings = [_text(one) for one in children(strings, "si")]
        writer = SheetWriter(self.visible, self._name)
        for entry in children(_sheets(workbook), "sheet"):
            part = parts.get(value(entry, "id") or "")
            if part is None or part.kind != "worksheet":  # a chart, or a dialog of old times
                continue
            sheet = Sheet((value(entry, "name") or "").strip() or "sheet")
            self._fill(sheet, part.target)
            if sheet.rows:
                is_hidden = value(entry, "state") in _HIDDEN
                shown = f"{sheet.name} (hidden sheet)" if is_hidden else sheet.name
                self.visible.add(BlockKind.HEADING, shown, level=1)
                writer.write(sheet)

    def _part(self, path: str | None) -> etree._Element | None:
        return self.package.xml(path) if path else None

    def _fill(self, sheet: Sheet, path: str) -> None:
        self._last_row = -1
        data = self.package.read(path)
        if data is None:
            raise self.package.damaged(f"the part {path} is missing")
        try:
            for element in _rows_and_merges(data):
                if local(element) == "mergeCell":
                    _merge(sheet, value(element, "ref") or "")
                else:
                    self._row(sheet, element)
                element.clear()
        except (etree.XMLSyntaxError, ValueError) as error:
            raise self.package.damaged(f"the part {path} is not well-formed") from error

    def _row(self, sheet: Sheet, element: etree._Element) -> None:
        row = (number(element, "r") or self._last_row + 2) - 1
        column = -1
        for cell in children(element, "c"):
            at = parse_address(value(cell, "r") or "")
            row, column = at or (row, column + 1)
            if row >= MAX_ROWS or column >= MAX_COLUMNS:
                raise self.package.damaged("it has cells beyond the last row or column")
            shown = " ".join(self._shown(cell).split())
            if shown:
                self.cells += 1
                if self.cells > MAX_CELLS:
                    raise too_many_cells(self._name)
                sheet.rows.setdefault(row, {})[column] = shown
        self._last_row = row

    def _shown(self, cell: etree._Element) -> str:
        """Return what a cell shows."""
        kind = value(cell, "t") or "n"
        if kind == "inlineStr":
            inline = child(cell, "is")
            return _text(inline) if inline is not None else ""
        held = child(cell, "v")
        text = (held.text or "").strip() if held is not None else ""
        if kind == "s":
            at = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
            if not 0 <= at < len(self._strings):
                raise self.package.damaged(f"the cell {value(cell, 'r')!r} has no text")
            return self._strings[at]
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        if kind == "n" and text:
            return shown_number(text, self._formats.of(number(cell, "s") or 0), self._formats.epoch)
        return text.replace("T00:00:00", "") if kind == "d" else text


def _sheets(workbook: etree._Element) -> etree._Element:
    found = child(workbook, "sheets")
    return workbook if found is None else found


def _rows_and_merges(data: bytes) -> Iterator[etree._Element]:
    """Go through a sheet without holding all of it."""
    parts = etree.iterparse(
        io.BytesIO(data),
        tag=("{*}row", "{*}mergeCell"),
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    return (element for _, element in parts)


def _merge(sheet: Sheet, reference: str) -> None:
    corners = parse_range(reference)
    if corners is not None:
        (top, left), (bottom, right) = corners
        size = bottom - top + 1, right - left + 1
        if mergeable(*size):
            sheet.merged[top, left] = size


def _text(element: etree._Element) -> str:
    """Return a string's runs; the hints how to pronounce it are no part of it."""
    pieces: list[str] = []
    for item in element:
        if local(item) == "t":
            pieces.append(item.text or "")
        elif local(item) == "r":
            pieces.extend(text.text or "" for text in children(item, "t"))
    return "".join(pieces)
