"""A model's tokenizer and graph: loaded once, when there is a text to read.

Where all that a search asks is remembered, it needs a model's name and not its graph, and loading
the graph would take several times as long as ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Lock

from abstrag.neural.bundle import MODEL, TOKENIZER, Bundle, ModelTask
from abstrag.neural.runtime import Runtime, Trunk
from abstrag.neural.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class Parts:
    """What reads texts: one cuts them into tokens, the other runs the graph on these."""

    tokens: Tokenizer
    run: Runtime


class Loading:
    """The parts of a model, for whoever needs them first; threads may share it."""

    def __init__(self, bundle: Bundle, *, inputs: int = 1) -> None:
        self._load: Callable[[], Parts] = partial(_load, bundle, inputs)
        self._lock = Lock()
        self._parts: Parts | None = None

    def __call__(self) -> Parts:
        """Return the parts; wait for them where they are being loaded.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        if self._parts is None:
            with self._lock:
                if self._parts is None:
                    self._parts = self._load()
        return self._parts


def _load(bundle: Bundle, inputs: int) -> Parts:
    manifest = bundle.manifest
    tokens = Tokenizer(
        bundle.read(TOKENIZER), limit=manifest.max_tokens, vocabulary=manifest.vocabulary
    )
    trunk = bundle.trunk
    run = Runtime(
        bundle.read(MODEL),
        inputs=inputs,
        dimensions=manifest.dimensions,
        trunk=None if trunk is None else _trunk(trunk.folder, trunk.manifest.files[MODEL]),
    )
    return Parts(tokens, run)


@cache
def _trunk(folder: Path, _digest: str) -> Trunk:
    """Return the graph of a folder, once for all models that read with it."""
    return Trunk(Bundle.open(folder, ModelTask.TRUNK).read(MODEL))
