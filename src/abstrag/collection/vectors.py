"""Vectors of documents: one for each window of text, a byte for each dimension."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.array_file import GrowingArray
from abstrag.errors import StoreCorrupt
from abstrag.model.index import DocumentIndex
from abstrag.neural.encoder import Vectors

WINDOW_WORDS: Final = 250  # what the shipped embedder reads at once, and a little more
_HEAD: Final = struct.Struct("<II")
_STEPS: Final = 127
_AT_A_TIME: Final = 8192  # rows compared at once; their numbers take 12 MB as floats

Codes = npt.NDArray[np.int8]
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Coded:
    """Vectors with a byte for each dimension; a row's own scale makes numbers of them again."""

    codes: Codes
    scales: Scores

    @classmethod
    def of(cls, vectors: Vectors) -> Coded:
        """Round vectors to bytes."""
        peaks = np.abs(vectors).max(axis=1, initial=0.0)
        scales = np.where(peaks > 0, peaks / _STEPS, 1.0).astype(np.float32)
        return cls(np.rint(vectors / scales[:, None]).astype(np.int8), scales)

    def to_bytes(self) -> bytes:
        """Write the vectors as a store keeps them."""
        scales = self.scales.astype("<f4").tobytes()
        return _HEAD.pack(*self.codes.shape) + scales + self.codes.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Coded:
        """Read vectors back."""
        rows, columns = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (0, 0)
        if len(data) != _HEAD.size + rows * (4 + columns):
            raise StoreCorrupt(
                f"the vectors of a document cannot be read: they have {len(data)} bytes",
                hint="index the document again, or move the store away",
            )
        codes = np.frombuffer(data, np.int8, offset=_HEAD.size + 4 * rows)
        scales = np.frombuffer(data, "<f4", rows, offset=_HEAD.size)
        return cls(codes.reshape(rows, columns), scales)


def windows(index: DocumentIndex) -> list[str]:
    """Cut a document into stretches an embedder reads whole, the title before each."""
    title = index.document.title
    room = max(1, WINDOW_WORDS - len(title.split()))
    found = [word for segment in index.segments for word in segment.text.split()]
    stretches = [found[at : at + room] for at in range(0, len(found), room)]
    return [f"{title}. {' '.join(some)}" for some in stretches] or [title]


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The vectors of all rows; a row is as close to a query as its closest window."""

    codes: Codes
    scales: Scores
    first: npt.NDArray[np.int64]  # window of each row

    @classmethod
    def of(cls, parts: Iterable[Coded], *, folder: Path | None = None) -> VectorTable:
        """Put the vectors of rows below one another; `folder` is where temporary files go."""
        codes = GrowingArray(np.int8, folder=folder)
        scales = GrowingArray(np.float32, folder=folder)
        first = GrowingArray(np.int64, folder=folder)
        for part in parts:
            first.add(np.array([len(codes)]))
            codes.add(part.codes)
            scales.add(part.scales)
        return cls(codes.array(), scales.array(), first.array())

    def __call__(self, query: Vectors) -> Scores:
        """Return the cosine of each row with a query, a negative one counted as 0."""
        cosines = np.empty(len(self.codes), np.float32)
        for at in range(0, len(cosines), _AT_A_TIME):
            some = slice(at, at + _AT_A_TIME)
            # row by row: a matrix product would wake threads that cost more than they bring
            cosines[some] = np.einsum("ij,j->i", self.codes[some].astype(np.float32), query)
        cosines *= self.scales
        return np.clip(np.maximum.reduceat(cosines, self.first), 0.0, 1.0)

    @property
    def nbytes(self) -> int:
        """The memory all of it takes."""
        return self.codes.nbytes + self.scales.nbytes + self.first.nbytes
