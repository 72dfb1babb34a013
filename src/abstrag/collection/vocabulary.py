"""The vocabulary of a collection: what a query asks of all documents at once, by hashes alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.collection.card import COST_STEPS, hashed
from abstrag.collection.postings import PostingLookup
from abstrag.config import OMEGA
from abstrag.language.calendar import CALENDAR_YEAR, FiscalYear
from abstrag.language.words import term_id
from abstrag.model.distances import abstraction_distance
from abstrag.model.query import Query
from abstrag.model.term import Family, Interval, TermKind
from abstrag.search.query.operators import interval_of, same_root

LONGEST_NAME: Final = 6  # words of a query that are looked up as one name
_DERIVED: Final = OMEGA[Family.CONCEPT] + abstraction_distance(one_way=False)

Scores = npt.NDArray[np.float32]

_interval_of = lru_cache(maxsize=1 << 16)(interval_of)  # a question of time looks at all times


@dataclass(frozen=True, slots=True)
class _Terms:
    postings: PostingLookup

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and hashed(term) in self.postings


@dataclass(frozen=True, slots=True)
class _Names:
    terms: _Terms

    def get(self, key: str, /) -> str | None:
        """Return the entity a surface names; every name of one is a term of its own here."""
        term = term_id(TermKind.ENTITY, key)
        return term if term in self.terms else None


@dataclass(frozen=True, slots=True)
class CollectionVocabulary:
    """The terms of all documents as a query sees them; a text is a whole document."""

    segments: int
    postings: PostingLookup
    times: tuple[str, ...]  # ids of the time terms of any document
    longest_name: int = LONGEST_NAME
    rows: int | None = None  # how many there are, where not every document has one

    @property
    def terms(self) -> _Terms:
        """The terms there are."""
        return _Terms(self.postings)

    @property
    def names(self) -> _Names:
        """What entities are called."""
        return _Names(self.terms)

    def frequency(self, terms: Iterable[str]) -> int:
        """Return how many documents lead to any of the terms."""
        found = [self.postings.column(hashed(term))[0] for term in terms]
        return len(np.unique(np.concatenate(found))) if found else 0

    def times_inside(self, interval: Interval) -> tuple[str, ...]:
        """Return the times of any document that lie wholly inside an interval."""
        known = ((term, _interval_of(term)) for term in self.times)
        return tuple(sorted(t for t, own in known if own is not None and interval.contains(own)))

    def has_section(self, name: str) -> bool:
        """Return True: cards have no headings, so each document decides for itself."""
        del name
        return True

    @property
    def fiscal(self) -> FiscalYear:
        """The calendar's: documents differ, and each reads the query again with its own."""
        return CALENDAR_YEAR

    @property
    def self_names(self) -> frozenset[str]:
        """None: a question to many documents is about no one of them."""
        return frozenset()

    def scores(self, query: Query) -> Scores:
        """Return Σ w_j · exp(−c_j) for each document: the costed postings of the collection.

        c_j is the least at which the document leads to literal j. It is read off the cards, which
        do not look at families, so no document scores less than its own map will allow.
        """
        size = self.segments if self.rows is None else self.rows
        total = np.zeros(size, np.float32)
        for literal in query.literals:
            best = np.zeros(size, np.float32)
            for term, cost in asked_of(literal.terms):
                rows, costs = self.postings.column(hashed(term))
                values = np.exp(-(costs / np.float32(COST_STEPS) + np.float32(cost)))
                best[rows] = np.maximum(best[rows], values)
            total += np.float32(literal.weight) * best
        return total


def asked_of(terms: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Go through what a literal asks for, and through words of the same root at their price."""
    for term in terms:
        yield term, 0.0
        kind, _, word = term.partition(":")
        if "." not in word:
            yield from ((found, _DERIVED) for found in same_root(kind, word))
