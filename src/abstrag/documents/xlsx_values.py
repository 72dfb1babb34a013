"""Numbers of a workbook as a reader needs them: dates in ISO form, percentages as such."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from lxml import etree

from abstrag.documents.docx_package import child, children, number, value

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
            for one in (children(codes, "numFmt") if codes is not None else ())
        }
        cells = child(styles, "cellXfs")
        self._kinds = [
            own.get(code) or _BUILT_IN.get(code or 0, NumberKind.NUMBER)
            for one in (children(cells, "xf") if cells is not None else ())
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
