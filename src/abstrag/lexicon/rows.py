"""Lists of lists in two arrays, for numbers and for texts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
