"""What headings and captions name: the terms that whatever stands under them may lean on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from abstrag.indexing.abstraction.ledger import Ledger
from abstrag.indexing.abstraction.nominals import Vocabulary, read_nominals
from abstrag.indexing.abstraction.passage import Passage
from abstrag.language.keys import key
from abstrag.language.parser import parse
from abstrag.language.spelling import lowered
from abstrag.language.words import Words
from abstrag.model.span import Quote, Span
from abstrag.model.term import Term, TermKind

_LONGEST_NAME: Final = 6  # words


class Headings:
    """The entities and concepts that each of some headings names."""

    def __init__(self, texts: Iterable[str], entities: Iterable[Term]) -> None:
        """Read the headings; `entities` are those that the document knows."""
        known = {
            key(surface): term.id
            for term in entities
            if term.kind is TermKind.ENTITY
            for surface in term.surfaces
        }
        distinct = tuple(dict.fromkeys(texts))
        self._entities = {text: _names(key(text).split(), known) for text in distinct}
        self._concepts = {
            text: _concepts(text, Words(doc))
            for text, doc in zip(distinct, parse(map(lowered, distinct)), strict=True)
        }

    def entities(self, text: str) -> tuple[str, ...]:
        """Return the entities that a heading names."""
        return self._entities[text]

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the entities and concepts that a heading names."""
        return self._entities[text] + self._concepts[text]


def _names(words: Sequence[str], known: dict[str, str]) -> tuple[str, ...]:
    """Find known names in the words of a heading, the longest first; no two overlap."""
    found: dict[str, None] = {}
    first = 0
    while first < len(words):
        for last in range(min(len(words), first + _LONGEST_NAME), first, -1):
            if term := known.get(" ".join(words[first:last])):
                found[term] = None
                first = last
                break
        else:
            first += 1
    return tuple(found)


def _concepts(text: str, words: Words) -> tuple[str, ...]:
    ledger = Ledger()
    quote = Quote(text, Span(0, len(text)))
    read_nominals(Passage(0, None, quote, words, 0, words.size, {}, {}), ledger, Vocabulary())
    return tuple(term.id for term in ledger.terms)
