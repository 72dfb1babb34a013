"""Forms: surfaces folded for looking up, and those a text could be looked up by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

MOST_WORDS: Final = 16  # of a form that is looked for; a longer name is found by its other names
_WORD = re.compile(r"(?:[^\W_]|[+#])+")


def folded(surface: str) -> str:
    """Fold a surface to the form it is looked up by: case, dashes, dots and spaces do not count."""
    text = unicodedata.normalize("NFKC", surface).casefold()
    return " ".join(_WORD.findall(text))


def words(text: str) -> tuple[str, ...]:
    """Return the folded words of a text, in order."""
    return tuple(folded(match.group()) for match in _WORD.finditer(text))


def written_forms(texts: Iterable[str], longest: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Go through the stretches of texts that may be names, each with the words as written.

    `longest` tells for a first word how many words a name beginning with it has at most; other
    words begin no name. Of a plural the singular is tried too.
    """
    for text in texts:
        places = [(folded(m.group()), m.start(), m.end()) for m in _WORD.finditer(text)]
        for i, (_, start, _) in enumerate(places):
            first = [w for w in singulars(places[i][0]) if w in longest]
            reach = max((longest[w] for w in first), default=0)
            for last in range(i, min(i + reach, len(places))):
                written = text[start : places[last][2]]
                before = [w for w, _, _ in places[i:last]]
                for end in singulars(places[last][0]):
                    yield " ".join([*before, end]), written


def singulars(word: str) -> tuple[str, ...]:
    """Return a word and what it may be the plural of; too many rather than too few."""
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return (word,)
    if word.endswith("ies"):
        return word, f"{word[:-3]}y", word[:-1]
    if word.endswith("es"):
        return word, word[:-1], word[:-2]
    return word, word[:-1]


def agrees(surface: str, written: Iterable[str]) -> bool:
    """Tell whether a name can be meant by words so written: WHO is not who, nor US us."""
    if not (surface.isupper() and surface.isalpha()):
        return True
    return any(text.isupper() or text.removesuffix("s").isupper() for text in written)
