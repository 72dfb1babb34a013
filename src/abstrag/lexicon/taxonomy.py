"""Synsets under their hypernyms: ancestors, depth, and Wu–Palmer similarity as NLTK computes it.

NLTK's `wup_similarity` has habits that its documentation hardly mentions. Numbers are compared with
it everywhere, so they are kept:

- The common ancestor is the one with the greatest *shortest* way to the root; its depth then counts
  along the *longest*. Of equally deep ones the first synset itself wins, else the first by name.
  So a synset whose ancestor lies deeper than itself (person.n.01 under organism.n.01) is less than
  1 similar to itself, and a tie may be broken differently for (a, b) and (b, a).
- From a synset to the common ancestor any way counts, also one over an ancestor of both.
- Unless both are nouns, all hangs from a simulated root, one step above the *farthest* ancestor.
  Its name, `*ROOT*`, sorts first, so it beats a real root that is common to both, unless that root
  is the first synset. It makes any two adjectives similar by 0.5.

The compiler does the graph work: each synset's row lists itself and its ancestors, best common
ancestor first, with the steps to each. What is left to do here is to find the first ancestor in
one row that also stands in another. `Rows` and `TextRows` are such lists of lists in two arrays.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_BLOCK: Final = 2048  # pairs compared at once: the comparison matrix stays inside the CPU cache
_CACHED_ROWS: Final = 8192


def _starts(counts: NDArray[Any]) -> NDArray[np.int32]:
    starts = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    starts.flags.writeable = False
    return starts


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of numbers: row `i` is `item[start[i]:start[i + 1]]`."""

    start: NDArray[np.int32]
    item: NDArray[np.int32]

    @classmethod
    def of(cls, counts: NDArray[Any], item: NDArray[Any]) -> Rows:
        """Make rows from the length of each row and all items in a row."""
        return cls(start=_starts(counts), item=item)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, row: int) -> tuple[int, ...]:
        """Return one row."""
        return tuple(self.item[self.start[row] : self.start[row + 1]].tolist())

    def owners(self) -> NDArray[np.int32]:
        """Return for each item the row it stands in."""
        owners = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))
        owners.flags.writeable = False
        return owners


def inverted(source: NDArray[Any], target: NDArray[Any], *, size: int) -> Rows:
    """Return the rows that lead from each target back to its sources, in the sources' order."""
    order = np.argsort(target, kind="stable")
    return Rows.of(np.bincount(target, minlength=size), source[order].astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Many short texts in one block of bytes; no string is made before somebody asks for it."""

    start: NDArray[np.int32]
    block: bytes

    @classmethod
    def of(cls, lengths: NDArray[Any], block: NDArray[Any]) -> Texts:
        """Make texts from the length of each in bytes and the bytes of all."""
        return cls(start=_starts(lengths), block=block.tobytes())

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: int) -> str:
        """Return one text."""
        return self._raw(i).decode()

    def count(self, i: int, part: bytes) -> int:
        """Return how often one text has some bytes in it."""
        return self.block.count(part, int(self.start[i]), int(self.start[i + 1]))

    def find(self, text: str, low: int, high: int) -> int | None:
        """Return where `text` stands between `low` and `high`, where the texts are in order."""
        wanted = text.encode(errors="replace")
        i = bisect_left(range(high), wanted, low, high, key=self._raw)
        return i if i < high and self._raw(i) == wanted else None

    def _raw(self, i: int) -> bytes:
        return self.block[self.start[i] : self.start[i + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """The hypernym graph, climbed in advance. Nouns are the synsets numbered below `nouns`."""

    up: Rows  # the synset and its ancestors, best common ancestor first
    steps: NDArray[np.uint8]  # to each of them, in step with `up.item`
    min_depth: NDArray[np.uint8]  # steps to a root, the shortest way
    max_depth: NDArray[np.uint8]  # and the longest
    to_root: NDArray[np.uint8]  # steps to the simulated root
    nouns: int

    def hypernyms(self, synset: int) -> tuple[int, ...]:
        """Return the synsets directly above, deepest first."""
        return tuple(x for x, steps in _climbed(self, synset).items() if steps == 1)

    def ancestors(self, synset: int) -> tuple[int, ...]:
        """Return all synsets above, nearest first."""
        seen = dict.fromkeys(self.hypernyms(synset))
        frontier = list(seen)
        while frontier:
            above = dict.fromkeys(x for s in frontier for x in self.hypernyms(s))
            frontier = [x for x in above if x not in seen]
            seen.update(dict.fromkeys(frontier))
        return tuple(seen)

    def lowest_common(self, a: int, b: int) -> int | None:
        """Return the common ancestor Wu–Palmer looks at; it may be `a` or `b`."""
        below = _climbed(self, b)
        return next((x for x in _climbed(self, a) if x in below), None)

    def wup(self, a: int, b: int) -> float:
        """Return the Wu–Palmer similarity of two synsets; 0 where NLTK says None."""
        common = self.lowest_common(a, b)
        rootless = a >= self.nouns or b >= self.nouns
        if rootless and (common is None or (common != a and not self.min_depth[common])):
            depth, apart = 1, int(self.to_root[a]) + int(self.to_root[b])
        elif common is None:
            return 0.0
        else:
            depth = int(self.max_depth[common]) + 1
            apart = _climbed(self, a)[common] + _climbed(self, b)[common]
        return 2.0 * depth / (apart + 2 * depth)

    def wup_many(self, pairs: NDArray[Any]) -> NDArray[np.float64]:
        """Return `wup` of each row of an (n, 2) array of synsets."""
        synsets = pairs.astype(np.intp)
        similarity = np.empty(len(synsets))
        for start in range(0, len(synsets), _BLOCK):
            block = synsets[start : start + _BLOCK]
            similarity[start : start + _BLOCK] = self._wup_block(block[:, 0], block[:, 1])
        return similarity

    def _wup_block(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.float64]:
        above_a, above_b = self._padded(a, filler=-1), self._padded(b, filler=-2)
        equal = (above_a[:, :, None] == above_b[:, None, :]).reshape(len(a), -1)
        first = equal.argmax(axis=1)  # rows are in order of preference, so the first is the one
        pair = np.arange(len(a))
        found = equal[pair, first]  # where it is False, i and j are 0: some synset, not used below
        i, j = np.divmod(first, above_b.shape[1])
        common = above_a[pair, i]
        depth = self.max_depth[common].astype(np.int64) + 1
        apart = self.steps[self.up.start[a] + i].astype(np.int64)
        apart += self.steps[self.up.start[b] + j]
        rootless = (a >= self.nouns) | (b >= self.nouns)
        simulated = rootless & (~found | ((common != a) & (self.min_depth[common] == 0)))
        depth[simulated] = 1
        apart[simulated] = self.to_root[a[simulated]].astype(np.int64) + self.to_root[b[simulated]]
        return np.where(found | simulated, 2.0 * depth / (apart + 2 * depth), 0.0)

    def _padded(self, synsets: NDArray[np.intp], *, filler: int) -> NDArray[np.int32]:
        """Return the rows of some synsets as a matrix, filled up on the right."""
        start, stop = self.up.start[synsets], self.up.start[synsets + 1]
        index = start[:, None] + np.arange((stop - start).max())
        inside = index < stop[:, None]
        return np.where(inside, self.up.item[np.where(inside, index, 0)], np.int32(filler))


@lru_cache(maxsize=_CACHED_ROWS)
def _climbed(taxonomy: Taxonomy, synset: int) -> dict[int, int]:
    """Return the steps to each ancestor, in the row's order; the caller must not change it."""
    row = slice(taxonomy.up.start[synset], taxonomy.up.start[synset + 1])
    steps = taxonomy.steps[row].tolist()
    return dict(zip(taxonomy.up.item[row].tolist(), steps, strict=True))
