"""Postings of a whole collection: for each hash the rows it stands in, in three flat arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from abstrag.files import GrowingArray
from abstrag.stores.cards import Bytes, Hashes

_SORTED: Final = 1 << 20  # entries that are sorted at once

Rows = npt.NDArray[np.uint32]


class PostingLookup(Protocol):
    """For each hash the rows that hold it."""

    def __contains__(self, hashed: int) -> bool: ...

    def column(self, hashed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the rows that hold a hash, each once, and their values."""
        ...


@dataclass(frozen=True, slots=True)
class CollectionPostings:
    """A sparse matrix by columns: `rows` and `values` of column i lie in starts[i]:starts[i + 1].

    An entry takes five bytes, and a hash sixteen once for all its rows.
    """

    hashes: Hashes  # ascending
    starts: npt.NDArray[np.int64]
    rows: Rows
    values: Bytes

    @classmethod
    def of(cls, hashes: Iterable[Hashes], values: Iterable[Bytes]) -> CollectionPostings:
        """Turn what each row holds around; the arrays come in the order of the rows."""
        writer = PostingsWriter()
        for held, own in zip(hashes, values, strict=True):
            writer.add(held, own)
        return writer.postings()

    def __contains__(self, hashed: int) -> bool:
        return self._place(hashed) is not None

    def column(self, hashed: int) -> tuple[Rows, Bytes]:
        """Return the rows that hold a hash, ascending, and their values."""
        place = self._place(hashed)
        if place is None:
            return self.rows[:0], self.values[:0]
        part = slice(self.starts[place], self.starts[place + 1])
        return self.rows[part], self.values[part]

    @property
    def nbytes(self) -> int:
        """The memory all of it takes."""
        return sum(a.nbytes for a in (self.hashes, self.starts, self.rows, self.values))

    def _place(self, hashed: int) -> int | None:
        place = int(np.searchsorted(self.hashes, np.uint64(hashed)))
        found = place < len(self.hashes) and int(self.hashes[place]) == hashed
        return place if found else None


class PostingsWriter:
    """Makes postings of what one row after the other holds, and keeps most of it in files.

    Entries are sorted some at a time. What was sorted is then put together for one stretch of
    hashes after the other.
    """

    def __init__(self, *, folder: Path | None = None) -> None:
        """Begin; `folder` is where temporary files go."""
        self._folder = folder
        self._rows = 0
        self._waiting: list[tuple[Hashes, Bytes]] = []
        self._first = 0  # row of them
        self._count = 0  # of their entries
        self._ends = [0]  # of what was sorted together
        self._hashes, self._owners, self._values = self._columns()

    def add(self, hashes: Hashes, values: Bytes) -> None:
        """Add the next row."""
        self._waiting.append((hashes, values))
        self._rows += 1
        self._count += len(hashes)
        if self._count >= _SORTED:
            self._sort()

    def postings(self) -> CollectionPostings:
        """Return the postings of all rows."""
        self._sort()
        runs = list(pairwise(self._ends))
        hashes, owners, values = (
            each.array() for each in (self._hashes, self._owners, self._values)
        )
        found, rows, held = self._columns()
        starts = GrowingArray(np.int64, folder=self._folder)
        places = [start for start, _ in runs]
        for stretch in range(1, len(runs) + 1):
            limit = (stretch << 64) // len(runs)
            ends = [
                end
                if stretch == len(runs)
                else start + int(np.searchsorted(hashes[start:end], np.uint64(limit)))
                for start, end in runs
            ]
            parts = [slice(a, b) for a, b in zip(places, ends, strict=True)]
            flat = np.concatenate([hashes[part] for part in parts])
            order = np.argsort(flat, kind="stable")  # so that the rows of a hash ascend
            flat = flat[order]
            first = np.flatnonzero(np.append(True, flat[1:] != flat[:-1])[: len(flat)])
            starts.add(len(rows) + first)
            found.add(flat[first])
            rows.add(np.concatenate([owners[part] for part in parts])[order])
            held.add(np.concatenate([values[part] for part in parts])[order])
            places = ends
        starts.add(np.array([len(rows)]))
        return CollectionPostings(found.array(), starts.array(), rows.array(), held.array())

    def _columns(self) -> tuple[GrowingArray, GrowingArray, GrowingArray]:
        """Begin the hashes, rows and values of entries."""
        hashes, rows, values = (
            GrowingArray(kind, folder=self._folder) for kind in (np.uint64, np.uint32, np.uint8)
        )
        return hashes, rows, values

    def _sort(self) -> None:
        """Sort the entries that wait."""
        if not self._waiting:
            return
        sizes = [len(hashes) for hashes, _ in self._waiting]
        flat = np.concatenate([hashes for hashes, _ in self._waiting])
        order = np.argsort(flat, kind="stable")
        rows = np.repeat(np.arange(self._first, self._rows, dtype=np.uint32), sizes)
        self._hashes.add(flat[order])
        self._owners.add(rows[order])
        self._values.add(np.concatenate([values for _, values in self._waiting])[order])
        self._ends.append(len(self._hashes))
        self._waiting, self._first, self._count = [], self._rows, 0
