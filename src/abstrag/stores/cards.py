"""The card and the vectors of a document, as layers of a store.

The card has stems with their counts, for BM25; terms with what it costs to get to them, for the
costed postings; times. Words and terms are kept as hashes of 64 bits, so that a collection needs no
table of all the words there are. Vectors are one for each window of text, with a byte for each
dimension.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.errors import StoreCorrupt
from abstrag.stores.protocol import DocumentInfo

CARD: Final = "card"  # names of layers
VECTORS: Final = "vectors"
VERSION: Final = 2  # of what a card holds, and that the stems of its sentences are kept

_HEAD: Final = struct.Struct("<QIIIII")
_CODED: Final = struct.Struct("<II")
_STEPS: Final = 127

Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int8]
Scores = npt.NDArray[np.float32]


def card_key(info: DocumentInfo) -> tuple[str, str]:
    """Return content and fingerprint of a document's card: it changes with either."""
    return info.content_hash, f"{VERSION} {info.fingerprint}"


@dataclass(frozen=True, slots=True)
class Card:
    """What a collection knows of one document; hashes ascend, and the arrays beside are in step."""

    text: int  # a hash of title and text: copies have the same
    segments: int
    length: int  # stems in all
    stems: Hashes
    counts: Bytes
    terms: Hashes
    costs: Bytes
    times: tuple[str, ...]  # ids of time terms

    def to_bytes(self) -> bytes:
        """Write the card as a store keeps it."""
        times = "\n".join(self.times).encode()
        sizes = (len(self.stems), len(self.terms), len(times))
        return b"".join(
            (
                _HEAD.pack(self.text, self.segments, self.length, *sizes),
                self.stems.astype("<u8").tobytes(),
                self.terms.astype("<u8").tobytes(),
                self.counts.tobytes(),
                self.costs.tobytes(),
                times,
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Card:
        """Read a card back."""
        try:
            text, segments, length, stems, terms, times = _HEAD.unpack_from(data)
        except struct.error as error:
            raise _broken(str(error)) from error
        sizes = (8 * stems, 8 * terms, stems, terms, times)
        if len(data) != _HEAD.size + sum(sizes):
            raise _broken(f"it has {len(data)} bytes")
        parts, at = [], _HEAD.size
        for size in sizes:
            parts.append(data[at : at + size])
            at += size
        return cls(
            text=text,
            segments=segments,
            length=length,
            stems=np.frombuffer(parts[0], "<u8"),
            counts=np.frombuffer(parts[2], np.uint8),
            terms=np.frombuffer(parts[1], "<u8"),
            costs=np.frombuffer(parts[3], np.uint8),
            times=tuple(parts[4].decode().split("\n")) if times else (),
        )


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """Vectors with one byte for each dimension, and a scale for each row."""

    codes: Codes
    scales: Scores

    @classmethod
    def of(cls, vectors: Scores) -> QuantizedVectors:
        """Round vectors to bytes."""
        peaks = np.abs(vectors).max(axis=1, initial=0.0)
        scales = np.where(peaks > 0, peaks / _STEPS, 1.0).astype(np.float32)
        return cls(np.rint(vectors / scales[:, None]).astype(np.int8), scales)

    def to_bytes(self) -> bytes:
        """Write the vectors as a store keeps them."""
        scales = self.scales.astype("<f4").tobytes()
        return _CODED.pack(*self.codes.shape) + scales + self.codes.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> QuantizedVectors:
        """Read vectors back."""
        rows, columns = _CODED.unpack_from(data) if len(data) >= _CODED.size else (0, 0)
        if len(data) != _CODED.size + rows * (4 + columns):
            raise StoreCorrupt(
                f"the vectors of a document cannot be read: they have {len(data)} bytes",
                hint="index the document again, or move the store away",
            )
        codes = np.frombuffer(data, np.int8, offset=_CODED.size + 4 * rows)
        scales = np.frombuffer(data, "<f4", rows, offset=_CODED.size)
        return cls(codes.reshape(rows, columns), scales)


def _broken(why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"the card of a document cannot be read: {why}",
        hint="index the document again, or move the store away",
    )
