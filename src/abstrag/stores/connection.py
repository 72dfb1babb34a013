"""A store's connection: opening an SQLite file, what its errors mean, taking turns at any."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Final

from abstrag.errors import InputError, StoreCorrupt, StoreError, StoreReadOnly
from abstrag.sqlite_file import BUSY_S, result_code
from abstrag.stores.location import in_memory
from abstrag.stores.postgres.address import SCHEMES

_AGAIN: Final = "move the file away and index again, or choose another one with --store"
_PERMISSION: Final = "check the permissions of the file and its folder, or choose another --store"
_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_CANNOT_WRITE: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY})
_HINTS: Final = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; try again when that is done",
    sqlite3.SQLITE_LOCKED: "another process is writing to it; try again when that is done",
    sqlite3.SQLITE_FULL: "free some disk space",
    sqlite3.SQLITE_CANTOPEN: _PERMISSION,
    sqlite3.SQLITE_PERM: _PERMISSION,
    sqlite3.SQLITE_READONLY: _PERMISSION,
}


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open the file at a path; `create` makes it, and the folders above it, when it is missing.

    Several threads may use the connection, as long as they take turns.
    """
    if any(f"{scheme}:" in path.parts for scheme in SCHEMES):
        # a path has one slash where the address had two; not shown, for it may hold a password
        raise StoreError(
            "the address of a PostgreSQL server is no file", hint="hand it over as text, not a Path"
        )
    try:
        if not in_memory(path) and path.is_dir():
            raise StoreError(
                f"{str(path)!r} is a folder, not a store", hint="name a file with --store"
            )
        if not create and (in_memory(path) or not path.exists()):  # in memory, each is a new one
            raise StoreError(f"no store at {str(path)!r}", hint="abstrag index FILE makes one")
        if not in_memory(path):
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder of the store {str(path)!r} cannot be used: {error}", hint=_PERMISSION
        ) from error
    with translated(path):
        return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


def connect_unwritable(path: Path) -> sqlite3.Connection | None:
    """Open a file where nothing can be written, not even the notes that readers leave.

    None when that cannot be: the file is missing, or its last writer left part of it in a second
    file, which only somebody who can write can put in its place.
    """
    if in_memory(path) or not path.is_file() or _size(path.with_name(f"{path.name}-wal")):
        return None
    address = f"{path.resolve().as_uri()}?immutable=1"
    with translated(path):
        return sqlite3.connect(
            address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def configure(connection: sqlite3.Connection) -> None:
    """Set what SQLite does not keep in the file."""
    connection.execute("PRAGMA foreign_keys = ON")
    # what was reported as kept survives a power failure too, for a sync at every commit
    connection.execute("PRAGMA synchronous = FULL")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into our errors, with the path and a hint."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a mistake in our own code; no hint would help the user
    except UnicodeEncodeError as error:  # a file name of raw bytes, as some systems allow
        raise InputError(
            f"{error.object!r} is not valid Unicode and cannot be stored", hint="rename the file"
        ) from error
    except sqlite3.Error as error:
        code = result_code(error)
        if code is None or code in _CORRUPT:  # no code: a column that cannot be decoded
            raise corrupt(path, error) from error
        kind = StoreReadOnly if code in _CANNOT_WRITE else StoreError
        raise kind(f"store {str(path)!r} cannot be used: {error}", hint=_HINTS.get(code)) from error


def corrupt(path: Path, problem: object) -> StoreCorrupt:
    """Say that the file at a path is no store, or a broken one."""
    return StoreCorrupt(f"{str(path)!r} is not a store or is broken: {problem}", hint=_AGAIN)


# Threads take turns at a connection, and other processes get none.
#
# A connection knows one transaction at a time, and it does not survive a fork: what two processes
# say on it reaches the database mixed, and SQLite's own locks belong to the process that took them.


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
