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


ANYTHING: Final = "something"
_MOST: Final = 5  # words that may stand for something


@dataclass(frozen=True, slots=True)
class Idiom:
    """An idiom that begins at a verb, and what it says in plain words."""

    words: tuple[str, ...]
    meanings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedIdiom:
    """An idiom in a text: how many tokens it takes, and what it says in plain words."""

    size: int
    meanings: tuple[str, ...]


def idiom_at(lemmas: Sequence[str], lower: Sequence[str], verb: int) -> PlacedIdiom | None:
    """Return the longest idiom that begins at a verb, or at what may be a form of one."""
    after = verb + 1
    if after >= len(lemmas):
        return None
    beginning = _beginning(lemmas[verb], lower[verb])
    seconds = {lower[after], lemmas[after], ANYTHING}
    if lower[after] in OWNERS:
        seconds.add(WHOSE)
    some = [idiom for second in seconds for idiom in beginning.get(second, ())]
    for idiom in sorted(some, key=lambda each: -len(each.words)):
        end = _end(idiom.words, 1, after, lemmas, lower)
        if end is not None:
            return PlacedIdiom(end - verb, idiom.meanings)
    return None


def is_meaning(word: str) -> bool:
    """Tell whether idioms are read as a word."""
    return word in _meanings()


def _end(
    words: Sequence[str], word: int, at: int, lemmas: Sequence[str], lower: Sequence[str]
) -> int | None:
    """Return the token after an idiom's last, None where its words do not go on as they must."""
    if word == len(words):
        return at
    if at >= len(lemmas):
        return None
    if words[word] == ANYTHING:
        ends = (_end(words, word + 1, at + n, lemmas, lower) for n in range(1, _MOST + 1))
        return next((end for end in ends if end is not None), None)
    fits = _fits(words[word], lemmas[at], lower[at])
    return _end(words, word + 1, at + 1, lemmas, lower) if fits else None


@lru_cache(maxsize=1 << 14)
def _beginning(lemma: str, lower: str) -> Mapping[str, tuple[Idiom, ...]]:
    """Return the idioms that may begin with a word, by their second one."""
    known = _by_verb()
    forms = wordnet().base_forms(lower, Pos.VERB) if lower.isalpha() else ()
    found: dict[str, tuple[Idiom, ...]] = {}
    for form in dict.fromkeys((lemma, *forms)):
        for second, idioms in known.get(form, {}).items():
            found[second] = (*found.get(second, ()), *idioms)
    return found


def _fits(word: str, lemma: str, lower: str) -> bool:
    return lower in OWNERS if word == WHOSE else word in (lower, lemma)


@cache
@cache
def _meanings() -> frozenset[str]:
    """The plain words that idioms are read as."""
    return frozenset(m for meanings in read_inventory(IDIOMS) for m in meanings.split(", "))


@cache
def _by_verb() -> Mapping[str, Mapping[str, tuple[Idiom, ...]]]:
    """The idioms by their verb, and by the word after it."""
    meant: dict[str, dict[str, None]] = {}
    for meanings, idioms in read_inventory(IDIOMS).items():
        for idiom in idioms:
            meant.setdefault(idiom, {}).update(dict.fromkeys(meanings.split(", ")))
    for idiom in wordnet().phrases(Pos.VERB, _LEAST):
        if idiom not in meant and (synonyms := _plain(idiom)):
            meant[idiom] = dict.fromkeys(synonyms)
    grouped: dict[str, dict[str, list[Idiom]]] = {}
    for idiom, plain in meant.items():
        words = tuple(idiom.split())
        grouped.setdefault(words[0], {}).setdefault(words[1], []).append(Idiom(words, tuple(plain)))
    return {
        verb: {second: tuple(idioms) for second, idioms in seconds.items()}
        for verb, seconds in grouped.items()
    }


def _plain(idiom: str) -> list[str]:
    """Return the single verbs that share the first sense of an idiom, the most usual one first."""
    net = wordnet()
    senses = net.synsets(idiom, Pos.VERB)[:1]
    return [lemma for sense in senses for lemma in net.lemmas(sense) if " " not in lemma][:1]
