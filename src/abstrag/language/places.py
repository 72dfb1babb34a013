"""Places: where a text has exactly certain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

Place = tuple[int, int]


def places(text: str, quote: str) -> Iterator[Place]:
    """Go through the places where a text has exactly these words, not as a part of longer ones."""
    words = quote.strip()
    if words:
        before = r"(?<!\w)" if words[0].isalnum() else ""
        after = r"(?!\w)" if words[-1].isalnum() else ""
        for match in re.finditer(before + re.escape(words) + after, text):
            yield match.span()


def overlaps(a: Place, b: Place) -> bool:
    """True when two places share a character."""
    return a[0] < b[1] and b[0] < a[1]
