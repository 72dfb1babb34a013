"""Verbs that may tell of one thing what another verb tells of it.

Two sources: `thesaurus.bin`, compiled from the Moby Thesaurus, which lists verbs and phrases under
each other that share any of their uses; and `acts.toml`, written by hand. Neither says that two
verbs mean the same: a price is raised and a child is raised. Whoever uses them looks at what the
verbs are said of as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from abstrag.lexicon.inventory import ACTS, read_inventory, unpack
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

DATA: Final = Path(__file__).with_name("thesaurus.bin")

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_REACH: Final = 80  # letters in which a phrase stands
_LONGEST: Final = 6  # words of a phrase
_OWNERS: Final = frozenset("my your his her its our their".split())
_WHOSE: Final = "one's"
_ENDINGS: Final = ("ed", "d", "es", "s", "ing")


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
    """The Moby Thesaurus: for each word the numbers of later ones that it is listed with."""

    number: Mapping[str, int]
    starts: NDArray[np.int64]
    items: NDArray[np.uint16]

    def together(self, first: str, second: str) -> bool:
        """Tell whether two words are listed together, the first of the alphabet first."""
        a, b = self.number.get(first), self.number.get(second)
        if a is None or b is None:
            return False
        return bool((self.items[self.starts[a] : self.starts[a + 1]] == b).any())


@cache
def _listed() -> _Listed:
    archive = unpack(DATA)
    words = archive.arrays["words"].tobytes().decode().split("\n")
    starts = np.concatenate(([0], archive.arrays["counts"].cumsum(dtype=np.int64)))
    return _Listed({word: i for i, word in enumerate(words)}, starts, archive.arrays["items"])


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
    """The phrases of both sources by their first word, the longest first."""
    told = {phrase for some in _acts().values() for phrase in some}
    found: dict[str, list[str]] = {}
    for phrase in sorted({word for word in (*_listed().number, *told) if " " in word}):
        found.setdefault(phrase.partition(" ")[0], []).append(phrase)
    return {first: tuple(some) for first, some in found.items()}


@lru_cache(maxsize=1 << 15)
def listed_together(asked: str, told: str) -> bool:
    """Tell whether the Moby Thesaurus lists two verbs or phrases under each other."""
    first, second = sorted((asked, told))
    return _listed().together(first, second)


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
