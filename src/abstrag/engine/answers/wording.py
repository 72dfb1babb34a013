"""How figures and what is reckoned from them are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.engine.answers.figures import TableFigure
from abstrag.engine.answers.lookup import Row
from abstrag.engine.answers.words import stems

_DAY: Final = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}")
_SHORT_HEAD: Final = 12  # characters of a head that is a period and nothing else


def is_named(row: Row, words: Sequence[str]) -> bool:
    """Tell whether a row's name has one of some words."""
    own = set(stems(row.figures[0].label))
    return any(stem in own for word in words for stem in stems(word))


def when(figure: TableFigure) -> str:
    """Return a figure's period as its head has it, or the bare year where the head is long."""
    head = figure.period
    short = len(head) <= _SHORT_HEAD and not _DAY.search(head)
    return head if short or not figure.years else figure.years[0]


def yes_or_no(holds: bool) -> str:
    """Return the word."""
    return "Yes" if holds else "No"


def listed(used: Sequence[TableFigure]) -> str:
    """Write figures with their periods."""
    return ", ".join(f"{f.period}: {f.shown}" for f in used)


def plain(figure: TableFigure, *, positive: bool = False) -> str:
    """Write a figure as an operand of a formula."""
    value = abs(figure.value) if positive else figure.value
    return f"({shown(value)})" if value < 0 else shown(value)


def shown(value: float) -> str:
    """Write a number with at most two decimals and commas between thousands."""
    text = f"{value:,.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def with_scale(value: float, like: TableFigure) -> str:
    """Write a number with the unit and the scale of a figure."""
    unit = " %" if like.unit == "%" else ""
    sign = "$" if like.unit == "USD" else ""
    minus = "-" if value < 0 else ""
    return f"{minus}{sign}{shown(abs(value))}{unit} {like.scale}".strip()
