"""An encoder for tests: texts are close when they share letters, which anybody can work out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from abstrag.neural.encoder import Vectors


@dataclass(frozen=True)
class Letters:
    """Counts letter pairs; the cosine of two anagrams of pairs is 1, of unlike words 0."""

    fingerprint: str = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        rows = np.zeros((len(texts), 26 * 26), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            letters = [ord(c) - 97 for c in text.lower() if "a" <= c <= "z"]
            for a, b in pairwise(letters):
                row[26 * a + b] += 1
            row /= np.linalg.norm(row) or 1.0
        return rows
