"""Families: what kind of step leads from a word of a text to a word of a query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from abstrag.language.keys import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet


@lru_cache(maxsize=1 << 14)
def step_family(asked: str, said: str, *, same: bool = False) -> str:
    """Name the family of a step from a word of a text to a word of a query, by WordNet.

    Synonyms and derived forms are another expression, a broader or narrower word is a step of
    concept, what entails or causes the other an event; all else is merely related, and so is the
    same form in another sense.
    """
    if same:
        return "related"
    net = wordnet()
    a, b = key(asked), key(said)
    if any(_senses(a, pos) & _senses(b, pos) for pos in Pos):
        return "expression"
    if any(b == lemma for pos in Pos for lemma, _ in net.derived(a, pos)):
        return "expression"
    for pos in (Pos.NOUN, Pos.VERB):
        wide, others = _senses(a, pos), _senses(b, pos)
        if any(wide & set(_above(s)) for s in others) or any(others & set(_above(s)) for s in wide):
            return "concept"
    verbs, told = _senses(a, Pos.VERB), _senses(b, Pos.VERB)
    for s in told:
        if verbs & {*net.entailments(s), *net.causes(s)}:
            return "event"
    return "related"


def _senses(word: str, pos: Pos) -> frozenset[int]:
    return frozenset(wordnet().synsets(word, pos)[:4])


def _above(synset: int) -> Mapping[int, None]:
    """Return what is broader than a sense, three steps up at most."""
    net, level, found = wordnet(), [synset], dict[int, None]()
    for _ in range(3):
        level = [up for one in level for up in net.hypernyms(one)]
        found.update(dict.fromkeys(level))
    return found
