"""Writing several things at once, in a store that can."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable

from abstrag.stores.protocol import Store


@runtime_checkable
class JoiningStore(Protocol):
    """A store that makes one transaction of several calls."""

    def together(self) -> AbstractContextManager[None]:
        """Make one transaction of the calls of a block.

        A call that fails leaves nothing of itself; an error that leaves the block leaves nothing.
        """
        ...


def together(store: Store) -> AbstractContextManager[None]:
    """Make one transaction of the calls of a block, where a store can; else each is its own."""
    return store.together() if isinstance(store, JoiningStore) else nullcontext()
