"""The embedded store: one SQLite file, safe for several processes and for a sudden end."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from abstrag.errors import StoreCorrupt, StoreError, StoreTooNew
from abstrag.model.background import Background
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Mention
from abstrag.sqlite_file import part, transaction, use_write_ahead_log
from abstrag.stores import layer_rows, memory, packed_rows, places, removal
from abstrag.stores.columns import (
    GIVEN,
    INFO,
    INFO_COLUMNS,
    StoredRows,
    decoding,
    document_info,
    document_infos,
    require_sound,
)
from abstrag.stores.connection import (
    ConnectionLock,
    configure,
    connect,
    connect_unwritable,
    corrupt,
    translated,
)
from abstrag.stores.mapped import MappedFiles
from abstrag.stores.models import LAYERS_OF_VECTORS, VECTORS, checked, counted, others
from abstrag.stores.naming import candidates, choose, complete, unknown
from abstrag.stores.prepared import Prepared, prepare
from abstrag.stores.protocol import LAYERS_AT_A_TIME, DocumentInfo, LayerKey
from abstrag.stores.rows import mention, squeeze, unpack, unpack_background, unsqueeze
from abstrag.stores.schema import VERSION_KEY, migrate, odd_parts
from abstrag.stores.seal import seal
from abstrag.stores.tables import POSTINGS, TABLES, TERMS, Row

_INSERT: Final = (
    f"INSERT INTO documents ({', '.join(GIVEN)}) VALUES ({', '.join(f':{name}' for name in GIVEN)})"
)


class SqliteStore:
    """A `Store` in one SQLite file, or in memory under the name `:memory:`.

    Threads may share it: each call waits for its turn at the one connection and decodes what it
    read afterwards. A process opens its own.
    """

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

    def put(self, index: DocumentIndex, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index, in place of the one this source had before, and return its store id."""
        return self.put_prepared(prepare(index), source_path=source_path, source_hash=source_hash)

    def put_prepared(self, prepared: Prepared, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index that was packed elsewhere, as `put` does."""
        blobs = prepared.blobs
        with self._writing() as run:
            document_id = self._choose_id(prepared.id, source_path)
            replaced = removal.delete(
                self._connection, "id = ? OR source_path = ?", (document_id, source_path)
            )
            own = {"id": document_id, "source_path": source_path, "source_hash": source_hash}
            columns = {**own, **prepared.columns}
            number = run.execute(_INSERT, columns).lastrowid
            run.execute(places.FORGET, (source_path,))
            assert number is not None
            packed_rows.put(self._connection, number, blobs)
            digest = seal({**columns, **packed_rows.named(blobs)}, {})
            run.execute("INSERT INTO seals VALUES (?, ?)", (number, digest))
            removal.forget_layers(self._connection, replaced, self.mapped)
        return document_id

    def holders(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return which source path holds each of some ids; an id that is free is left out."""
        with self._reading():
            return removal.holders(self._connection, ids)

    def get(self, document_id: str) -> DocumentIndex:
        """Return the index of a document, named by its store id or a unique beginning of it."""
        kept = self._kept(document_id)
        if kept.broken:
            raise self._corrupt(f"document {document_id!r} is not as it was written")
        with decoding(f"document {document_id!r}", self._corrupt):
            return unpack(kept.packed)

    def _kept(self, document_id: str) -> StoredRows:
        with self._reading() as run:
            number, *values = self._select(("number", *GIVEN), document_id)
            columns = dict(zip(GIVEN, values, strict=True))
            blobs = packed_rows.get(self._connection, number)
            rows = {} if blobs else {t: run.execute(t.select, (number,)).fetchall() for t in TABLES}
            row = run.execute("SELECT digest FROM seals WHERE document = ?", (number,)).fetchone()
        if not blobs:
            return StoredRows(number, columns, rows, row and row[0])
        with decoding(f"document {document_id!r}", self._corrupt):
            rows = packed_rows.unpacked(blobs)
        return StoredRows(number, columns, rows, row and row[0], packed_rows.named(blobs))

    def background(self, document_id: str) -> Background:
        """Return the Background a document was indexed with."""
        with self._reading():
            (data,) = self._select(("background",), document_id)
        with decoding(f"Background of {document_id!r}", self._corrupt):
            return unpack_background(data)

    def find(self, document_id: str) -> DocumentInfo:
        """Describe a document, named by its store id or a unique beginning of it."""
        with self._reading():
            row = self._select(INFO_COLUMNS, document_id)
        return document_info(row, self._corrupt)

    def find_source(self, path: str) -> DocumentInfo | None:
        """Describe the document that was read from a path or has that place too, if any."""
        with self._reading() as run:
            row = run.execute(f"{INFO} WHERE source_path = ?", (path,)).fetchone()
            row = row or run.execute(f"{INFO} WHERE {places.NUMBER_AT}", (path,)).fetchone()
        return None if row is None else document_info(row, self._corrupt)

    def find_bytes(self, source_hash: str) -> tuple[DocumentInfo, ...]:
        """Describe the documents that were read from such bytes, sorted by id."""
        with self._reading() as run:
            rows = run.execute(f"{INFO} WHERE source_hash = ?", (source_hash,)).fetchall()
        return document_infos(rows, self._corrupt)

    def add_place(self, document_id: str, path: str) -> None:
        """Know that the bytes of a document lie at a path too."""
        with self._writing() as run:
            own = run.execute("SELECT 1 FROM documents WHERE source_path = ?", (path,)).fetchone()
            if own is None:
                run.execute(places.ADD, (path, *self._select(("number",), document_id)))

    def places(self, document_id: str) -> tuple[str, ...]:
        """Return the other paths of a document, sorted."""
        with self._reading() as run:
            number = self._select(("number",), document_id)
            return tuple(row[0] for row in run.execute(places.OF_DOCUMENT, number))

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe every document, sorted by id."""
        with self._reading() as run:
            rows = run.execute(INFO).fetchall()  # as they lie in the file
        return document_infos(rows, self._corrupt)

    def postings(self, document_id: str, term_ids: Iterable[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the mentions of each term in index order; a term without any maps to `()`."""
        wanted = list(term_ids)  # whatever makes them may use the store itself
        with self._reading():
            (number,) = self._select(("number",), document_id)
            with decoding(f"document {document_id!r}", self._corrupt):
                terms, rows = (
                    packed_rows.one(self._connection, number, table) for table in (TERMS, POSTINGS)
                )
        found: dict[str, list[Mention]] = {term_id: [] for term_id in wanted}
        asked = {number: term_id for number, term_id, *_ in terms if term_id in found}
        for _, term, *place in rows:
            if term in asked:
                found[asked[term]].append(mention(asked[term], tuple(place)))
        return {term_id: tuple(mentions) for term_id, mentions in found.items()}

    def remove(self, document_id: str) -> None:
        """Forget a document, named by its full store id, and the layers only it needed."""
        with self._writing():
            ids = self._ids()
            if document_id not in ids:
                raise unknown(document_id, ids)
            gone = removal.delete(self._connection, "id = ?", (document_id,))
            removal.forget_layers(self._connection, gone, self.mapped)

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what `put_layer` kept under the same three keys, or None."""
        key = (content_hash, layer, fingerprint)
        return self.get_layers([key]).get(key)

    def get_layers(self, keys: Sequence[LayerKey]) -> dict[LayerKey, bytes]:
        """Return those of some layers that are kept, by their three keys, in one go."""
        with self._reading():
            rows = list(layer_rows.find(self._connection, keys))
        found = {}
        for *key, data in rows:
            with decoding(f"layer {key[1]!r} of {key[0]!r}", self._corrupt):
                found[key[0], key[1], key[2]] = unsqueeze(data)
        return found

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep an operator's result for a document's content and a chain's fingerprint."""
        self.put_layers({(content_hash, layer, fingerprint): data})

    def put_layers(self, layers: Mapping[LayerKey, bytes]) -> None:
        """Keep several layers in one transaction."""
        squeezed = {key: squeeze(data) for key, data in layers.items()}
        with self._writing():
            for key, data in squeezed.items():
                layer_rows.put(self._connection, key, data)

    def layers(self, content_hash: str) -> tuple[tuple[str, str, bytes], ...]:
        """Return the layers of a content as (layer, fingerprint, data), the oldest first."""
        with self._reading():
            rows = layer_rows.of_content(self._connection, content_hash)
        with decoding(f"layers of {content_hash!r}", self._corrupt):
            return tuple((layer, fingerprint, unsqueeze(data)) for layer, fingerprint, data in rows)

    def layers_named(self, layer: str) -> Iterator[tuple[str, str, bytes]]:
        """Go through one layer of every content, as (content hash, fingerprint, data)."""
        last = ("", "")
        while True:
            with self._reading():
                rows = layer_rows.named(self._connection, layer, last)
            for content_hash, fingerprint, data in rows:
                with decoding(f"layer {layer!r} of {content_hash!r}", self._corrupt):
                    unsqueezed = unsqueeze(data)
                yield content_hash, fingerprint, unsqueezed
            if len(rows) < LAYERS_AT_A_TIME:
                return
            last = rows[-1][:2]

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return what is remembered of some keys, under a content and a model's fingerprint."""
        with self._reading() as run:
            return memory.recall(run, kind, content_hash, model, keys)

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep what a model said; what is there already stays, and the oldest makes room."""
        with self._writing() as run:
            memory.remember(run, kind, content_hash, model, values)

    def remembered(self, kind: str, content_hash: str) -> dict[str, dict[bytes, bytes]]:
        """Return everything of a kind that is remembered of a content, by model."""
        with self._reading() as run:
            return memory.remembered(run, kind, content_hash)

    def version(self) -> int:
        """Return a number that is another one whenever a document was put or removed."""
        with self._reading() as run:
            row = run.execute("SELECT value FROM meta WHERE key = ?", (VERSION_KEY,)).fetchone()
        with decoding("version of the documents", self._corrupt):
            return int(row[0])

    def models(self) -> dict[str, dict[str, int]]:
        """Count what models made, by kind and the model's fingerprint."""
        with self._reading() as run:
            said = {kind: memory.models(run, kind) for kind in memory.LIMITS}
            rows = run.execute(
                "SELECT layer, fingerprint, count(*) FROM layers "
                f"WHERE {LAYERS_OF_VECTORS} GROUP BY layer, fingerprint"
            ).fetchall()
        return {**said, VECTORS: counted(rows)}

    def forget_models(self, kind: str, *, keep: Collection[str]) -> int:
        """Drop what models other than some made of a kind, and return how much that was."""
        kept = checked(kind, keep)
        with self._writing() as run:
            if kind != VECTORS:
                return memory.forget_models(run, kind, kept)
            rows = run.execute(
                f"SELECT DISTINCT layer, fingerprint FROM layers WHERE {LAYERS_OF_VECTORS}"
            ).fetchall()
            return run.executemany(
                "DELETE FROM layers WHERE layer = ? AND fingerprint = ?", others(rows, kept)
            ).rowcount

    def forget(self, content_hash: str) -> None:
        """Drop what models said about a content, whether a document has it or not."""
        with self._writing() as run:
            memory.forget(run, content_hash)

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        with self._reading() as run:
            problems = [row[0] for row in run.execute("PRAGMA integrity_check")]
            orphans = [row[0] for row in run.execute("PRAGMA foreign_key_check")]
            odd_schema = odd_parts(run)
        if problems != ["ok"]:
            raise corrupt(self.path, problems[0])
        if odd_schema:
            raise corrupt(self.path, f"{odd_schema[0]!r} is not as it was made")
        if orphans:
            raise corrupt(self.path, f"rows of {orphans[0]!r} belong to no document")
        for info in self.documents():
            kept = self._kept(info.id)
            require_sound(info, kept, self.get, self._corrupt)
            if kept.digest is None:
                with self._writing() as run:
                    run.execute("INSERT OR IGNORE INTO seals VALUES (?, ?)", kept.to_seal)
            self.layers(info.content_hash)
        with self._reading() as run, decoding("what models said", self._corrupt):
            odd = next(memory.broken(run), None)
        if odd is not None:
            raise corrupt(self.path, f"{odd} is not as it was written")

    def close(self) -> None:
        """Let go of the store; closing twice is fine."""
        self._lock.end(self._connection.close)

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

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

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give one consistent view of the file, whatever others write meanwhile."""
        with self._transaction(write=False) as run:
            yield run

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._transaction(write=True) as run:
            yield run

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

    def _select(self, columns: Iterable[str], document_id: str) -> Row:
        """Read columns of the document that a person means by an id."""
        statement = f"SELECT {', '.join(columns)} FROM documents WHERE id = ?"
        row: Row | None = self._connection.execute(statement, (document_id,)).fetchone()
        if row is None:  # only now are the names of all the others worth reading
            name = complete(document_id, self._ids())
            row = self._connection.execute(statement, (name,)).fetchone()
        assert row is not None
        return row

    def _ids(self) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT id FROM documents ORDER BY id")]

    def _choose_id(self, document_id: str, source_path: str | None) -> str:
        wanted = candidates(document_id, source_path)
        return choose(wanted, removal.holders(self._connection, wanted), source_path=source_path)
