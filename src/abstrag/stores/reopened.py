"""What models said, in a store that is opened for each question and closed again.

A store belongs to one thread and to whoever opened it; a searcher may outlive both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from abstrag.stores.open import Target, open_store


@dataclass(frozen=True, slots=True)
class ReopenedMemory:
    """Recalls and remembers in the store of a path or an address; threads may share it."""

    target: Target

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return what is remembered of some keys, under a content and a model's fingerprint."""
        with open_store(self.target) as store:
            return store.recall(kind, content_hash, model, keys)

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep what a model said."""
        with open_store(self.target) as store:
            store.remember(kind, content_hash, model, values)
