"""The words of the examples in memory: which are forms of one another, friends, foes, sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from examples import Ids

HELD = 10  # one base form in so many is never replaced in training, to measure with


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What `word_pairs.py` wrote; a word is known by its number, and a base form by its word's."""

    words: list[str]
    base: list[int]
    sort: list[int]
    rarity: np.ndarray
    pieces: list[tuple[int, ...]]
    friends: list[list[int]]
    foes: list[list[int]]

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read a file."""
        file = dict(np.load(path))

        def rows(name: str) -> list[list[int]]:
            at = file[f"{name}_at"].tolist()
            flat = file[f"{name}_flat"].tolist()
            return [flat[a:b] for a, b in pairwise(at)]

        return cls(
            file["words"].tolist(),
            file["base"].tolist(),
            file["sort"].tolist(),
            file["rarity"],
            [tuple(one) for one in rows("pieces")],
            rows("friends"),
            rows("foes"),
        )

    @cached_property
    def _number(self) -> dict[tuple[int, ...], int]:
        return {one: i for i, one in enumerate(self.pieces)}

    @cached_property
    def _forms(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for word, base in enumerate(self.base):
            found.setdefault(base, []).append(word)
        return found

    @cached_property
    def _asked_by(self) -> dict[int, set[int]]:
        """Base forms whose friend a base form is."""
        found: dict[int, set[int]] = {}
        for base, some in enumerate(self.friends):
            for friend in some:
                found.setdefault(self.base[friend], set()).add(base)
        return found

    def number(self, pieces: Sequence[int]) -> int | None:
        """Return the number of a word."""
        return self._number.get(tuple(pieces))

    def key(self, pieces: Sequence[int]) -> tuple[int, bool]:
        """Return a number that inflections share, never 0, and whether the word is sealed."""
        word = self.number(pieces)
        if word is None:
            return -1 - abs(hash(tuple(pieces))) % (1 << 40), False
        return self.base[word] + 1, self.sort[word] > 0

    def kin(self, word: int) -> list[int]:
        """Return the keys of all words that may meet a word, or that it may meet."""
        base = self.base[word]
        near = {self.base[friend] for friend in self.friends[base]}
        return sorted(one + 1 for one in {base} | near | self._asked_by.get(base, set()))

    def held(self, word: int) -> bool:
        """Tell whether a word is kept to measure with."""
        return sum(map(ord, self.words[self.base[word]])) % HELD == 0

    def inflected(self, other: int, like: int) -> int:
        """Return the form of another word that ends like a word."""
        ending = self.words[like][::-1]

        def fit(form: int) -> tuple[int, int]:
            same = 0
            for a, b in zip(self.words[form][::-1], ending, strict=False):
                if a != b:
                    break
                same += 1
            return same, -len(self.words[form])

        plain = self.words[like] == self.words[self.base[like]]
        return other if plain else max(self._forms[self.base[other]], key=fit)


def spans(marks: Ids, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return where the tokens of each word begin and end."""
    found: dict[int, tuple[int, int]] = {}
    for place, number in enumerate(numbers[: len(marks)]):
        if number >= 0:
            found[number] = (found.get(number, (place, 0))[0], place + 1)
    return [found[i] for i in range(len(found))]
