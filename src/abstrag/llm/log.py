"""The log of calls: cache, recording and audit are one file.

A call is stored under the hash of its content; asking the same again is answered from here and
costs nothing. Every exchange over the wire is stored too, so that retries and failures show.
Several processes and threads may use one file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from platformdirs import user_data_dir

from abstrag.errors import FileMissing, InputError, StoreCorrupt, StoreError, StoreTooNew
from abstrag.files import BUSY_S, result_code, transaction, use_write_ahead_log, write_whole
from abstrag.llm.call import Call, CallLine, Exchange, RoleSummary, quantile
from abstrag.llm.model import CallRole
from abstrag.model.record import from_json, record, to_json


@record
class Recording:
    """Calls by id."""

    calls: Mapping[str, Call]

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording.

        Raises:
            FileMissing: There is no such file.
            InputError: A line is not a call.
        """
        try:
            lines = path.read_text("utf-8").split("\n")  # texts may hold other line ends
        except FileNotFoundError as error:
            raise FileMissing(f"no recording at {str(path)!r}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"recording {str(path)!r} cannot be read: {error}") from error
        calls: dict[str, Call] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                call = from_json(Call, line)
            except InputError as error:
                raise InputError(f"recording {str(path)!r}, line {number}: {error}") from error
            calls[call.id] = call
        return cls(calls)

    def roles(self) -> dict[CallRole, str]:
        """Say which model served which role; the only model serves them all.

        Raises:
            InputError: A role was served by several, or nothing was recorded.
        """
        models = sorted({call.model for call in self.calls.values()})
        if len(models) == 1:
            return dict.fromkeys(CallRole, models[0])
        served: dict[CallRole, str] = {}
        for call in self.calls.values():
            if served.setdefault(call.request.role, call.model) != call.model:
                raise InputError(
                    f"the recording has several models for the role {call.request.role.value!r}",
                    hint="choose with --llm MODEL, one of: " + ", ".join(models),
                )
        if not served:
            raise InputError("the recording is empty")
        return served


def save(calls: Iterable[Call], path: Path) -> int:
    """Write calls to a file, all or nothing, and return how many."""
    lines = [to_json(call) + "\n" for call in calls]
    try:
        write_whole(path, "".join(lines))
    except OSError as error:
        raise InputError(f"recording {str(path)!r} cannot be written: {error}") from error
    return len(lines)


CALLS_VARIABLE: Final = "ABSTRAG_CALLS"
CALLS_NAME: Final = "calls.db"

_APPLICATION_ID: Final = 0x41627343  # "AbsC": marks an SQLite file as a log of calls
_VERSION: Final = 1
_SCHEMA: Final = (
    """
    CREATE TABLE calls (
        id TEXT PRIMARY KEY,
        at TEXT NOT NULL,
        role TEXT NOT NULL,
        stage TEXT NOT NULL,
        model TEXT NOT NULL,
        error TEXT,
        hits INTEGER NOT NULL DEFAULT 0,
        record TEXT NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX calls_at ON calls (at)",
    """
    CREATE TABLE exchanges (
        number INTEGER PRIMARY KEY,
        call TEXT NOT NULL,
        role TEXT NOT NULL,
        mode TEXT NOT NULL,
        outcome TEXT NOT NULL,
        seconds REAL NOT NULL,
        tokens_in INTEGER NOT NULL,
        tokens_out INTEGER NOT NULL,
        cost REAL NOT NULL,
        lost INTEGER NOT NULL
    )
    """,
    "CREATE INDEX exchanges_call ON exchanges (call)",
)


def default_calls_path() -> Path:
    """Return the path in `ABSTRAG_CALLS`, or else the log beside the default store."""
    if chosen := os.environ.get(CALLS_VARIABLE):
        return Path(chosen).expanduser()
    if store := os.environ.get("ABSTRAG_STORE"):
        return Path(store).expanduser().parent / CALLS_NAME
    return Path(user_data_dir("abstrag", appauthor=False)) / CALLS_NAME


class CallLog:
    """An open log."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, create: bool = True) -> CallLog:
        """Open the log at a path, and make it when it is missing.

        Raises:
            StoreError: There is none and `create` is false, or the file cannot be used.
        """
        if not create and not path.is_file():
            raise StoreError(
                f"no log of calls at {str(path)!r}", hint="the first call to a model makes one"
            )
        with _translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(path, connection)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection)

    def __enter__(self) -> CallLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def find(self, call_id: str) -> Call | None:
        """Return a call that has a reply, and count that it was of use again."""
        rows = self._rows("SELECT record FROM calls WHERE id = ? AND error IS NULL", call_id)
        if not rows:
            return None
        self._write(("UPDATE calls SET hits = hits + 1 WHERE id = ?", [(call_id,)]))
        return self._read(rows[0][0])

    def known(self, call_ids: Sequence[str]) -> frozenset[str]:
        """Return which of some ids have a reply."""
        query = "SELECT 1 FROM calls WHERE id = ? AND error IS NULL"
        return frozenset(one for one in call_ids if self._rows(query, one))

    def add(self, call: Call, exchanges: Sequence[Exchange]) -> None:
        """Store a call and its exchanges at once; a failure never replaces a reply."""
        row = (call.id, call.at, call.request.role, call.request.stage, call.model, call.error)
        asked = call.id, call.request.role
        wire = [
            (*asked, e.mode, e.outcome, e.seconds, e.tokens_in, e.tokens_out, e.cost, e.lost)
            for e in exchanges
        ]
        self._write(
            (
                "INSERT INTO calls (id, at, role, stage, model, error, record) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at, "
                "error = excluded.error, record = excluded.record WHERE error IS NOT NULL",
                [(*row, to_json(call))],
            ),
            (
                "INSERT INTO exchanges (call, role, mode, outcome, seconds, tokens_in, "
                "tokens_out, cost, lost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                wire,
            ),
        )

    def call(self, prefix: str) -> Call:
        """Return the call whose id begins with some text.

        Raises:
            InputError: There is no such call, or more than one.
        """
        rows = self._rows(
            "SELECT record, id FROM calls WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT 2",
            len(prefix),
            prefix,
        )
        if not prefix or not rows:
            raise InputError(f"no call {prefix!r} in {str(self.path)!r}", hint="abstrag calls list")
        if len(rows) > 1:
            raise InputError(
                f"several calls begin with {prefix!r}", hint=f"say more of it: {rows[0][1]}"
            )
        return self._read(rows[0][0])

    def exchanges(self, call_id: str) -> list[Exchange]:
        """Return what went over the wire for a call, the oldest first."""
        rows = self._rows(
            "SELECT mode, outcome, seconds, tokens_in, tokens_out, cost, lost FROM exchanges "
            "WHERE call = ? ORDER BY number",
            call_id,
        )
        return [
            Exchange(mode, outcome, seconds, sent, received, cost, lost=bool(lost))
            for mode, outcome, seconds, sent, received, cost, lost in rows
        ]

    def calls(self) -> Iterator[Call]:
        """Go through all calls that have a reply, in the order of their ids."""
        last = ""
        query = "SELECT id, record FROM calls WHERE id > ? AND error IS NULL ORDER BY id LIMIT 100"
        while rows := self._rows(query, last):
            for last, text in rows:  # noqa: B007
                yield self._read(text)

    def lines(
        self, *, role: CallRole | None = None, failed: bool = False, last: int | None = None
    ) -> list[CallLine]:
        """List calls, the latest first."""
        rows = self._rows(
            "SELECT record, hits FROM calls WHERE (?1 IS NULL OR role = ?1) "
            "AND (?2 = 0 OR error IS NOT NULL) ORDER BY at DESC, id LIMIT ?3",
            role,
            int(failed),
            -1 if last is None else last,
        )
        return [_line(self._read(text), hits) for text, hits in rows]

    def summary(self) -> list[RoleSummary]:
        """Add up by role; a role without a call is left out."""
        found = (self._summary(role) for role in CallRole)
        return [one for one in found if one.calls or one.cached or one.faults or one.failed]

    def _summary(self, role: CallRole) -> RoleSummary:
        wire = self._rows(
            "SELECT outcome = 'ok', seconds, tokens_in, tokens_out, cost FROM exchanges "
            "WHERE role = ?",
            role,
        )
        hits, failed = self._rows(
            "SELECT coalesce(sum(hits), 0), count(error) FROM calls WHERE role = ?", role
        )[0]
        waits = [seconds for ok, seconds, *_ in wire if ok]
        return RoleSummary(
            role=role,
            calls=len(waits),
            cached=hits,
            faults=len(wire) - len(waits),
            failed=failed,
            tokens_in=sum(row[2] for row in wire),
            tokens_out=sum(row[3] for row in wire),
            cost=sum(row[4] for row in wire),
            p50_s=quantile(waits, 0.5),
            p95_s=quantile(waits, 0.95),
        )

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._lock, _translated(self.path):
            return self._connection.execute(query, values).fetchall()

    def _write(self, *statements: tuple[str, list[tuple[Any, ...]]]) -> None:
        with self._lock, _translated(self.path), transaction(self._connection, write=True):
            for statement, rows in statements:
                self._connection.executemany(statement, rows)

    def _read(self, text: str) -> Call:
        try:
            return from_json(Call, text)
        except InputError as error:
            raise StoreCorrupt(f"{str(self.path)!r} holds a broken call: {error}") from error


def _line(call: Call, hits: int) -> CallLine:
    same = {each.name for each in fields(Call)} & {each.name for each in fields(CallLine)}
    told = {name: getattr(call, name) for name in same}
    return CallLine(role=call.request.role, stage=call.request.stage, hits=hits, **told)


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    """Make the tables in a new file; refuse one that is not ours."""
    with transaction(connection, write=False):  # one view: another process may be making the file
        mark, version = _marks(connection)
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if mark == 0 and tables == 0:
        use_write_ahead_log(connection)
        with transaction(connection, write=True):
            if _marks(connection)[0] == 0:  # another process may have been first
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        mark, version = _marks(connection)
    if mark != _APPLICATION_ID:
        raise StoreCorrupt(
            f"{str(path)!r} is not a log of calls", hint="choose another file with --calls"
        )
    if version > _VERSION:
        raise StoreTooNew(f"{str(path)!r} was written by a newer abstrag", hint="upgrade abstrag")
    # a reply is paid for: what was logged survives a power failure, at the price of a sync a call
    connection.execute("PRAGMA synchronous = FULL")


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return mark, version


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a mistake of our own; no hint would help the user
    except (sqlite3.DatabaseError, OSError) as error:
        broken = isinstance(error, sqlite3.DatabaseError) and result_code(error) in (
            sqlite3.SQLITE_CORRUPT,
            sqlite3.SQLITE_NOTADB,
        )
        raise (StoreCorrupt if broken else StoreError)(
            f"the log of calls {str(path)!r} cannot be used: {error}",
            hint="choose another file with --calls",
        ) from error
