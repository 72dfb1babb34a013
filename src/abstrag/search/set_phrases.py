"""Set phrases: words that mean in a phrase what they do not mean elsewhere.

"In addition to" adds nothing. A word of such a phrase meets no other word of a query, unless the
query has the phrase too.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from abstrag.data_file import read_data_file

_AROUND: Final = 60  # letters on each side of a word in which a phrase is looked for


@cache
def _phrases() -> re.Pattern[str]:
    """Return all phrases, the longest first."""
    listed = read_data_file("abstrag.search", "set_phrases.toml")["phrases"].split("\n")
    phrases = sorted(filter(None, listed), key=lambda phrase: (-len(phrase), phrase))
    shapes = (r"\s+".join(f"(?:{word})" for word in phrase.split()) for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{'|'.join(shapes)})(?!\w)", re.IGNORECASE)


def in_phrase(text: str, start: int, end: int, query: str) -> bool:
    """Tell whether a word of a text is a part of a set phrase that a query does not have."""
    first = max(0, start - _AROUND)
    for found in _phrases().finditer(text, first, min(len(text), end + _AROUND)):
        if found.start() <= start and end <= found.end():
            phrase = " ".join(found.group().split()).casefold()
            return phrase not in query.casefold()
    return False
