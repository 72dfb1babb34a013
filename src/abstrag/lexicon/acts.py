"""Verbs that may tell of one thing what another verb asks, by the list in `acts.toml`.

It does not say that two verbs mean the same: a price is raised and a child is raised. Whoever uses
it looks at what the verbs are said of as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from abstrag.lexicon.inventory import ACTS, entries, read_lists
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_REACH: Final = 80  # letters in which a phrase stands
_LONGEST: Final = 6  # words of a phrase
_OWNERS: Final = frozenset("my your his her its our their".split())
_WHOSE: Final = "one's"
_ENDINGS: Final = ("ed", "d", "es", "s", "ing")


@cache
def _lists() -> tuple[tuple[str, str], ...]:
    """The lists of `acts.toml`: what asks for an act, and what tells it, not yet taken apart."""
    return tuple(read_lists(ACTS))


@cache
def _lists_of() -> Mapping[str, tuple[int, ...]]:
    """For each verb that asks for acts the numbers of their lists."""
    found: dict[str, list[int]] = {}
    for number, (asked, _) in enumerate(_lists()):
        for verb in asked.split(", "):
            found.setdefault(verb, []).append(number)
    return {verb: tuple(numbers) for verb, numbers in found.items()}


@lru_cache(maxsize=1 << 10)
def _told(asked: str) -> frozenset[str]:
    """Return the verbs that tell what a verb asks for."""
    lists = (_lists()[number] for number in _lists_of().get(asked, ()))
    told = {verb for key, inside in lists for verb in (*key.split(", "), *entries(inside))}
    return frozenset(told - {asked})


@cache
def _phrases() -> Mapping[str, tuple[str, ...]]:
    """The phrases of the lists by their first word."""
    found: dict[str, list[str]] = {}
    every = {
        verb
        for key, inside in _lists()
        for verb in (*key.split(", "), *entries(inside))
        if " " in verb
    }
    for phrase in sorted(every):
        found.setdefault(phrase.partition(" ")[0], []).append(phrase)
    return {first: tuple(some) for first, some in found.items()}


@lru_cache(maxsize=1 << 15)
def one_act(asked: str, told: str) -> bool:
    """Tell whether `acts.toml` has a verb or phrase for what another one asks for."""
    return told in _told(asked)


def verbs_at(text: str, start: int) -> list[str]:
    """Return the verbs that a word of a text may be, and the phrases that begin with it."""
    words = [word.casefold() for word in _WORD.findall(text[start : start + _REACH])[:_LONGEST]]
    if not words:
        return []
    bases = tuple(dict.fromkeys(wordnet().base_forms(words[0], Pos.VERB))) or _stems(words[0])
    rest = [_WHOSE if word in _OWNERS else word for word in words[1:]]
    found = (phrase for base in bases for phrase in _phrases().get(base, ()))
    return [*bases, *(each for each in found if (more := each.split()[1:]) == rest[: len(more)])]


def _stems(word: str) -> tuple[str, ...]:
    """Return what an inflected verb that WordNet does not have may be inflected from."""
    return tuple(word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
