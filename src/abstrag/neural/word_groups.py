"""Groups of words that lie near one another: k-means on the sphere, over a sample of the words."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.neural.aligned_text import rounded, spread
from abstrag.neural.encoder import Vectors

GROUPS: Final = 1024
_SAMPLE: Final = 64 * GROUPS  # words that the middles are found with
_ROUNDS: Final = 6
_BLOCK: Final = 16_384

Bytes = npt.NDArray[np.int8]


def grouped(vectors: Bytes) -> tuple[Bytes, npt.NDArray[np.uint16]]:
    """Return the middles of the groups, and the group of each word: that of the nearest middle."""
    chance = np.random.default_rng(0)
    drawn = chance.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False)
    sample = spread(vectors[np.sort(drawn)])
    middles = sample[chance.choice(len(sample), min(GROUPS, len(sample)), replace=False)]
    for _ in range(_ROUNDS):
        own = _nearest(sample, middles)
        sums = np.zeros_like(middles)
        np.add.at(sums, own, sample)
        empty = np.bincount(own, minlength=len(middles)) == 0
        sums[empty] = middles[empty]
        middles = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    kept = rounded(middles)
    middles = spread(kept)
    parts = [
        _nearest(spread(vectors[start : start + _BLOCK]), middles)
        for start in range(0, len(vectors), _BLOCK)
    ]
    return kept, np.concatenate(parts).astype(np.uint16)


def _nearest(rows: Vectors, middles: Vectors) -> npt.NDArray[np.int64]:
    found = [
        (rows[start : start + _BLOCK] @ middles.T).argmax(axis=1)
        for start in range(0, len(rows), _BLOCK)
    ]
    return np.concatenate(found)
