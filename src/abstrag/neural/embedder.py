"""The sentence embedder that ships with the package: all-MiniLM-L6-v2, on the processor.

Texts that mean the same point the same way:

    embedder = default_embedder()
    a, b = embedder.embed(["A dog barks.", "A hound is barking."])
    float(a @ b)                          # 0.8056...
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.errors import InputError
from abstrag.neural.bundle import MODEL, TOKENIZER, Bundle
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import Runtime
from abstrag.neural.tokens import Tokenizer

WEIGHTS: Final = Path(__file__).with_name("weights")


class Embedder:
    """Turns texts into vectors of length 1; implements `TextEncoder`.

    A text's vector depends on nothing but the text: not on its neighbours, their order or the
    number of threads, to the last bit on one machine. Of a long text only the first `max_tokens`
    tokens are read. A text without words has no direction, so its vector is zero.
    """

    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InputError(f"threads is {threads!r}", hint="at least 1, or None for every core")
        self.fingerprint = bundle.fingerprint
        self.dimensions = bundle.manifest.dimensions
        self.max_tokens = bundle.manifest.max_tokens
        self.threads = threads or os.cpu_count() or 1
        self._tokens = Tokenizer(bundle.read(TOKENIZER), limit=self.max_tokens)
        self._run = Runtime(bundle.read(MODEL))

    @classmethod
    def load(cls, folder: Path = WEIGHTS, *, threads: int | None = None) -> Embedder:
        """Read a model that `tools/export_minilm.py` wrote; `threads` is every core by default.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        return cls(Bundle.open(folder), threads=threads)

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"Embedder({self.fingerprint!r})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in their order."""
        if isinstance(texts, str):
            raise InputError("embed takes several texts, and got one string", hint="embed([text])")
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        vectors = np.zeros((len(rows), self.dimensions), dtype=np.float32)
        # The longest first, so that no core is left alone with one at the end.
        ordered = sorted(rows, key=len, reverse=True)
        for text, vector in zip(ordered, self._embed_each(ordered), strict=True):
            vectors[rows[text]] = vector
        return vectors[[rows[text] for text in texts]]

    def truncated(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the texts that are longer than the model reads."""
        return tuple(i for i, text in enumerate(texts) if self._tokens.truncates(text))

    def _embed_each(self, texts: Sequence[str]) -> list[Vectors]:
        workers = min(self.threads, len(texts))
        if workers <= 1:
            return [self._embed_one(text) for text in texts]
        pool = ThreadPoolExecutor(workers)  # the runtime lets go of the interpreter while it works
        try:
            return list(pool.map(self._embed_one, texts))
        finally:
            pool.shutdown(cancel_futures=True)  # an interrupt need not wait for the rest

    def _embed_one(self, text: str) -> Vectors:
        ids = self._tokens(text)
        return self._run(ids) if len(ids) else np.zeros(self.dimensions, dtype=np.float32)


@cache
def default_embedder() -> Embedder:
    """Return the packaged embedder, loaded on the first call."""
    return Embedder.load()
