"""ConnectionLock at a connection: threads take them one after the other, other processes get none.

A connection knows one transaction at a time, and it does not survive a fork: what two processes
say on it reaches the database mixed, and SQLite's own locks belong to the process that took them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

from abstrag.errors import StoreError


class ConnectionLock:
    """Lets one thread at a time use a connection, until it is closed."""

    def __init__(self, name: str) -> None:
        """Begin; `name` is what a person calls the store."""
        self._name = name
        self._process = os.getpid()
        self._lock = RLock()  # a store may be closed while its own thread collects garbage
        self._closed = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the connection and keep it to this thread until the block ends.

        Raises:
            StoreError: The store is closed, or was opened by the process this one was forked from.
        """
        if os.getpid() != self._process:  # first, for the lock may be held by a thread left behind
            raise StoreError(
                f"store {self._name!r} was opened by another process",
                hint="open the store again in each process",
            )
        with self._lock:
            if self._closed:
                raise StoreError(f"store {self._name!r} is closed", hint="open it again")
            yield

    def end(self, close: Callable[[], None]) -> None:
        """Close the connection, once, when the turn that another thread has is over.

        A forked process only has a copy of it, and closes nothing.
        """
        if os.getpid() != self._process:
            return
        with self._lock:
            if not self._closed:
                self._closed = True
                close()
