"""Keeping what could be made again, where the disk takes it.

A question can be answered on a disk that is full or read-only: what models said on the way is not
kept then, and the next question makes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from abstrag.errors import StoreReadOnly
from abstrag.stores.mapped import KeptFiles
from abstrag.stores.protocol import Store, together

_Said = tuple[str, str, str, Mapping[bytes, bytes]]  # kind, content hash, model, values by key
_PUT_OFF: Final[ContextVar[list[_Said] | None]] = ContextVar("put_off", default=None)


@dataclass(frozen=True, slots=True)
class SpareMemory:
    """What models said, kept in a store that may refuse to keep any more."""

    store: Store

    @property
    def mapped(self) -> KeptFiles | None:
        """The files that are mapped into memory; None where the store has no place for them."""
        return self.store.mapped

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return the values of those keys that are remembered."""
        return self.store.recall(kind, content_hash, model, keys)

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep values by their keys, where the disk takes them."""
        put_off = _PUT_OFF.get()
        if put_off is None:
            with suppress(StoreReadOnly):
                self.store.remember(kind, content_hash, model, values)
        else:
            put_off.append((kind, content_hash, model, values))


@contextmanager
def remembered_together(store: Store) -> Iterator[None]:
    """Keep what models say in a block at its end, in one transaction.

    A disk that syncs takes its time for each, and a question is put to many documents. What is said
    in an interrupted block is not kept.
    """
    said: list[_Said] = []
    before = _PUT_OFF.set(said)
    try:
        yield
    finally:
        _PUT_OFF.reset(before)
    if said:
        with suppress(StoreReadOnly), together(store):
            for each in said:
                store.remember(*each)


def keep_layer(store: Store, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
    """Keep a layer that a search makes on its way, where the disk takes it."""
    with suppress(StoreReadOnly):
        store.put_layer(content_hash, layer, fingerprint, data)
