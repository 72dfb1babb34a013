"""Words of a canonical text that the text itself does not have, and what stands there for them.

"It restarted" is "The reactor restarted" in canonical form: "It" stands for "reactor". Times are
left out; they are compared as times, not as digits.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from abstrag.neural.content_words import has_content

_WORD: Final = re.compile(r"\w+")


class Rewritten(NamedTuple):
    """A word of the canonical text, and the words of the text that it stands for."""

    word: str
    start: int
    end: int


def rewritten_words(text: str, canonical: str) -> list[Rewritten]:
    """Return the content words that only the canonical text has, in their order."""
    if text == canonical:
        return []
    said, written = list(_WORD.finditer(text)), list(_WORD.finditer(canonical))
    own, new = [w.group() for w in said], [w.group() for w in written]
    first = 0
    while first < min(len(own), len(new)) and own[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(own), len(new)) - first and own[-1 - last] == new[-1 - last]:
        last += 1
    inner = own[first : len(own) - last], new[first : len(new) - last]
    found: list[Rewritten] = []
    for tag, i, j, k, m in SequenceMatcher(None, *inner, autojunk=False).get_opcodes():
        if tag != "replace":
            continue
        start, end = said[first + i].start(), said[first + j - 1].end()
        fresh = (word for word in inner[1][k:m] if word not in inner[0][i:j])
        telling = (word for word in fresh if word.isalpha() and has_content(word.lower()))
        found += [Rewritten(word, start, end) for word in telling]
    return found
