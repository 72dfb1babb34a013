"""Risky names: surface forms that may well name two things, whatever an embedding says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_INITIAL = re.compile(r"(?<!\w)[A-Z]\.?(?!\w)")
_ACRONYM = re.compile(r"^[A-Z][A-Z0-9&.-]{1,6}$")
_SMALL = frozenset("of the and for de on in a &".split())


@dataclass(frozen=True, slots=True)
class Risk:
    """Knows the names of a document, and which of them must not be merged on looks alone."""

    surnames: Counter[str]
    expansions: Counter[str]

    @classmethod
    def among(cls, labels: Iterable[str]) -> Risk:
        """Count what the names share: last words, and initials."""
        surnames: Counter[str] = Counter()
        expansions: Counter[str] = Counter()
        for label in sorted(set(labels)):
            words = label.split()
            if len(words) > 1:
                surnames[words[-1].casefold()] += 1
                expansions[_initials(words)] += 1
        return cls(surnames, expansions)

    def __call__(self, left: str, right: str) -> bool:
        """True when either name is a lone word, has initials, shares a surname or is an acronym."""
        return any(map(self._risky, (left, right)))

    def _risky(self, label: str) -> bool:
        words = label.split()
        return (
            len(words) < 2  # a lone word; an acronym is one too
            or _INITIAL.search(label) is not None
            or self.surnames[words[-1].casefold()] > 1
            or self._several(label)
        )

    def _several(self, label: str) -> bool:
        """True for what holds an acronym that more than one name of the document spells out."""
        letters = (w.replace(".", "") for w in label.split() if _ACRONYM.match(w))
        return any(self.expansions[w] > 1 for w in letters)


def _initials(words: Iterable[str]) -> str:
    return "".join(w[0] for w in words if w.casefold() not in _SMALL).upper()
