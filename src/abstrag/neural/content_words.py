"""Words as the aligner sees them: what the tokenizer cuts at spaces and punctuation.

All pieces of a word belong together, and a number with points or commas inside ("1,250.5") is one
word. Function words and punctuation carry no content; signs of units and currencies do. Training
cuts texts by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

FUNCTION_WORDS: Final = frozenset(
    "a an the of in on at to for by with from as is are was were be been being am do does did done"
    " has have had having it its this that these those there their theirs they them he she his her"
    " hers him we us our ours you your yours i me my mine and or but if then than so such into onto"
    " over under about between among within during per via also both each any some can could may"
    " might shall should will would must s t re ve ll d m".split()
)
_SIGNS: Final = frozenset("%$€£¥°")
_HIDDEN: Final = "[mask]"  # a token that stands for a word nobody is to know
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)+")


class Pieces(NamedTuple):
    """A word of a text: its place, and the tokens it is made of."""

    start: int
    end: int
    first: int  # token
    last: int  # token, not included


def words_of(
    text: str, word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]
) -> Iterator[Pieces]:
    """Go through all words of an encoded text, function words and punctuation included.

    Tokens that belong to no word, as those around a text, are left out.
    """
    inside = {
        place: match.start()
        for match in _NUMBER.finditer(text)
        for place in range(match.start(), match.end())
    }
    known: object = None
    begun: Pieces | None = None
    for place, (word, (start, end)) in enumerate(zip(word_ids, offsets, strict=True)):
        if word is None:
            continue
        key = ("number", inside[start]) if start in inside else ("word", word)
        if begun is not None and key == known and begun.last == place:
            begun = begun._replace(end=end, last=place + 1)
            continue
        if begun is not None:
            yield begun
        begun, known = Pieces(start, end, place, place + 1), key
    if begun is not None:
        yield begun


def content_words(
    text: str, word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]
) -> list[Pieces]:
    """Return the words that carry content; all of them where none does."""
    words = list(words_of(text, word_ids, offsets))
    return [word for word in words if has_content(text[word.start : word.end].lower())] or words


def has_content(word: str) -> bool:
    """Tell whether a word, in lower case, is more than grammar or punctuation."""
    if word in _SIGNS:
        return True
    return any(c.isalnum() for c in word) and word not in FUNCTION_WORDS and word != _HIDDEN
