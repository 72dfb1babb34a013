"""Postings of a whole collection: for each hash the rows it stands in, in three flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from abstrag.collection.card import Bytes, Hashes

Rows = npt.NDArray[np.uint32]


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
    def of(cls, hashes: Sequence[Hashes], values: Sequence[Bytes]) -> CollectionPostings:
        """Turn what each row holds around; the arrays come in the order of the rows."""
        sizes = np.fromiter((len(part) for part in hashes), np.int64, len(hashes))
        flat = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
        order = np.argsort(flat, kind="stable")  # so that the rows of a hash ascend
        flat = flat[order]
        first = np.flatnonzero(np.append(True, flat[1:] != flat[:-1])[: len(flat)])
        rows = np.repeat(np.arange(len(hashes), dtype=np.uint32), sizes)
        held = np.concatenate(values) if values else np.empty(0, np.uint8)
        return cls(
            hashes=flat[first],
            starts=np.append(first, len(flat)),
            rows=rows[order],
            values=held[order],
        )

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
