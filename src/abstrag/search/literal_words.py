"""Which literal of a query each of its words belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

NOWHERE: Final = -1
_PART: Final = re.compile(r"\d+(?:[.,]\d+)+|\w+")


def label_words(label: str) -> list[str]:
    """Return the words of a literal, those joined by hyphens one by one."""
    return _PART.findall(label)


def literals_of_words(
    words: Sequence[str], labels: Sequence[str], forms: Callable[[str], Collection[str]]
) -> tuple[int, ...]:
    """Return the literal of each content word of a query, −1 where none does.

    A word that two literals have belongs to the one that has its neighbours too: of "Confidential
    Information may include verbal information" the last word is the literal "information" alone.
    """
    parts = [[frozenset(forms(word)) for word in label_words(label)] for label in labels]
    own = [frozenset(forms(word)) for word in words]
    found = [NOWHERE] * len(words)
    order = sorted(range(len(labels)), key=lambda j: -len(parts[j]))
    for j in order:
        for start in range(len(words)):
            run = range(start, min(start + len(parts[j]), len(words)))
            if len(run) == len(parts[j]) and all(
                found[i] == NOWHERE and own[i] & parts[j][i - start] for i in run
            ):
                for i in run:
                    found[i] = j
    for i, word in enumerate(own):
        if found[i] == NOWHERE:
            fits = (j for j, some in enumerate(parts) if any(word & part for part in some))
            found[i] = next(fits, NOWHERE)
    return tuple(found)
