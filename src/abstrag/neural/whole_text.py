"""Texts as vectors: what the shipped aligner makes of a text as a whole.

Texts that mean the same point the same way:

    encoder = default_encoder()
    a, b = encoder.embed(["A dog barks.", "A hound is barking."])
    float(a @ b)                          # 0.89
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from abstrag.errors import InputError
from abstrag.neural.aligner import ALIGNER, Aligner, default_aligner
from abstrag.neural.encoder import Vectors
from abstrag.neural.vectors import ANYWHERE, ValueCache, kept_vectors


class WholeTextEncoder:
    """Turns texts into vectors of length 1; implements `TextEncoder`.

    A text's vector depends on nothing but the text: not on its neighbours, their order or the
    number of threads, to the last bit on one machine. Of a long text only the first `max_tokens`
    tokens are read. A text without words has no direction, so its vector is zero.

    With a `memory`, no text is read twice, whatever document it comes from.
    """

    memory: ValueCache | None = None

    def __init__(self, aligner: Aligner) -> None:
        self._aligner = aligner
        self.threads = aligner.threads
        self.fingerprint = f"{aligner.fingerprint}:whole"  # its words are kept under its own name
        self.dimensions = aligner.dimensions
        self.max_tokens = aligner.max_tokens

    @classmethod
    def load(cls, folder: Path = ALIGNER, *, threads: int | None = None) -> WholeTextEncoder:
        """Read a model that `tools.export` wrote; `threads` is every core by default.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        return cls(Aligner.load(folder, threads=threads))

    def prepare(self) -> None:
        """Load what is still to be loaded.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        self._aligner.prepare()

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"WholeTextEncoder({self.fingerprint!r})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in their order."""
        if isinstance(texts, str):
            raise InputError("embed takes several texts, and got one string", hint="embed([text])")
        if self.memory is None:
            return self._aligner.embed(texts)
        return kept_vectors(self.memory, ANYWHERE, self._aligner.embed, self, texts)

    def of_wholes(self, rows: Vectors) -> Vectors:
        """Return what `embed` does of texts whose wholes the aligner has read already."""
        return self._aligner.centred(rows)

    def truncated(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the texts that are longer than the model reads."""
        return self._aligner.truncated(texts)


@cache
def default_encoder() -> WholeTextEncoder:
    """Return the packaged encoder; its graph is loaded when it first reads a text."""
    return WholeTextEncoder(default_aligner())
