"""Verbs that may tell of one thing what another verb asks, by the list in `acts.toml`.

It does not say that two verbs mean the same: a price is raised and a child is raised. Whoever uses
it looks at what the verbs are said of as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from abstrag.lexicon.inventory import ACTS, read_inventory
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_REACH: Final = 80  # letters in which a phrase stands
_LONGEST: Final = 6  # words of a phrase
_OWNERS: Final = frozenset("my your his her its our their".split())
_WHOSE: Final = "one's"
_ENDINGS: Final = ("ed", "d", "es", "s", "ing")


@cache
def _acts() -> Mapping[str, frozenset[str]]:
    """For each verb of `acts.toml` the verbs that tell what it asks for."""
    found: dict[str, set[str]] = {}
    for asked, told in read_inventory(ACTS).items():
        verbs = asked.split(", ")
        for verb in verbs:
            found.setdefault(verb, set()).update((*verbs, *told))
    return {verb: frozenset(told - {verb}) for verb, told in found.items()}


@cache
def _phrases() -> Mapping[str, tuple[str, ...]]:
    """The phrases of the list by their first word."""
    found: dict[str, list[str]] = {}
    for phrase in sorted({verb for told in _acts().values() for verb in told if " " in verb}):
        found.setdefault(phrase.partition(" ")[0], []).append(phrase)
    return {first: tuple(some) for first, some in found.items()}


@lru_cache(maxsize=1 << 15)
def one_act(asked: str, told: str) -> bool:
    """Tell whether `acts.toml` has a verb or phrase for what another one asks for."""
    return told in _acts().get(asked, ())


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
