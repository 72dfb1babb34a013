"""The embedded store: one SQLite file, safe for several processes and for a sudden end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Final, Self, TypeVar

from abstrag.errors import InputError, StoreCorrupt, StoreError, StoreReadOnly, StoreTooNew
from abstrag.files import BUSY_S, bears_mark, part, result_code, transaction, use_write_ahead_log
from abstrag.model.term import Mention
from abstrag.stores import layer_rows, memory
from abstrag.stores.database import (
    FORGET_PLACE,
    SCHEMES,
    SEAL,
    ConnectionLock,
    Migration,
    SqlStore,
    choose_id,
    read_migrations,
    select,
)
from abstrag.stores.memory import MappedFiles
from abstrag.stores.prepared import Prepared
from abstrag.stores.protocol import LayerKey
from abstrag.stores.rows import (
    GIVEN,
    StoredRows,
    blob_columns,
    decoding,
    from_blobs,
    insert_blobs,
    mention,
    seal,
    select_blobs,
    select_table,
)
from abstrag.stores.tables import POSTINGS, TABLES, TERMS, Row

MEMORY: Final = ":memory:"  # in place of a path: a store without a file
APPLICATION_ID: Final = 0x41627352  # "AbsR": marks an SQLite file as ours, in its header
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


def in_memory(target: str | Path) -> bool:
    """True for the name of a store that has no file; each that is opened is another one."""
    return str(target) == MEMORY


def is_store(path: str | Path) -> bool:
    """True when a file says in its first bytes that it is a store of ours."""
    return bears_mark(path, APPLICATION_ID)


T = TypeVar("T")

_INSERT: Final = (
    f"INSERT INTO documents ({', '.join(GIVEN)}) VALUES ({', '.join(f':{name}' for name in GIVEN)})"
)


class SqliteStore(SqlStore):
    """A `Store` in one SQLite file, or in memory under the name `:memory:`.

    Threads may share it: each call waits for its turn at the one connection and decodes what it
    read afterwards. A process opens its own.
    """

    _layer_rows: ClassVar[ModuleType] = layer_rows
    _memory: ClassVar[ModuleType] = memory

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.mapped = MappedFiles.beside(path)
        self._connection = connection
        self._lock = ConnectionLock(str(path))
        self._together = False  # whether calls are parts of one transaction

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True) -> Self:
        """Open the store at a path, making or migrating the file where that is needed.

        `:memory:` is a new store that nobody else sees and that is gone when it is closed.
        """
        path = Path(path)
        connection = connect(path, create=create)
        try:
            with translated(path):
                configure(connection)
                migrate(connection, path)
                use_write_ahead_log(connection)
        except StoreError as error:
            connection.close()
            if isinstance(error, StoreCorrupt | StoreTooNew):
                raise
            return cls._open_unwritable(path, error)
        except BaseException:
            connection.close()
            raise
        return cls(path, connection)

    @classmethod
    def _open_unwritable(cls, path: Path, error: StoreError) -> Self:
        """Open a sound store on a disk that is read-only; what it cannot do is the old error."""
        connection = connect_unwritable(path)
        if connection is None:
            raise error
        try:
            with translated(path):
                configure(connection)
                migrate(connection, path)
        except BaseException:
            connection.close()
            raise error from None
        return cls(path, connection)

    def put_prepared(self, prepared: Prepared, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index that was packed elsewhere, as `put` does."""
        blobs = prepared.blobs

        def work(run: sqlite3.Connection) -> str:
            document_id = choose_id(run, prepared.id, source_path)
            replaced = self._delete(run, "id = ? OR source_path = ?", (document_id, source_path))
            own = {"id": document_id, "source_path": source_path, "source_hash": source_hash}
            columns = {**own, **prepared.columns}
            number = run.execute(_INSERT, columns).lastrowid
            run.execute(FORGET_PLACE, (source_path,))
            assert number is not None
            insert_blobs(run, number, blobs)
            run.execute(SEAL, (number, seal({**columns, **blob_columns(blobs)}, {})))
            self._forget_unused(run, replaced)
            return document_id

        return self._write(work)

    def _kept(self, document_id: str) -> StoredRows:
        with self._transaction(write=False) as run:
            number, *values = select(run, ("number", *GIVEN), document_id)
            columns = dict(zip(GIVEN, values, strict=True))
            blobs = select_blobs(run, number)
            rows = {} if blobs else {t: run.execute(t.select, (number,)).fetchall() for t in TABLES}
            row = run.execute("SELECT digest FROM seals WHERE document = ?", (number,)).fetchone()
        if not blobs:
            return StoredRows(number, columns, rows, row and row[0])
        with decoding(f"document {document_id!r}", self._corrupt):
            rows = from_blobs(blobs)
        return StoredRows(number, columns, rows, row and row[0], blob_columns(blobs))

    def postings(self, document_id: str, term_ids: Iterable[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the mentions of each term in index order; a term without any maps to `()`."""
        wanted = list(term_ids)  # whatever makes them may use the store itself
        with self._transaction(write=False) as run:
            (number,) = select(run, ("number",), document_id)
            with decoding(f"document {document_id!r}", self._corrupt):
                terms, rows = (select_table(run, number, table) for table in (TERMS, POSTINGS))
        found: dict[str, list[Mention]] = {term_id: [] for term_id in wanted}
        asked = {number: term_id for number, term_id, *_ in terms if term_id in found}
        for _, term, *place in rows:
            if term in asked:
                found[asked[term]].append(mention(asked[term], tuple(place)))
        return {term_id: tuple(mentions) for term_id, mentions in found.items()}

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        with self._transaction(write=False) as run:
            problems = [row[0] for row in run.execute("PRAGMA integrity_check")]
            orphans = [row[0] for row in run.execute("PRAGMA foreign_key_check")]
            odd_schema = odd_parts(run)
        if problems != ["ok"]:
            raise corrupt(self.path, problems[0])
        if odd_schema:
            raise corrupt(self.path, f"{odd_schema[0]!r} is not as it was made")
        if orphans:
            raise corrupt(self.path, f"rows of {orphans[0]!r} belong to no document")
        super().check()
        with self._transaction(write=False) as run, decoding("what models said", self._corrupt):
            odd = next(memory.broken(run), None)
        if odd is not None:
            raise corrupt(self.path, f"{odd} is not as it was written")

    def close(self) -> None:
        """Let go of the store; closing twice is fine."""
        self._lock.end(self._connection.close)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make one transaction of the calls of a block: a disk that syncs takes its time for each.

        A call that fails leaves nothing of itself; an error that leaves the block leaves nothing.
        """
        with self._transaction(write=True):
            self._together = True
            try:
                yield
            finally:
                self._together = False

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._transaction(write=False) as run:
            return work(run)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._transaction(write=True) as run:
            return work(run)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """Keep the connection to this thread for one transaction; what is in it should be short."""
        with (
            self._lock.taken(),
            translated(self.path),
            (part if self._together else transaction)(self._connection, write=write),
        ):
            yield self._connection

    def _corrupt(self, problem: str) -> StoreCorrupt:
        return corrupt(self.path, problem)

    def _layers_at(self, keys: Sequence[LayerKey]) -> Iterable[Row]:
        return self._read(lambda run: list(layer_rows.find(run, keys)))

    def _delete(self, run: sqlite3.Connection, where: str, values: Row) -> list[str]:
        rows = run.execute(f"SELECT content_hash FROM documents WHERE {where}", values).fetchall()
        run.execute(f"DELETE FROM documents WHERE {where}", values)
        return [content_hash for (content_hash,) in rows]
