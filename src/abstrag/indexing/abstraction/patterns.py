"""Where to look for class statements: which words and dependencies start which pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from abstrag.indexing.abstraction.appositions import apposition, class_and_name
from abstrag.indexing.abstraction.class_statements import ClassStatement, is_sound
from abstrag.indexing.abstraction.definitional import called, defined_as, is_a, means
from abstrag.indexing.abstraction.hearst import and_other, especially, including, such_as
from abstrag.indexing.abstraction.passage import Passage

Pattern = Callable[[Passage, int], Iterator[ClassStatement]]

_BY_WORD: Final[Mapping[str, Pattern]] = MappingProxyType(
    {
        "such": such_as,
        "including": including,
        "especially": especially,
        "particularly": especially,
        "notably": especially,
        "other": and_other,
        "is": is_a,
        "are": is_a,
        "was": is_a,
        "were": is_a,
        "means": means,
        "mean": means,
        "defined": defined_as,
        "define": defined_as,
        "called": called,
        "call": called,
        "named": called,
        "dubbed": called,
        "termed": called,
        "known": called,
    }
)


def find_stated(passage: Passage) -> Iterator[ClassStatement]:
    """Find every class statement of a passage that may be believed."""
    words = passage.words
    for token in range(passage.first, passage.last):
        pattern = _BY_WORD.get(words.lower[token])
        if pattern is None and words.dep[token] == "appos":
            pattern = apposition
        elif pattern is None and words.pos[token] == "PROPN":
            pattern = class_and_name
        if pattern is not None:
            yield from (s for s in pattern(passage, token) if is_sound(passage, s))
