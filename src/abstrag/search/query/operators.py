"""The six query operators, by name: what a search uses unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import ClassVar, Final, Protocol

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from abstrag.config import OMEGA
from abstrag.language.words import term_id
from abstrag.lexicon.events import event_key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import is_person
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.distances import abstraction_distance, expression_distance
from abstrag.model.term import Edge, Family, Interval, Licence, LicenceKind, Relation, TermKind
from abstrag.search.query.vocabulary import Vocabulary

# What a query-side operator is: a kind of costed edge that a search may or may not use.
#
# The document's map already holds most of them, because the chain works once for all queries; an
# operator says which of those edges are its own and may offer more when the search gets to a term.
# Leaving an operator out of a search leaves out both. What text or Background *states* is free,
# belongs to no operator and is always used.


class QueryOperator(Protocol):
    """One of the six expansions of appendix D.5."""

    name: ClassVar[str]

    def admits(self, edge: Edge) -> bool:
        """True when a costed edge of the map is this operator's."""
        ...

    def edges_into(self, term: str) -> Iterable[Edge]:
        """Offer further edges that lead to a term."""
        ...


def admitted(edges: Iterable[Edge], operators: Sequence[QueryOperator]) -> tuple[Edge, ...]:
    """Return the edges a search with these operators may use."""
    return tuple(e for e in edges if e.truth_preserving or any(op.admits(e) for op in operators))


# ExpAlias: other names and spellings of an entity (expression gap).

_CLOSE: Final = 0.25  # at most this much of a name may be spelt differently
_SHORT: Final = 3  # letters below which any two names are close
_PREFIX: Final = f"{TermKind.ENTITY.value}:"


@dataclass(frozen=True, slots=True)
class ExpandAlias:
    """Offers names the document uses that are spelt almost like the one asked for.

    "Antropic" finds Anthropic, and "WHO" a World Health Organization that never introduces its
    initials. Both are guesses and pay for it.
    """

    names: Mapping[str, str]  # key of a surface → entity term
    name: ClassVar[str] = "alias"

    def admits(self, edge: Edge) -> bool:
        """Guessed aliases of the map."""
        return edge.family is Family.EXPRESSION and not edge.target.startswith("time:")

    def edges_into(self, term: str) -> Iterator[Edge]:
        """Offer names close to an entity the document does not know."""
        asked = term.removeprefix(_PREFIX)
        if not term.startswith(_PREFIX) or asked in self.names or len(asked) < 2:
            return
        found = {n for n in self.names if _initials(n) == asked.replace(".", "")}
        if len(asked) > _SHORT:
            scorer = Levenshtein.normalized_distance
            close = process.extract_iter(
                asked, list(self.names), scorer=scorer, score_cutoff=_CLOSE
            )
            found |= {name for name, _distance, _place in close}
        for name in sorted(found):
            if self.names[name] != term:
                yield Edge(
                    source=self.names[name],
                    target=term,
                    relation=Relation.IMPLIES,
                    family=Family.EXPRESSION,
                    operator=self.name,
                    weight=OMEGA[Family.EXPRESSION],
                    distance=expression_distance(asked, name, guessed=True),
                    truth_preserving=False,
                    confidence=0.5,
                    licence=Licence(LicenceKind.LEXICON, f"spelling: {asked} ~ {name}"),
                )


def _initials(name: str) -> str:
    words = [w for w in name.split() if w not in ("of", "the", "and", "for", "&")]
    return "".join(w[0] for w in words) if len(words) > 1 else ""


# ExpSyn: other words for the same thing, and words of the same root (conceptual gap).

_OF_POS: Final = {
    Pos.NOUN: TermKind.CONCEPT,
    Pos.ADJECTIVE: TermKind.CONCEPT,
    Pos.VERB: TermKind.EVENT,
}


@dataclass(frozen=True, slots=True)
class ExpandSynonym:
    """Uses the map's edges to a word's own sense, and offers words derived from the one asked for.

    "economic" finds economy and "marry" finds marriage: WordNet's derivational links, which say
    that the roots are the same and not how near the meanings are, so they pay the baseline.
    """

    terms: frozenset[str]  # of the document
    name: ClassVar[str] = "synonym"

    def admits(self, edge: Edge) -> bool:
        """Edges of the map that cross no level: a word and its sense."""
        return edge.family is Family.CONCEPT and edge.distance == 0.0

    def edges_into(self, term: str) -> Iterator[Edge]:
        """Offer words of the document derived from the one asked for."""
        kind, _, word = term.partition(":")
        if kind not in (TermKind.CONCEPT, TermKind.EVENT) or "." in word:
            return
        for source in sorted(same_root(kind, word) & self.terms - {term}):
            yield Edge(
                source=source,
                target=term,
                relation=Relation.IMPLIES,
                family=Family.CONCEPT,
                operator=self.name,
                weight=OMEGA[Family.CONCEPT],
                distance=abstraction_distance(one_way=False),
                truth_preserving=False,
                confidence=0.5,
                licence=Licence(LicenceKind.LEXICON, f"WordNet derives {word} ~ {source}"),
            )


@lru_cache(maxsize=1 << 14)
def same_root(kind: str, word: str) -> frozenset[str]:
    """Return the ids under which an index may hold what WordNet derives from a term's word."""
    found = set[str]()
    for pos, own in _OF_POS.items():
        if own.value == kind:
            for lemma, other in wordnet().derived(word, pos):
                somebody = pos is Pos.NOUN and is_person(word)
                if somebody is (other is Pos.NOUN and is_person(lemma)):  # chemist, chemistry
                    found |= _terms_of(lemma, other)
    return frozenset(found)


def _terms_of(lemma: str, pos: Pos) -> set[str]:
    """Return the ids under which the index may hold a word."""
    word = lemma.casefold()
    found = {term_id(_OF_POS[pos], word)} if pos in _OF_POS else set()
    if pos in (Pos.NOUN, Pos.VERB):
        found.add(term_id(TermKind.EVENT, event_key(word, pos.name)))
    return found


# ExpHyp: a more specific word where a more general one was asked for (conceptual gap).


@dataclass(frozen=True, slots=True)
class ExpandHypernym:
    """Uses the map's edges from a word to what it is a kind of.

    They hold in one direction: a text about cars serves a query for vehicles, a text about
    vehicles does not serve a query for cars.
    """

    name: ClassVar[str] = "hypernym"

    def admits(self, edge: Edge) -> bool:
        """Edges of the map that climb a level."""
        return edge.family is Family.CONCEPT and edge.distance > 0.0

    def edges_into(self, term: str) -> tuple[Edge, ...]:  # noqa: ARG002
        """Offer nothing: the chain has put every ancestor into the map."""
        return ()


# ExpRole: the holder of an office where a type of person or party was asked for (intent gap).


@dataclass(frozen=True, slots=True)
class ExpandRole:
    """Uses the map's office edges: the CTO of an AI company stands for that company."""

    name: ClassVar[str] = "role"

    def admits(self, edge: Edge) -> bool:
        """Edges from offices to types."""
        return edge.family is Family.INTENT

    def edges_into(self, term: str) -> tuple[Edge, ...]:  # noqa: ARG002
        """Offer nothing: which offices there are, only the document knows."""
        return ()


# ExpEvent: frames and artifacts where an event type was asked for (event gap).


@dataclass(frozen=True, slots=True)
class ExpandEvent:
    """Uses the map's event edges: a visit may be part of a collaboration."""

    name: ClassVar[str] = "event"

    def admits(self, edge: Edge) -> bool:
        """Edges from events and artifacts to event types."""
        return edge.family is Family.EVENT

    def edges_into(self, term: str) -> tuple[Edge, ...]:  # noqa: ARG002
        """Offer nothing: the chain has looked up every event the document tells."""
        return ()


# ExpTime: a time that only overlaps the one asked for (temporal underspecification).

_EVER, _NEVER = date.min.isoformat(), date.max.isoformat()
_LEAP: Final = 2  # days by which two periods of so many years may differ
_WIDEST: Final = 1 - 1 / 12.5  # the share outside: a year may speak of a month, a life of no year
_MOSTLY: Final = 0.49  # the share of a period that makes it another one of the same length
_TIME: Final = f"{TermKind.TIME.value}:"


def time_id(interval: Interval) -> str:
    """Return the id of the term for an interval: a day, or its first and last day."""
    day = interval.start == interval.end
    return term_id(TermKind.TIME, interval.start if day else f"{interval.start}/{interval.end}")


def interval_of(term: str) -> Interval | None:
    """Return the interval a time term's id stands for; None for any other term."""
    if not term.startswith(_TIME):
        return None
    start, _, end = term.removeprefix(_TIME).partition("/")
    return Interval(start, end or start)


@dataclass(frozen=True, slots=True)
class ExpandTime:
    """Offers times of the document that overlap the one asked for without lying inside it.

    "2023 to 2025" may speak of 2024. What is asked for bounds the window: a time that shares no day
    with it is never offered. The distance is the share of the document's time that lies outside;
    one many times as long, such as somebody's whole life, speaks of no year in it. A
    time without an end ("from July 2019") is about where it begins and not about all that follows.
    """

    times: Mapping[str, Interval]
    name: ClassVar[str] = "time"

    def admits(self, edge: Edge) -> bool:
        """Time edges of the map, such as a patch may add."""
        return edge.family is Family.EXPRESSION and edge.target.startswith(_TIME)

    def edges_into(self, term: str) -> Iterator[Edge]:
        """Offer overlapping times."""
        asked = interval_of(term)
        if asked is None:
            return
        for source, own in sorted(self.times.items()):
            if source != term and _speaks_of(own, asked) and not asked.contains(own):
                yield Edge(
                    source=source,
                    target=term,
                    relation=Relation.IMPLIES,
                    family=Family.EXPRESSION,
                    operator=self.name,
                    weight=OMEGA[Family.EXPRESSION],
                    distance=round(_outside(own, asked), 4),
                    truth_preserving=False,
                    confidence=0.5,
                    licence=Licence(LicenceKind.LEXICON, f"{source} overlaps {term}"),
                )


def _speaks_of(own: Interval, asked: Interval) -> bool:
    if own.end >= _NEVER:
        return asked.start <= own.start <= asked.end
    if own.start <= _EVER:
        return asked.start <= own.end <= asked.end
    if not asked.overlaps(own) or _outside(own, asked) > _WIDEST:
        return False
    alike = abs(_days(own.start, own.end) - _days(asked.start, asked.end)) <= _LEAP
    return not (alike and _outside(own, asked) >= _MOSTLY)  # 2015–16 is not 2016–17


def _outside(own: Interval, asked: Interval) -> float:
    shared = _days(max(own.start, asked.start), min(own.end, asked.end))
    return 1.0 - shared / _days(own.start, own.end)


def _days(start: str, end: str) -> int:
    return date.fromisoformat(end).toordinal() - date.fromisoformat(start).toordinal() + 1


OPERATORS: Final = ("alias", "synonym", "hypernym", "role", "event", "time")


def standard_operators(
    vocabulary: Vocabulary, *, without: frozenset[str] = frozenset()
) -> tuple[QueryOperator, ...]:
    """Return the operators for one index, less those an ablation leaves out."""
    made: tuple[QueryOperator, ...] = (
        ExpandAlias(vocabulary.names),
        ExpandSynonym(vocabulary.terms),
        ExpandHypernym(),
        ExpandRole(),
        ExpandEvent(),
        ExpandTime(vocabulary.times),
    )
    return tuple(op for op in made if op.name not in without)
