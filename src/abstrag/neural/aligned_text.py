"""A text as the aligner has read it: vectors of its words, and the bytes they are kept as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.neural.encoder import Vectors

_SCALE: Final = 127  # a component of a vector of length 1, as a signed byte
_HEAD: Final = np.dtype([("words", "<u4"), ("dimensions", "<u2"), ("gist", "<u2")])

Spans = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text as the aligner has read it; rows are its content words, in their order.

    Vectors are those of signed bytes: what is kept and what was just read are equal.
    """

    spans: Spans  # words, 2: where each begins and ends in the text
    vectors: Vectors  # words, dimensions; of length 1 but for rounding
    weights: npt.NDArray[np.float32]  # words: what each counts in a query; they sum to 1
    gist: Vectors

    def __len__(self) -> int:
        return len(self.spans)

    def keeping(self, kept: npt.NDArray[np.bool_]) -> AlignedText:
        """Return the text with some of its words alone; their weights sum to 1 again."""
        weights = self.weights[kept]
        share = weights / max(float(weights.sum()), 1e-9)
        return AlignedText(self.spans[kept], self.vectors[kept], share, self.gist)

    def to_bytes(self) -> bytes:
        """Return it as it is kept."""
        head = np.array([(len(self), self.vectors.shape[1], len(self.gist))], _HEAD)
        return b"".join(
            (
                head.tobytes(),
                self.spans.astype("<i4").tobytes(),
                self.weights.astype("<f4").tobytes(),
                rounded(self.vectors).tobytes(),
                rounded(self.gist).tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> AlignedText:
        """Read what `to_bytes` wrote.

        Raises:
            ValueError: The bytes are something else.
        """
        head = np.frombuffer(data, _HEAD, count=1)[0]
        count, wide, gist = int(head["words"]), int(head["dimensions"]), int(head["gist"])
        parts, at = [], _HEAD.itemsize
        for kind, size in (("<i4", 2 * count), ("<f4", count), ("i1", count * wide), ("i1", gist)):
            parts.append(np.frombuffer(data, kind, count=size, offset=at))
            at += parts[-1].nbytes
        if at != len(data):
            raise ValueError(f"{len(data)} bytes, not {at}")
        spans, weights, vectors, whole = parts
        return cls(
            spans.reshape(count, 2).astype(np.int32),
            spread(vectors.reshape(count, wide)),
            weights.astype(np.float32),
            spread(whole),
        )


def spread(whole: npt.NDArray[np.int8]) -> Vectors:
    """Return numbers of signed bytes as they were, but for rounding."""
    found: Vectors = whole.astype(np.float32) / np.float32(_SCALE)
    return found


def rounded(vectors: Vectors) -> npt.NDArray[np.int8]:
    """Return components of vectors of length 1 as signed bytes."""
    return np.rint(np.asarray(vectors) * _SCALE).astype(np.int8)
