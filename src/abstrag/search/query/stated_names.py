"""Questions that call a thing by a name that their document only states, and uses another for.

"The Lanford Veterans, better known as the Corks, raced in May. The Corks sank." Who asks where the
Lanford Veterans sank is answered where the Corks did; what a model reads of the question has both
names, for it has not read the sentence that joins them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from abstrag.model.index import DocumentIndex
from abstrag.model.term import Edge, Family, LicenceKind, Relation


@dataclass(frozen=True, slots=True)
class _Stated:
    """Two names of one thing, of which the document uses the second alone where it tells of it."""

    asked: str
    used: str


@dataclass(frozen=True, slots=True)
class StatedNames:
    """The names that a document states once, each with the name that it goes on with."""

    names: Sequence[_Stated]

    @classmethod
    def of(cls, index: DocumentIndex) -> StatedNames:
        """Read them off the steps that a sentence with both names licenses."""
        texts = [segment.text for segment in index.segments]
        found: dict[tuple[str, str], _Stated] = {}
        stated = [edge for edge in index.map.edges if _joins_names(edge)]
        terms = {term.id: term for term in index.map.terms} if stated else {}
        for edge in stated:
            ends = (terms[edge.source], terms[edge.target])
            one, other = ({end.label, *end.surfaces} for end in ends)
            quote = edge.licence.reference
            for a, b in ((one, other), (other, one)):
                first, second = _longest(a, quote), _longest(b, quote)
                if (
                    first
                    and second
                    and not _part_of(second, first)
                    and _goes_on(texts, first, second, quote)
                ):
                    found.setdefault((first, second), _Stated(first, second))
        return cls(tuple(found.values()))

    def glossed(self, text: str) -> str:
        """Return a text with the name in use beside the one that is only stated."""
        for stated in self.names:
            place = _place(stated.asked, text)
            if place is not None and _place(stated.used, text) is None:
                return f"{text[: place.end()]} ({stated.used}){text[place.end() :]}"
        return text


def _joins_names(edge: Edge) -> bool:
    stated = edge.licence.kind is LicenceKind.TEXT and edge.truth_preserving
    return stated and edge.family is Family.EXPRESSION and edge.relation is Relation.EQUIVALENT


def _longest(names: set[str], quote: str) -> str:
    """Return the longest of some names that a quote has."""
    return max((name for name in names if _place(name, quote)), key=len, default="")


def _part_of(name: str, whole: str) -> bool:
    """Tell whether a name is a part of the other, which needs no gloss: Crane, of Arthur Crane."""
    return set(name.casefold().split()) <= set(whole.casefold().split())


def _goes_on(texts: Sequence[str], asked: str, used: str, quote: str) -> bool:
    """Tell whether a document, outside the sentence with both names, only uses the other one."""
    beside = [text for text in texts if quote not in text]
    return any(_place(used, text) for text in beside) and not any(
        _place(asked, text) for text in beside
    )


@lru_cache(maxsize=1 << 12)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _place(name: str, text: str) -> re.Match[str] | None:
    return _pattern(name).search(text) if name in text else None
