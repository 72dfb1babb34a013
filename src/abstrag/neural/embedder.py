"""A sentence embedder of our own format, on the processor: one that a user has trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from abstrag.errors import InputError
from abstrag.neural.bundle import Bundle, ModelTask
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import BundledModel, Ids, Loading, side_by_side, thread_count
from abstrag.neural.vectors import ANYWHERE, ValueCache, kept_vectors


class Embedder(BundledModel):
    """Turns texts into vectors of length 1; implements `TextEncoder`.

    A text's vector depends on nothing but the text: not on its neighbours, their order or the
    number of threads, to the last bit on one machine. Of a long text only the first `max_tokens`
    tokens are read. A text without words has no direction, so its vector is zero.

    With a `memory`, no text is read twice, whatever document it comes from.
    """

    task = ModelTask.EMBED

    memory: ValueCache | None = None

    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        self.threads = thread_count(threads)
        self.fingerprint = bundle.fingerprint
        self.dimensions = bundle.manifest.dimensions
        self.max_tokens = bundle.manifest.max_tokens
        self._parts = Loading(bundle)

    def prepare(self) -> None:
        """Load what is still to be loaded."""
        self._parts()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in their order."""
        if isinstance(texts, str):
            raise InputError("embed takes several texts, and got one string", hint="embed([text])")
        if self.memory is None:
            return self._read(texts)
        return kept_vectors(self.memory, ANYWHERE, self._read, self, texts)

    def _read(self, texts: Sequence[str]) -> Vectors:
        unique = list(dict.fromkeys(texts))
        made = side_by_side(self._embed_one, unique, threads=self.threads, size=len)
        rows = dict(zip(unique, made, strict=True))
        found = [rows[text] for text in texts]
        return np.stack(found) if found else np.zeros((0, self.dimensions), dtype=np.float32)

    def truncated(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the texts that are longer than the model reads."""
        tokens = self._parts().tokens
        return tuple(i for i, text in enumerate(texts) if tokens.truncates(text))

    def _run(self, ids: Ids) -> Vectors:
        return self._parts().run(ids)

    def _embed_one(self, text: str) -> Vectors:
        ids = self._parts().tokens(text)
        return self._run(ids) if len(ids) else np.zeros(self.dimensions, dtype=np.float32)
