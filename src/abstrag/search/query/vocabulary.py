"""What a query has to know of an index: its terms, what they are called and what each counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import log
from typing import Final, Protocol

from abstrag.config import EVENT_LITERAL_WEIGHT, MAX_LITERALS
from abstrag.language.calendar import CALENDAR_YEAR, FiscalYear
from abstrag.language.statements import statement_named
from abstrag.language.words import key
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.segment import SegmentRole
from abstrag.model.term import Interval, Term, TermKind
from abstrag.search.query.scope import names

_FISCAL: Final = re.compile(
    r"\b(?:fiscal|financial|fy)(?:\s+years?)?\W*(?P<year>(?:20)?\d\d\b)?", re.IGNORECASE
)

# With "the" before them they are the document whose title has them: a "Lease Agreement".
_DEEDS: Final = frozenset(
    "act agreement charter constitution contract deed guide guideline handbook lease licence "
    "license policy protocol regulation statute treaty".split()
)
_CONTRACTS: Final = frozenset({"agreement", "contract"})  # two names of one thing
_TABLES: Final = frozenset({SegmentRole.TABLE.value, SegmentRole.CELL.value})


class Names(Protocol):
    """Which entity a surface names."""

    def get(self, key: str, /) -> str | None:
        """Return the entity term that the key of a surface names, or None."""
        ...


class TermLookup(Protocol):
    """What a query has to ask of whatever it is put to: one document or many."""

    @property
    def segments(self) -> int:
        """How many texts there are, of which a term is in some."""
        ...

    @property
    def terms(self) -> Container[str]:
        """The terms there are."""
        ...

    @property
    def names(self) -> Names:
        """What entities are called."""
        ...

    @property
    def longest_name(self) -> int:
        """How many words the longest name has."""
        ...

    def frequency(self, terms: Iterable[str]) -> int:
        """Return how many texts hold any of the terms."""
        ...

    def times_inside(self, interval: Interval) -> tuple[str, ...]:
        """Return the known times that lie wholly inside an interval."""
        ...

    def has_section(self, name: str) -> bool:
        """Tell whether there may be a section of that name to restrict a query to."""
        ...

    @property
    def fiscal(self) -> FiscalYear:
        """When fiscal years begin and what they are called."""
        ...

    @property
    def self_names(self) -> frozenset[str]:
        """What the document is called in questions about it, as its title lets expect."""
        ...


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms of an index as a query sees them."""

    segments: int
    terms: frozenset[str]
    names: Mapping[str, str]  # key of a surface → the entity term it names
    longest_name: int  # in words
    times: Mapping[str, Interval]
    postings: Mapping[str, Sequence[int]]  # the segment of each mention, so one may come again
    sections: frozenset[tuple[str, tuple[str, ...]]]  # role, and the headings above
    fiscal: FiscalYear = CALENDAR_YEAR
    self_names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, index: DocumentIndex) -> Vocabulary:
        """Read the vocabulary off an index."""
        named: dict[str, str] = {}
        times: dict[str, Interval] = {}
        for term in index.map.terms:
            if term.kind is TermKind.ENTITY:
                for surface in (term.label, *term.surfaces):
                    named.setdefault(key(surface), term.id)
            elif term.interval is not None:
                times[term.id] = term.interval
        postings: dict[str, list[int]] = {}  # no sets: few of them are ever looked at
        for mention in index.mentions:
            postings.setdefault(mention.term, []).append(mention.segment)
        for frame in index.frames:
            postings.setdefault(frame.event, []).append(frame.segment)
        named.pop("", None)
        return cls(
            segments=len(index.records),
            terms=frozenset(t.id for t in index.map.terms),
            names=named,
            longest_name=max((len(n.split()) for n in named), default=0),
            times=times,
            postings=postings,
            sections=frozenset((s.role.value, s.section) for s in index.segments),
            fiscal=_fiscal(index.map.terms),
            self_names=_self_names(index.document.title),
        )

    def frequency(self, terms: Iterable[str]) -> int:
        """Return how many segments hold any of the terms."""
        found: set[int] = set()
        for term in terms:
            found.update(self.postings.get(term, ()))
        return len(found)

    def times_inside(self, interval: Interval) -> tuple[str, ...]:
        """Return the times of the document that lie wholly inside an interval."""
        return tuple(sorted(t for t, own in self.times.items() if interval.contains(own)))

    def has_section(self, name: str) -> bool:
        """Tell whether any segment lies in a section of that name."""
        if statement_named(name) is not None:  # a title without a table is a line of contents
            return any(names(name, "", over) for role, over in self.sections if role in _TABLES)
        return any(names(name, role, headings) for role, headings in self.sections)


def _self_names(title: str) -> frozenset[str]:
    """Return what a document may be called by the kind of thing that its title says it is."""
    found = _DEEDS.intersection(key(title).split())
    return found | _CONTRACTS if found & _CONTRACTS else found


def _fiscal(terms: Iterable[Term]) -> FiscalYear:
    """Return the year as which most of the years are read that a document calls fiscal."""
    years: Counter[tuple[int, bool]] = Counter()
    for term in terms:
        called = [name for text in term.surfaces if (name := _FISCAL.search(text))]
        if term.interval is not None and called:
            first, last = map(date.fromisoformat, (term.interval.start, term.interval.end))
            if (last - first).days in (364, 365):
                named = {int(name["year"][-2:]) for name in called if name["year"]}
                for_start = first.month > 1 and named == {first.year % 100}
                years[first.month, for_start] += 1
    found = max(years, key=lambda year: (years[year], -year[0], not year[1]), default=(1, False))
    return FiscalYear(*found)


# How much each literal of a query counts, and which stay when there are too many.

_SUBJECT: Final = 1.3  # what the question is about, against any other literal
_NAMED: Final = 1.25
_LIGHT: Final = 0.35  # words that say little wherever they stand
# Words of questions that hardly tell passages apart: what is asked for ("number", "kind"), and what
# any text does ("use", "describe").
_LIGHT_WORDS: Final = frozenset(
    "amount aspect detail example following information kind mean mention name number question "
    "reason section sort state thing type way describe discuss explain happen occur show turn base "
    "rely follow give get make use".split()
)


def weighted(
    literals: Sequence[Literal], vocabulary: TermLookup, *, subject: Literal | None = None
) -> tuple[Literal, ...]:
    """Weigh literals by type, importance and rarity, keep the most important, let weights sum to 1.

    Of too many, the subject stays whatever it weighs, then names, then numbers and times, then the
    heaviest of the rest.
    """
    merged: dict[tuple[str, ...], Literal] = {}
    for literal in literals:
        merged.setdefault(literal.terms, literal)
    raw = []
    for place, literal in enumerate(merged.values()):
        df, n = vocabulary.frequency(literal.terms), vocabulary.segments
        rarity = log(1 + (n - df + 0.5) / (df + 0.5))
        is_subject = subject is not None and literal.terms == subject.terms
        weight = _importance(literal, is_subject=is_subject) * rarity
        rank = 0 if is_subject else _RANKS.get(literal.kind, 3) if not is_light(literal) else 4
        raw.append((rank, weight, place, literal))
    kept = sorted(raw, key=lambda r: (r[0], -r[1], r[2]))[:MAX_LITERALS]
    kept.sort(key=lambda r: r[2])
    total = sum(weight for _, weight, _, _ in kept)
    return tuple(replace(literal, weight=weight / total) for _, weight, _, literal in kept)


_RANKS: Final = {LiteralKind.ENTITY: 1, LiteralKind.TIME: 2, LiteralKind.QUANTITY: 2}


def is_light(literal: Literal) -> bool:
    """True for a literal that hardly tells one passage from another."""
    return literal.kind in (LiteralKind.CONCEPT, LiteralKind.EVENT) and (
        literal.label.casefold() in _LIGHT_WORDS
    )


def _importance(literal: Literal, *, is_subject: bool) -> float:
    if is_light(literal):
        return _LIGHT
    kind = EVENT_LITERAL_WEIGHT if literal.kind is LiteralKind.EVENT else 1.0
    if literal.kind is LiteralKind.ENTITY:
        kind = _NAMED
    return max(kind, _SUBJECT) if is_subject else kind
