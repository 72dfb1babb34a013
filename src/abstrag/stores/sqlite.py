"""The embedded store: one SQLite file, safe for several processes and for a sudden end."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from abstrag.errors import InputError
from abstrag.model.background import Background
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex
from abstrag.model.segment import Granularity
from abstrag.model.term import Mention
from abstrag.stores.connection import (
    configure,
    connect,
    corrupt,
    transaction,
    translated,
    use_write_ahead_log,
)
from abstrag.stores.naming import candidates, choose, complete, unknown
from abstrag.stores.protocol import DocumentInfo
from abstrag.stores.rows import Packed, mention, pack, squeeze, unpack, unpack_background, unsqueeze
from abstrag.stores.schema import migrate
from abstrag.stores.tables import TABLES, Row

LAYER_VERSIONS: Final = 4  # fingerprints kept per content and layer

_INFO_COLUMNS: Final = tuple(field.name for field in fields(DocumentInfo))
_INFO: Final = f"SELECT {', '.join(_INFO_COLUMNS)} FROM documents"
_PACKED: Final = tuple(field.name for field in fields(Packed) if field.name != "rows")
_STORED: Final = tuple(dict.fromkeys((*_INFO_COLUMNS, *_PACKED)))
_GIVEN: Final = tuple(name for name in _STORED if name != "indexed_at")
_INSERT: Final = (
    f"INSERT INTO documents ({', '.join(_GIVEN)}) "
    f"VALUES ({', '.join(f':{name}' for name in _GIVEN)})"
)
_UNREADABLE: Final = (InputError, ValueError, TypeError, LookupError, zlib.error)
_POSTINGS: Final = (  # left alone, the planner reads all postings, for they are in order already
    "SELECT segment, start, stop, header FROM postings INDEXED BY postings_term "
    "WHERE document = ? AND term IN (SELECT number FROM terms WHERE document = ? AND id = ?) "
    "ORDER BY position"
)


class SqliteStore:
    """A `Store` in one SQLite file. Open one per thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True) -> Self:
        """Open the store at a path, making or migrating the file where that is needed."""
        path = Path(path)
        connection = connect(path, create=create)
        try:
            with translated(path):
                configure(connection)
                migrate(connection, path)
                use_write_ahead_log(connection)
        except BaseException:
            connection.close()
            raise
        return cls(path, connection)

    def put(self, index: DocumentIndex, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index, in place of the one this source had before, and return its store id."""
        packed = pack(index)  # all of it before the lock is taken
        content_hash = index.document.content_hash
        with self._writing() as run:
            document_id = self._choose_id(index.document.id, source_path)
            replaced = self._delete("id = ? OR source_path = ?", (document_id, source_path))
            number = run.execute(
                _INSERT,
                {
                    "id": document_id,
                    "title": index.document.title,
                    "date": index.document.metadata.date,
                    "source_path": source_path,
                    "source_hash": source_hash,
                    "content_hash": content_hash,
                    "segments": len(index.records),
                    "terms": len(index.map.terms),
                    "edges": len(index.map.edges),
                    **{name: getattr(packed, name) for name in _PACKED},
                },
            ).lastrowid
            for table in TABLES:
                run.executemany(table.insert, ((number, *row) for row in packed.rows[table]))
            self._forget_layers(replaced)
        return document_id

    def get(self, document_id: str) -> DocumentIndex:
        """Return the index of a document, named by its store id or a unique beginning of it."""
        with self._reading() as run:
            number, *columns = self._select(("number", *_PACKED), document_id)
            rows = {table: run.execute(table.select, (number,)).fetchall() for table in TABLES}
        with self._decoding(f"document {document_id!r}"):
            return unpack(Packed(rows, *columns))

    def background(self, document_id: str) -> Background:
        """Return the Background a document was indexed with."""
        with self._reading():
            (data,) = self._select(("background",), document_id)
        with self._decoding(f"Background of {document_id!r}"):
            return unpack_background(data)

    def find(self, document_id: str) -> DocumentInfo:
        """Describe a document, named by its store id or a unique beginning of it."""
        with self._reading():
            row = self._select(_INFO_COLUMNS, document_id)
        return self._info(row)

    def find_source(self, path: str) -> DocumentInfo | None:
        """Describe the document that was read from a path, if there is one."""
        with self._reading() as run:
            row = run.execute(f"{_INFO} WHERE source_path = ?", (path,)).fetchone()
        return None if row is None else self._info(row)

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe every document, sorted by id."""
        with self._reading() as run:
            rows = run.execute(f"{_INFO} ORDER BY id").fetchall()
        return tuple(self._info(row) for row in rows)

    def postings(self, document_id: str, term_ids: Iterable[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the mentions of each term in index order; a term without any maps to `()`."""
        with self._reading() as run:
            (number,) = self._select(("number",), document_id)
            return {
                term_id: tuple(
                    mention(term_id, row)
                    for row in run.execute(_POSTINGS, (number, number, term_id))
                )
                for term_id in term_ids
            }

    def remove(self, document_id: str) -> None:
        """Forget a document, named by its full store id, and the layers only it needed."""
        with self._writing():
            ids = self._ids()
            if document_id not in ids:
                raise unknown(document_id, ids)
            self._forget_layers(self._delete("id = ?", (document_id,)))

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what `put_layer` kept under the same three keys, or None."""
        with self._reading() as run:
            row = run.execute(
                "SELECT data FROM layers WHERE content_hash = ? AND layer = ? AND fingerprint = ?",
                (content_hash, layer, fingerprint),
            ).fetchone()
        if row is None:
            return None
        with self._decoding(f"layer {layer!r}"):
            return unsqueeze(row[0])

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep an operator's result for a document's content and a chain's fingerprint."""
        squeezed = squeeze(data)
        with self._writing() as run:
            run.execute(
                "INSERT OR REPLACE INTO layers (content_hash, layer, fingerprint, data) "
                "VALUES (?, ?, ?, ?)",
                (content_hash, layer, fingerprint, squeezed),
            )
            run.execute(
                "DELETE FROM layers WHERE rowid IN (SELECT rowid FROM layers WHERE "
                "content_hash = ? AND layer = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
                (content_hash, layer, LAYER_VERSIONS),
            )

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        with self._reading() as run:
            problems = [row[0] for row in run.execute("PRAGMA integrity_check")]
            orphans = [row[0] for row in run.execute("PRAGMA foreign_key_check")]
        if problems != ["ok"]:
            raise corrupt(self.path, problems[0])
        if orphans:
            raise corrupt(self.path, f"rows of {orphans[0]!r} belong to no document")
        for info in self.documents():
            self.get(info.id)

    def close(self) -> None:
        """Let go of the store; closing twice is fine."""
        self._connection.close()

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
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give one consistent view of the file, whatever others write meanwhile."""
        with translated(self.path), transaction(self._connection, write=False):
            yield self._connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with translated(self.path), transaction(self._connection, write=True):
            yield self._connection

    @contextmanager
    def _decoding(self, what: str) -> Iterator[None]:
        """Blame the file for columns that do not hold what we put there."""
        try:
            yield
        except _UNREADABLE as error:
            raise corrupt(self.path, f"{what}: {error}") from error

    def _info(self, row: Row) -> DocumentInfo:
        values: dict[str, Any] = dict(zip(_INFO_COLUMNS, row, strict=True))
        with self._decoding(f"document {values['id']!r}"):
            values["genre"] = Genre(values["genre"])
            values["granularity"] = Granularity(values["granularity"])
        return DocumentInfo(**values)

    def _select(self, columns: Iterable[str], document_id: str) -> Row:
        """Read columns of the document that a person means by an id."""
        row: Row = self._connection.execute(
            f"SELECT {', '.join(columns)} FROM documents WHERE id = ?",
            (complete(document_id, self._ids()),),
        ).fetchone()
        return row

    def _ids(self) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT id FROM documents ORDER BY id")]

    def _choose_id(self, document_id: str, source_path: str | None) -> str:
        wanted = candidates(document_id, source_path)
        marks = ", ".join("?" for _ in wanted)
        holders = dict(
            self._connection.execute(
                f"SELECT id, source_path FROM documents WHERE id IN ({marks})", wanted
            )
        )
        return choose(wanted, holders, source_path=source_path)

    def _delete(self, where: str, values: Row) -> list[Row]:
        """Delete documents with all their rows and return their content hashes."""
        contents = self._connection.execute(
            f"SELECT content_hash FROM documents WHERE {where}", values
        ).fetchall()
        self._connection.execute(f"DELETE FROM documents WHERE {where}", values)
        return contents

    def _forget_layers(self, contents: list[Row]) -> None:
        """Drop the layers of contents that no document has any more."""
        self._connection.executemany(
            "DELETE FROM layers WHERE content_hash = ? "
            "AND content_hash NOT IN (SELECT content_hash FROM documents)",
            contents,
        )
