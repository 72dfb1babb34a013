"""Which word pieces of a text belong to one word, and which words carry content.

A word is what the tokenizer cuts at spaces and punctuation, all its pieces together; a number with
points or commas inside ("1,250.5") is one word too. Function words and punctuation carry no
content, signs of units and currencies do.
"""

from __future__ import annotations

import re
from typing import Any, Final

STARTS: Final = 1  # the piece is the first of its word
CONTENT: Final = 2  # the piece belongs to a word with content
FUNCTION_WORDS: Final = frozenset(
    "a an the of in on at to for by with from as is are was were be been being am do does did done"
    " has have had having it its this that these those there their theirs they them he she his her"
    " hers him we us our ours you your yours i me my mine and or but if then than so such into onto"
    " over under about between among within during per via also both each any some can could may"
    " might shall should will would must s t re ve ll d m".split()
)
_SIGNS: Final = frozenset("%$€£¥°")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)+")


def marks(text: str, encoding: Any) -> list[int]:
    """Return one number for each token of an encoded text: the sum of the constants that apply."""
    inside = {
        place: match.start()
        for match in _NUMBER.finditer(text)
        for place in range(match.start(), match.end())
    }
    words: list[list[int]] = []
    known: object = None
    for place, (word, (start, _)) in enumerate(
        zip(encoding.word_ids, encoding.offsets, strict=True)
    ):
        key = ("number", inside[start]) if start in inside else ("word", word)
        if key != known:
            words.append([])
        words[-1].append(place)
        known = key
    found = [0] * len(encoding.ids)
    for pieces in words:
        said = text[encoding.offsets[pieces[0]][0] : encoding.offsets[pieces[-1]][1]].lower()
        content = CONTENT if has_content(said) else 0
        for number, place in enumerate(pieces):
            found[place] = content + (0 if number else STARTS)
    return found


def has_content(word: str) -> bool:
    """Tell whether a word, in lower case, is more than grammar or punctuation."""
    return word in _SIGNS or (any(c.isalnum() for c in word) and word not in FUNCTION_WORDS)
