"""Idioms: several words in a row that name an event which none of them names alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from abstrag.lexicon.inventory import IDIOMS, read_inventory
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

WHOSE: Final = "one's"
OWNERS: Final = frozenset("my your his her its our their one's".split())
_LEAST: Final = 3  # words that a verb of WordNet needs to be an idiom; shorter ones have particles


@dataclass(frozen=True, slots=True)
class Idiom:
    """An idiom that begins at a verb: how many tokens it takes, and what it says in plain words."""

    words: tuple[str, ...]
    meanings: tuple[str, ...]


def idiom_at(lemmas: Sequence[str], lower: Sequence[str], verb: int) -> Idiom | None:
    """Return the longest idiom that begins at a verb, or at what may be a form of one."""
    for idiom in _beginning(lemmas[verb], lower[verb]):
        end = verb + len(idiom.words)
        if end <= len(lemmas) and all(
            _fits(word, lemmas[at], lower[at])
            for word, at in zip(idiom.words[1:], range(verb + 1, end), strict=True)
        ):
            return idiom
    return None


@lru_cache(maxsize=1 << 14)
def _beginning(lemma: str, lower: str) -> tuple[Idiom, ...]:
    """Return the idioms that may begin with a word."""
    known = _by_verb()
    forms = wordnet().base_forms(lower, Pos.VERB) if lower.isalpha() else ()
    return tuple(idiom for form in dict.fromkeys((lemma, *forms)) for idiom in known.get(form, ()))


def _fits(word: str, lemma: str, lower: str) -> bool:
    return lower in OWNERS if word == WHOSE else word in (lower, lemma)


@cache
def _by_verb() -> Mapping[str, tuple[Idiom, ...]]:
    """The idioms by their verb, the longest first."""
    meant: dict[str, dict[str, None]] = {}
    for meaning, idioms in read_inventory(IDIOMS).items():
        for idiom in idioms:
            meant.setdefault(idiom, {})[meaning] = None
    for idiom in wordnet().phrases(Pos.VERB, _LEAST):
        if idiom not in meant and (plain := _plain(idiom)):
            meant[idiom] = dict.fromkeys(plain)
    grouped: dict[str, list[Idiom]] = {}
    for idiom, meanings in meant.items():
        words = tuple(idiom.split())
        grouped.setdefault(words[0], []).append(Idiom(words, tuple(meanings)))
    return {
        verb: tuple(sorted(idioms, key=lambda i: -len(i.words))) for verb, idioms in grouped.items()
    }


def _plain(idiom: str) -> list[str]:
    """Return the single verbs that share the first sense of an idiom, the most usual one first."""
    net = wordnet()
    senses = net.synsets(idiom, Pos.VERB)[:1]
    return [lemma for sense in senses for lemma in net.lemmas(sense) if " " not in lemma][:1]
