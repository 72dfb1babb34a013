"""When a text's fiscal years begin, as far as the text itself says so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from abstrag.language.calendar import MONTH_NAMES

_MONTH: Final = "|".join(MONTH_NAMES)
_STATED: Final = re.compile(
    rf"""\byears?\s+(?:that\s+)?(?:ended|ending|ends?)\s+(?:on\s+)?(?:the\s+)?
    (?:(?P<before>\d\d?)\s+ | last\s+[a-z]+\s+(?:in|of)\s+)?
    (?P<month>{_MONTH})\b(?:\s+(?P<after>\d\d?)\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_MID_MONTH: Final = 15  # a year that ends on October 1 begins with October, on September 28 too
_FEBRUARY: Final = 2


def stated_fiscal_start(texts: Iterable[str]) -> int | None:
    """Return the month in which most of the years that the texts see "ended" begin.

    None when they say nothing, disagree, or end their years in January: such a year is named for
    either of the two it lies in, so the text does not settle what "fiscal 2022" is.
    """
    starts: Counter[int] = Counter()
    for text in texts:
        for found in _STATED.finditer(text):
            month = MONTH_NAMES.index(found["month"].capitalize()) + 1
            day = int(found["before"] or found["after"] or _MID_MONTH)
            starts[month % 12 + 1 if day >= _MID_MONTH else month] += 1
    if not starts:
        return None
    start, count = max(starts.items(), key=lambda item: (item[1], -item[0]))
    return start if 2 * count > starts.total() and start != _FEBRUARY else None
