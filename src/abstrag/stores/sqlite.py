"""The embedded store: one SQLite file, safe for several processes and for a sudden end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Final, Self, TypeVar

from abstrag.errors import StoreCorrupt, StoreError, StoreTooNew
from abstrag.model.term import Mention
from abstrag.sqlite_file import part, transaction, use_write_ahead_log
from abstrag.stores import layer_rows, memory
from abstrag.stores.connection import (
    ConnectionLock,
    configure,
    connect,
    connect_unwritable,
    corrupt,
    migrate,
    odd_parts,
    translated,
)
from abstrag.stores.database import FORGET_PLACE, SEAL, SqlStore, choose_id, select
from abstrag.stores.mapped import MappedFiles
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
    select_blobs,
    select_table,
)
from abstrag.stores.seal import seal
from abstrag.stores.tables import POSTINGS, TABLES, TERMS, Row

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
