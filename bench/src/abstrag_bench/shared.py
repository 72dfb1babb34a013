"""One file for all processes of a run: what the shipped models said, and what indexing made.

    with shared(Path("cache.db")):
        ...                                # runs here, and in every process started here

Pairs and texts are kept under the fingerprint of the model, layers under the content of a document
and the fingerprint of the chain. Whatever comes back is what would have been computed, to the last
bit: records differ in their seconds only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # a run of BM25 alone need not wait for spaCy
    from abstrag.indexing.pipeline import LayerCache
    from abstrag.stores.sqlite import SqliteStore

VARIABLE: Final = "ABSTRAG_BENCH_CACHE"  # names the file to the processes of a run


@dataclass(slots=True)
class _Attached:
    """The file this process has open, and which layers it shares; None: all of them."""

    path: str = ""
    store: SqliteStore | None = None
    only: Collection[str] | None = None


_NOW: Final = _Attached()


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Share a file between this process and those it starts, until the end of the block."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(path.resolve())
    try:
        attach()
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
        attach()


def attach() -> None:
    """Have the shipped models of this process remember in the file of the run, if it has one."""
    path = os.environ.get(VARIABLE, "")
    if path == _NOW.path:
        return
    from abstrag.neural.aligner import default_aligner
    from abstrag.neural.judge import default_judge
    from abstrag.neural.whole_text import default_encoder
    from abstrag.stores.sqlite import SqliteStore

    if _NOW.store is not None:
        _NOW.store.close()
    store = SqliteStore.open(path) if path else None
    default_judge().memory = default_aligner().memory = default_encoder().memory = store
    _NOW.path, _NOW.store = path, store


def share_only(layers: Collection[str] | None) -> None:
    """Share no other layers from now on; None shares all of them again."""
    _NOW.only = layers


def layer_cache() -> LayerCache | None:
    """Return where layers are kept, None when nothing is shared."""
    if _NOW.store is None or _NOW.only is None:
        return _NOW.store
    return _Some(_NOW.store, _NOW.only)


@dataclass(frozen=True, slots=True)
class _Some:
    """A cache that holds some layers and has never heard of the others."""

    cache: LayerCache
    layers: Collection[str]

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        if layer not in self.layers:
            return None
        return self.cache.get_layer(content_hash, layer, fingerprint)

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        if layer in self.layers:
            self.cache.put_layer(content_hash, layer, fingerprint, data)
