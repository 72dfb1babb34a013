"""Lines of a table that name what the rows below them belong to.

"Basic | 0.36" says nothing without "Net income per share:" two lines above it, and of three rows
called "% of revenue" each speaks about the row that it stands under.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final

_LONGEST: Final = 90  # characters of a title line; a longer one is a remark
_NOTE: Final = re.compile(r"[(\[]\w{1,2}[)\]]|[*†‡]")  # how a remark below a table begins
_SUM: Final = re.compile(r"(?:sub-?)?totals?\b", re.IGNORECASE)


def lines_over(rows: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """Return for each row of a table's body the rows it stands under, the outer one first.

    The first is the last title line above it: a row of which nothing but the first cell is filled,
    in force up to a sum, a row without a name or one that repeats the title. Where rows that do not
    follow one another share a name under one title, the last row above with a name of its own is
    the second.
    """
    names = [row[0].strip() if row else "" for row in rows]
    titles = [_is_title(row) for row in rows]
    under = _titles_over(rows, names, titles)
    called = [
        None if title else (over, name.casefold())
        for over, name, title in zip(under, names, titles, strict=True)
    ]
    named = Counter(key for key, _ in groupby(called))
    found: list[tuple[int, ...]] = []
    above: int | None = None
    for i, name in enumerate(names):
        if titles[i]:
            above = None
            found.append(())
            continue
        shared = bool(name) and named[called[i]] > 1
        over = (under[i], above if shared else None)
        found.append(tuple(line for line in over if line is not None))
        if name and not shared:
            above = i
    return tuple(found)


def _is_title(row: Sequence[str]) -> bool:
    if len(row) < 2 or any(cell.strip() for cell in row[1:]):
        return False
    name = row[0].strip()
    says = any(char.isalnum() for char in name)
    return says and len(name) <= _LONGEST and not _NOTE.match(name)


def _titles_over(
    rows: Sequence[Sequence[str]], names: Sequence[str], titles: Sequence[bool]
) -> list[int | None]:
    """Return for each row the title line in force, None for none."""
    found: list[int | None] = []
    last: int | None = None
    for i, name in enumerate(names):
        if titles[i]:
            last = i
        found.append(None if titles[i] else last)
        if last is None or titles[i] or not any(cell.strip() for cell in rows[i]):
            continue
        repeats = name.casefold() == names[last].rstrip(": ").casefold()
        continues = last == i - 1 and name[:1].islower()  # a name that goes on in the next line
        sums_up = _SUM.match(name) is not None and last < i - 1
        if not name or repeats or continues or sums_up:
            last = None
    return found
