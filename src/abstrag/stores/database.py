"""What stores in SQL databases have in common: everything that is one statement in each of them.

Statements mark a value by `?`. What differs between databases is left to the store of each.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from hashlib import sha256
from importlib import resources
from threading import RLock
from types import ModuleType, TracebackType
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar

from abstrag.errors import StoreCorrupt, StoreError, UnknownDocument
from abstrag.model.background import Background
from abstrag.model.index import DocumentIndex
from abstrag.stores import memory
from abstrag.stores.memory import LAYERS_OF_VECTORS, VECTORS, checked, counted, others
from abstrag.stores.prepared import Prepared, prepare
from abstrag.stores.protocol import LAYERS_AT_A_TIME, DocumentFiles, DocumentInfo, LayerKey
from abstrag.stores.rows import (
    INFO,
    INFO_COLUMNS,
    StoredRows,
    compress,
    decoding,
    decompress,
    document_info,
    document_infos,
    require_sound,
    unpack,
    unpack_background,
)
from abstrag.stores.tables import Row

T = TypeVar("T")

SCHEMES: Final = ("postgresql", "postgres")  # of the address of a server
SEAL: Final = "INSERT INTO seals VALUES (?, ?) ON CONFLICT DO NOTHING"
FORGET_PLACE: Final = "DELETE FROM places WHERE path = ?"
_ADD_PLACE: Final = (
    "INSERT INTO places (path, document) VALUES (?, ?) "
    "ON CONFLICT (path) DO UPDATE SET document = excluded.document"
)
_AT_PLACE: Final = f"{INFO} WHERE number = (SELECT document FROM places WHERE path = ?)"
_NAMED_LAYERS: Final = (  # an index holds every name, so that no data of other layers is read
    "SELECT content_hash, fingerprint, data FROM layers "
    "WHERE layer = ? AND (content_hash, fingerprint) > (?, ?) "
    "ORDER BY content_hash, fingerprint LIMIT ?"
)


class Transaction(Protocol):
    """A transaction, which runs one statement after the other."""

    def execute(self, sql: Any, parameters: Any = ..., /) -> Any:
        """Run a statement and return a cursor over what it gives."""
        ...


class SqlStore(ABC):
    """A `Store` in an SQL database; each call is one transaction."""

    mapped: DocumentFiles | None = None
    _layer_rows: ClassVar[ModuleType]  # the statements on layers and on what models said, as this
    _memory: ClassVar[ModuleType]  # database has them

    @abstractmethod
    def _read(self, work: Callable[[Any], T]) -> T:
        """Do work that sees one state of the store, whatever others write meanwhile."""

    @abstractmethod
    def _write(self, work: Callable[[Any], T]) -> T:
        """Do work that changes the store, wholly or not at all."""

    @abstractmethod
    def _corrupt(self, problem: str) -> StoreCorrupt:
        """Say what is broken; the caller raises it."""

    @abstractmethod
    def _kept(self, document_id: str) -> StoredRows:
        """Read all that is kept of a document."""

    @abstractmethod
    def _layers_at(self, keys: Sequence[LayerKey]) -> Iterable[Row]:
        """Read the layers under some keys, as (content hash, layer, fingerprint, data)."""

    @abstractmethod
    def _delete(self, run: Any, where: str, values: Row) -> list[str]:
        """Delete documents with all their rows and return their content hashes."""

    @abstractmethod
    def put_prepared(self, prepared: Prepared, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index that was packed elsewhere, as `put` does."""

    @abstractmethod
    def close(self) -> None:
        """Close the store; closing twice is fine."""

    def put(self, index: DocumentIndex, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index, in place of the one this source had before, and return its store id."""
        return self.put_prepared(prepare(index), source_path=source_path, source_hash=source_hash)

    def holders(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return which source path holds each of some ids; an id that is free is left out."""
        return self._read(lambda run: holders(run, ids))

    def get(self, document_id: str) -> DocumentIndex:
        """Return the index of a document, named by its store id or a unique beginning of it."""
        kept = self._kept(document_id)
        if kept.broken:
            raise self._corrupt(f"document {document_id!r} is not as it was written")
        with decoding(f"document {document_id!r}", self._corrupt):
            return unpack(kept.packed)

    def background(self, document_id: str) -> Background:
        """Return the Background a document was indexed with."""
        (data,) = self._read(lambda run: select(run, ("background",), document_id))
        with decoding(f"Background of {document_id!r}", self._corrupt):
            return unpack_background(data)

    def find(self, document_id: str) -> DocumentInfo:
        """Describe a document, named by its store id or a unique beginning of it."""
        row = self._read(lambda run: select(run, INFO_COLUMNS, document_id))
        return document_info(row, self._corrupt)

    def find_source(self, path: str) -> DocumentInfo | None:
        """Describe the document that was read from a path or also lies there, if any."""

        def work(run: Transaction) -> Row | None:
            row: Row | None = run.execute(f"{INFO} WHERE source_path = ?", (path,)).fetchone()
            return row or run.execute(_AT_PLACE, (path,)).fetchone()

        row = self._read(work)
        return None if row is None else document_info(row, self._corrupt)

    def find_bytes(self, source_hash: str) -> tuple[DocumentInfo, ...]:
        """Describe the documents that were read from such bytes, sorted by id."""
        statement = f"{INFO} WHERE source_hash = ?"
        rows = self._read(lambda run: run.execute(statement, (source_hash,)).fetchall())
        return document_infos(rows, self._corrupt)

    def add_place(self, document_id: str, path: str) -> None:
        """Record that the bytes of a document also lie at another path."""

        def work(run: Transaction) -> None:
            own = run.execute("SELECT 1 FROM documents WHERE source_path = ?", (path,)).fetchone()
            if own is None:
                run.execute(_ADD_PLACE, (path, *select(run, ("number",), document_id)))

        self._write(work)

    def places(self, document_id: str) -> tuple[str, ...]:
        """Return the other paths of a document, sorted."""

        def work(run: Transaction) -> tuple[str, ...]:
            number = select(run, ("number",), document_id)
            statement = "SELECT path FROM places WHERE document = ? ORDER BY path"
            return tuple(row[0] for row in run.execute(statement, number))

        return self._read(work)

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe every document, sorted by id."""
        return document_infos(self._read(lambda run: run.execute(INFO).fetchall()), self._corrupt)

    def remove(self, document_id: str) -> None:
        """Forget a document, named by its full store id, and the layers only it needed."""
        seen = False

        def work(run: Transaction) -> None:
            nonlocal seen
            gone = self._delete(run, "id = ?", (document_id,))
            if not gone and not seen:  # once seen and now gone: we did that and never heard
                raise unknown(document_id, _ids(run))
            seen = True
            self._forget_unused(run, gone)

        self._write(work)

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what `put_layer` kept under the same three keys, or None."""
        key = (content_hash, layer, fingerprint)
        return self.get_layers([key]).get(key)

    def get_layers(self, keys: Sequence[LayerKey]) -> dict[LayerKey, bytes]:
        """Return the stored layers among some, by their three keys, in one query."""
        found = {}
        for *key, data in self._layers_at(keys):
            with decoding(f"layer {key[1]!r} of {key[0]!r}", self._corrupt):
                found[key[0], key[1], key[2]] = decompress(data)
        return found

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep an operator's result for a document's content and a chain's fingerprint."""
        self.put_layers({(content_hash, layer, fingerprint): data})

    def put_layers(self, layers: Mapping[LayerKey, bytes]) -> None:
        """Keep several layers in one transaction."""
        squeezed = {key: compress(data) for key, data in layers.items()}

        def work(run: Transaction) -> None:
            for key, data in squeezed.items():
                self._layer_rows.put(run, key, data)

        self._write(work)

    def layers(self, content_hash: str) -> tuple[tuple[str, str, bytes], ...]:
        """Return the layers of a content as (layer, fingerprint, data), the oldest first."""
        rows = self._read(lambda run: self._layer_rows.of_content(run, content_hash))
        with decoding(f"layers of {content_hash!r}", self._corrupt):
            return tuple(
                (layer, fingerprint, decompress(data)) for layer, fingerprint, data in rows
            )

    def layers_named(self, layer: str) -> Iterator[tuple[str, str, bytes]]:
        """Go through one layer of every content, as (content hash, fingerprint, data)."""
        last = ("", "")
        while True:
            values = (layer, *last, LAYERS_AT_A_TIME)
            rows = self._read(lambda run, at=values: run.execute(_NAMED_LAYERS, at).fetchall())  # type: ignore[misc]
            for content_hash, fingerprint, data in rows:
                with decoding(f"layer {layer!r} of {content_hash!r}", self._corrupt):
                    decompressed = decompress(data)
                yield content_hash, fingerprint, decompressed
            if len(rows) < LAYERS_AT_A_TIME:
                return
            last = rows[-1][:2]

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return what is remembered of some keys, under a content and a model's fingerprint."""
        found: dict[bytes, bytes] = self._read(
            lambda run: self._memory.recall(run, kind, content_hash, model, keys)
        )
        return found

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep what a model said; what is there already stays, and the oldest makes room."""
        self._write(lambda run: self._memory.remember(run, kind, content_hash, model, values))

    def remembered(self, kind: str, content_hash: str) -> dict[str, dict[bytes, bytes]]:
        """Return everything of a kind that is remembered of a content, by model."""
        found: dict[str, dict[bytes, bytes]] = self._read(
            lambda run: self._memory.remembered(run, kind, content_hash)
        )
        return found

    def version(self) -> int:
        """Return a number that changes whenever a document is put or removed."""
        statement = "SELECT value FROM meta WHERE key = ?"
        row = self._read(lambda run: run.execute(statement, (VERSION_KEY,)).fetchone())
        with decoding("version of the documents", self._corrupt):
            return int((row or ("none",))[0])

    def models(self) -> dict[str, dict[str, int]]:
        """Count what models made, by kind and the model's fingerprint."""

        def work(run: Transaction) -> tuple[dict[str, dict[str, int]], list[Row]]:
            said = {kind: memory.models(run, kind) for kind in memory.LIMITS}
            rows = run.execute(
                "SELECT layer, fingerprint, count(*) FROM layers "
                f"WHERE {LAYERS_OF_VECTORS} GROUP BY layer, fingerprint"
            ).fetchall()
            return said, rows

        said, rows = self._read(work)
        return {**said, VECTORS: counted(rows)}

    def forget_models(self, kind: str, *, keep: Collection[str]) -> int:
        """Drop entries of a kind that other models made, and return how many."""
        kept = checked(kind, keep)

        def work(run: Transaction) -> int:
            if kind != VECTORS:
                return memory.forget_models(run, kind, kept)
            rows = run.execute(
                f"SELECT DISTINCT layer, fingerprint FROM layers WHERE {LAYERS_OF_VECTORS}"
            ).fetchall()
            statement = "DELETE FROM layers WHERE layer = ? AND fingerprint = ?"
            return sum(run.execute(statement, place).rowcount for place in others(rows, kept))

        return self._write(work)

    def forget(self, content_hash: str) -> None:
        """Drop what models said about a content, whether a document has it or not."""
        self._write(lambda run: memory.forget(run, content_hash))

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        for info in self.documents():
            kept = self._kept(info.id)
            require_sound(info, kept, self.get, self._corrupt)
            if kept.digest is None:
                self._write(lambda run, kept=kept: run.execute(SEAL, kept.to_seal))  # type: ignore[misc]
            self.layers(info.content_hash)

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

    def _forget_unused(self, run: Transaction, contents: Sequence[str]) -> None:
        """Drop layers and models' results of contents that no document has any more."""
        for content_hash in sorted(set(contents)):
            used = run.execute(
                "SELECT 1 FROM documents WHERE content_hash = ? LIMIT 1", (content_hash,)
            ).fetchone()
            if not used:
                run.execute("DELETE FROM layers WHERE content_hash = ?", (content_hash,))
                memory.forget(run, content_hash)
                if self.mapped is not None:
                    self.mapped.forget(content_hash)


def select(run: Transaction, columns: Iterable[str], document_id: str) -> Row:
    """Read columns of the document that a person means by an id."""
    statement = f"SELECT {', '.join(columns)} FROM documents WHERE id = ?"
    row: Row | None = run.execute(statement, (document_id,)).fetchone()
    if row is None:  # only now are the names of all the others worth reading
        row = run.execute(statement, (complete(document_id, _ids(run)),)).fetchone()
    assert row is not None
    return row


def holders(run: Transaction, ids: Sequence[str]) -> dict[str, str | None]:
    """Return where the documents come from that have one of these ids."""
    marks = ", ".join("?" for _ in ids) or "NULL"
    statement = f"SELECT id, source_path FROM documents WHERE id IN ({marks})"
    return dict(run.execute(statement, tuple(ids)).fetchall())


def choose_id(run: Transaction, document_id: str, source_path: str | None) -> str:
    """Return the id that a document from a path has in the store."""
    wanted = candidates(document_id, source_path)
    return choose(wanted, holders(run, wanted), source_path=source_path)


def _ids(run: Transaction) -> list[str]:
    return sorted(row[0] for row in run.execute("SELECT id FROM documents"))


SUFFIX_LENGTHS: Final = (6, 12, 64)  # of the hash behind an id that another source holds
SHOWN: Final = 3  # names in a hint


def candidates(document_id: str, source_path: str | None) -> tuple[str, ...]:
    """Return the ids a source may have in a store, the nicest first."""
    digest = sha256((source_path or "").encode()).hexdigest()
    return (document_id, *(f"{document_id}-{digest[:length]}" for length in SUFFIX_LENGTHS))


def choose(
    wanted: Sequence[str], holders: Mapping[str, str | None], *, source_path: str | None
) -> str:
    """Return the id this source already holds, or else the first that is free.

    Args:
        wanted: The candidates, the nicest first.
        holders: Which source path holds an id; an id that is not in it is free.
        source_path: The source that needs an id.
    """
    held = [name for name in wanted if name in holders and holders[name] == source_path]
    free = [name for name in wanted if name not in holders]
    return (held or free)[0]


def complete(name: str, ids: Sequence[str]) -> str:
    """Return the id that a person means by its name or a unique beginning of it."""
    if name in ids:
        return name
    fitting = _fitting(name, ids)
    if len(fitting) == 1:
        return fitting[0]
    raise unknown(name, ids)


def unknown(name: str, ids: Sequence[str]) -> UnknownDocument:
    """Say that no document, or more than one, goes by a name, and which ones come close."""
    fitting = _fitting(name, ids)
    if len(fitting) > 1:
        return UnknownDocument(
            f"{name!r} is the beginning of {len(fitting)} document ids, not of one",
            hint=f"did you mean {_either(fitting)}?",
        )
    near = fitting or get_close_matches(name, ids, n=SHOWN)
    if near:
        hint = f"did you mean {_either(near)}?"
    elif ids:
        shown = [repr(each) for each in ids[:SHOWN]]
        shown += [f"{len(ids) - SHOWN} more"] if ids[SHOWN:] else []
        hint = f"the store holds {' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}"
    else:
        hint = "the store is empty; abstrag index FILE puts a document into it"
    return UnknownDocument(f"the store holds no document {name!r}", hint=hint)


def _fitting(name: str, ids: Sequence[str]) -> list[str]:
    return [each for each in ids if name and each.startswith(name)]


def _either(names: Sequence[str]) -> str:
    shown = " or ".join(repr(name) for name in names[:SHOWN])
    return f"{shown} or {len(names) - SHOWN} more" if names[SHOWN:] else shown


# Threads take turns at a connection, and other processes get none.
#
# A connection knows one transaction at a time, and it does not survive a fork: what two processes
# say on it reaches the database mixed, and SQLite's own locks belong to the process that took them.


class ConnectionLock:
    """Lets one thread at a time use a connection, until it is closed."""

    def __init__(self, name: str) -> None:
        """Create a lock; `name` names the store in errors."""
        self._name = name
        self._process = os.getpid()
        self._lock = RLock()  # a store may be closed while its own thread collects garbage
        self._closed = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the connection and hold it for this thread until the block ends.

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
