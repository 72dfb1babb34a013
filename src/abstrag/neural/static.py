"""The static embedder: a vector for each token, a text being the sum of its own.

It knows no context and no order of words, and is a hundred times as fast as a transformer: enough
to find candidates in a long document. None ships; `training/static.py` distils one.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import REMEDY, SCALES, TOKENIZER, VECTORS, Bundle, Task
from abstrag.neural.encoder import Vectors
from abstrag.neural.tokens import Tokenizer

_BATCH: Final = 256  # texts at a time, which keeps their tokens' vectors in the cache


class StaticEmbedder:
    """Turns texts into vectors of length 1; implements `TextEncoder`.

    A text of any length is read to its end. One without words gets a vector of zeros.
    """

    def __init__(self, bundle: Bundle) -> None:
        manifest = bundle.manifest
        shape = (manifest.vocabulary, manifest.dimensions)
        whole = _array(bundle, VECTORS, np.int8, shape)
        scales = _array(bundle, SCALES, np.float32, shape[:1])
        self.fingerprint = bundle.fingerprint
        self.dimensions = manifest.dimensions
        self._vectors: Vectors = whole * scales[:, None]
        self._tokens = Tokenizer(bundle.read(TOKENIZER), limit=1, vocabulary=manifest.vocabulary)

    @classmethod
    def load(cls, folder: Path) -> StaticEmbedder:
        """Read a model that `tools.export` wrote.

        Raises:
            ResourceMissing: A file is missing, damaged or something else than it should be.
            InputError: The folder has a model for something else.
        """
        return cls(Bundle.open(folder, Task.STATIC))

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"StaticEmbedder({self.fingerprint!r})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in their order."""
        if isinstance(texts, str):
            raise InputError("embed takes several texts, and got one string", hint="embed([text])")
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            self._fill(vectors[start : start + _BATCH], texts[start : start + _BATCH])
        return vectors

    def _fill(self, vectors: Vectors, texts: Sequence[str]) -> None:
        ids = self._tokens.bare(texts)
        lengths = np.array([len(one) for one in ids])
        (worded,) = np.nonzero(lengths)  # an empty stretch would be given its neighbour's sum
        if not len(worded):
            return
        begins = np.concatenate(([0], np.cumsum(lengths[worded])[:-1]))
        flat = np.fromiter(chain.from_iterable(ids), np.int64, count=int(lengths.sum()))
        sums = np.add.reduceat(self._vectors[flat], begins, axis=0)
        sizes = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        sizes[sizes == 0] = 1.0
        vectors[worded] = sums / sizes[:, None]


def _array(
    bundle: Bundle, name: str, kind: type[np.generic], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    data = bundle.read(name)
    try:
        made: npt.NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ResourceMissing(
            f"{name!r} in {str(bundle.folder)!r} cannot be read: {error}",
            hint=REMEDY,
        ) from error
    if made.dtype != kind or made.shape != shape:
        raise ResourceMissing(
            f"{name!r} in {str(bundle.folder)!r} is {made.dtype} of the shape {made.shape}, where "
            f"the manifest means {np.dtype(kind)} of {shape}",
            hint=REMEDY,
        )
    return made
