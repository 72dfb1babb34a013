"""Keeping what could be made again, where the disk takes it.

A question can be answered on a disk that is full or read-only: what models said on the way is not
kept then, and the next question makes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from abstrag.errors import StoreReadOnly
from abstrag.stores.mapped import MappedFiles
from abstrag.stores.protocol import Store


@dataclass(frozen=True, slots=True)
class SpareMemory:
    """What models said, kept in a store that may refuse to keep any more."""

    store: Store

    @property
    def mapped(self) -> MappedFiles | None:
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
        with suppress(StoreReadOnly):
            self.store.remember(kind, content_hash, model, values)


def keep_layer(store: Store, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
    """Keep a layer that a search makes on its way, where the disk takes it."""
    with suppress(StoreReadOnly):
        store.put_layer(content_hash, layer, fingerprint, data)
