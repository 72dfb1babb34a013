"""ExpSyn: other words for the same thing, and words of the same root (conceptual gap)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from abstrag.config import OMEGA
from abstrag.language.keys import term_id
from abstrag.lexicon.events import event_key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.distances import abstraction_distance
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind

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
                found |= _terms_of(lemma, other)
    return frozenset(found)


def _terms_of(lemma: str, pos: Pos) -> set[str]:
    """Return the ids under which the index may hold a word."""
    word = lemma.casefold()
    found = {term_id(_OF_POS[pos], word)} if pos in _OF_POS else set()
    if pos in (Pos.NOUN, Pos.VERB):
        found.add(term_id(TermKind.EVENT, event_key(word, pos.name)))
    return found
