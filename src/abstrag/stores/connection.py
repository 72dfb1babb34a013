"""A store's connection: opening an SQLite file at the newest schema, its errors, taking turns."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from threading import RLock
from typing import Final

from abstrag.errors import InputError, StoreCorrupt, StoreError, StoreReadOnly, StoreTooNew
from abstrag.sqlite_file import BUSY_S, result_code, transaction
from abstrag.stores.location import APPLICATION_ID, SCHEMES, in_memory

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


Migration = tuple[str, ...]

VERSION_KEY: Final = "documents_version"  # in `meta`: how often documents came, changed or went


def read_migrations(package: str) -> tuple[Migration, ...]:
    """Return the statements of each version in the file `schema.sql` of a package."""
    text = resources.files(package).joinpath("schema.sql").read_text("utf-8")
    _, *versions = re.split(r"^-- version \d+$", text, flags=re.MULTILINE)
    parts = ([part.strip() for part in version.split("\n\n")] for version in versions)
    return tuple(tuple(p for p in some if p and not p.startswith("-- ")) for some in parts)


_PARTS: Final = (  # older releases left white space at the end of a statement
    "SELECT name, type, tbl_name, rtrim(sql, ' ' || char(10)) FROM sqlite_master "
    "WHERE name NOT LIKE 'sqlite_%'"
)
MIGRATIONS: Final = read_migrations("abstrag.stores")


def migrate(
    connection: sqlite3.Connection, path: Path, *, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring a new or older file up to date, in one transaction."""
    with transaction(connection, write=False):  # one view: another process may be making the file
        version = _version(connection, path, migrations)
    if version == len(migrations):
        return
    with transaction(connection, write=True):
        # read again: another process may have migrated while we waited for the lock
        for statements in migrations[_version(connection, path, migrations) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(len(migrations)),)
        )


def odd_parts(connection: sqlite3.Connection) -> list[str]:
    """Return the tables, indexes and triggers that are not as the migrations make them."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.isolation_level = None
        migrate(fresh, Path(":memory:"))
        made, found = (set(each.execute(_PARTS)) for each in (fresh, connection))
    return sorted(str(name) for name, *_ in made ^ found)


def _version(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> int:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if mark == 0 and tables == 0:
        return 0  # a file that SQLite has just made
    if mark != APPLICATION_ID:
        raise StoreCorrupt(
            f"{str(path)!r} is a database of another program",
            hint="choose another file with --store",
        )
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None or not row[0].isdecimal():
        raise StoreCorrupt(
            f"store {str(path)!r} does not say which version it is",
            hint="move the file away and index again",
        )
    version = int(row[0])
    if version > len(migrations):
        raise StoreTooNew(
            f"store {str(path)!r} has schema version {version}, "
            f"this program knows versions up to {len(migrations)}",
            hint="upgrade abstrag, or choose another file with --store",
        )
    return version
