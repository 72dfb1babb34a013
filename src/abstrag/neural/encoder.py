"""What anything that turns text into vectors must do, and how two of its vectors compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class TextEncoder(Protocol):
    """Turns texts into vectors of length 1 whose cosine says how close the texts are in meaning.

    The shipped one is `abstrag.neural.whole_text.WholeTextEncoder`; pass your own wherever this
    type stands. A text must get the same vector whatever else is embedded with it.
    """

    @property
    def fingerprint(self) -> str:
        """Names the model to the byte: vectors of one fingerprint can be kept and compared."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; a text that says nothing gets a row of zeros."""
        ...


def cosines(passages: Vectors, query: Vectors) -> npt.NDArray[np.float64]:
    """Compare every passage with one query, in [−1, 1].

    Each row is summed by itself, where a matrix product may sum rows in groups: equal passages
    score equally wherever they stand, so ties stay ties.
    """
    found: npt.NDArray[np.float64] = np.einsum("ij,j->i", passages, query, dtype=np.float64)
    return np.clip(found, -1.0, 1.0)
