"""What every SQLite file of ours needs: readers beside a writer, and one transaction at a time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

BUSY_S: Final = 30.0  # how long to wait for another process to finish its write

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_MAGIC: Final = b"SQLite format 3\0"
_APPLICATION_ID_AT: Final = 68


def bears_mark(path: str | Path, application_id: int) -> bool:
    """True when a file says in its first bytes that it is SQLite's, and of this application."""
    try:
        if not Path(path).is_file():  # a pipe would have to be waited for
            return False
        with Path(path).open("rb") as file:
            head = file.read(_APPLICATION_ID_AT + 4)
    except (OSError, ValueError):  # a name that no file can have
        return False
    mark = head[_APPLICATION_ID_AT:]
    return head.startswith(_MAGIC) and mark == application_id.to_bytes(4, "big")


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers go on while one process writes."""
    deadline = time.monotonic() + BUSY_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not wait here by itself when two processes make the same new file
            if result_code(error) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool) -> Iterator[None]:
    """Run a block as one transaction; an error in it leaves everything as it was."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def part(connection: sqlite3.Connection, *, write: bool) -> Iterator[None]:
    """Run a block as a part of the transaction that is open; an error undoes that part."""
    if not connection.in_transaction:  # an error of the disk undid all of it
        raise sqlite3.OperationalError("the transaction was rolled back")
    if not write:
        yield
        return
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


def result_code(error: sqlite3.Error) -> int | None:
    """Return the primary result code of an error."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
