"""The store on a PostgreSQL server: for many machines, and for collections that outgrow a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from abstrag.errors import StoreCorrupt
from abstrag.model.background import Background
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Mention
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
from abstrag.stores.memory import LIMITS
from abstrag.stores.models import LAYERS_OF_VECTORS, VECTORS, checked, counted, others
from abstrag.stores.naming import complete, unknown
from abstrag.stores.postgres import layer_rows, memory, places
from abstrag.stores.postgres.address import Address
from abstrag.stores.postgres.failures import corrupt
from abstrag.stores.postgres.schema import migrate
from abstrag.stores.postgres.session import PATIENCE_S, Run, Session
from abstrag.stores.prepared import Prepared, prepare
from abstrag.stores.protocol import LAYERS_AT_A_TIME, DocumentInfo, LayerKey
from abstrag.stores.rows import mention, squeeze, unpack, unpack_background, unsqueeze
from abstrag.stores.schema import VERSION_KEY
from abstrag.stores.seal import seal
from abstrag.stores.tables import TABLES, Row, StoreTable

_INSERT: Final = (
    f"INSERT INTO documents ({', '.join(GIVEN)}) "
    f"VALUES ({', '.join(f'%({name})s' for name in GIVEN)}) RETURNING number"
)
_POSTINGS: Final = (
    "SELECT t.id, p.segment, p.start, p.stop, p.header FROM terms t "
    "JOIN postings p ON p.document = t.document AND p.term = t.number "
    "WHERE t.document = %s AND t.id = ANY(%s) ORDER BY p.position"
)

_SEAL: Final = "INSERT INTO seals VALUES (%s, %s) ON CONFLICT DO NOTHING"


class PostgresStore:
    """A `Store` in one schema of a PostgreSQL database.

    Threads may share it: each call waits for its turn at the one connection. A process opens its
    own. Writers of different documents do not wait for each other, but for the moment of
    the commit. When the server goes away, a call waits for it to come back and is done again; a
    document is there once or not at all.
    """

    def __init__(self, session: Session) -> None:
        self.address = session.address
        self.mapped = None  # nothing of ours lies on the server's disk
        self._session = session

    @classmethod
    def open(cls, address: str, *, create: bool = True, patience_s: float = PATIENCE_S) -> Self:
        """Open the store at an address, making or migrating its tables where that is needed.

        Args:
            address: `postgresql://USER@HOST:PORT/DATABASE`, and `?schema=NAME` for another schema
                than `abstrag`.
            create: Make the tables when there are none.
            patience_s: How long a call waits for a server that went away.
        """
        session = Session(Address.parse(address), patience_s=patience_s)
        try:
            session.connect()
            migrate(session, create=create)
        except BaseException:
            session.close()
            raise
        return cls(session)

    def put(self, index: DocumentIndex, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index, in place of the one this source had before, and return its store id."""
        return self.put_prepared(prepare(index), source_path=source_path, source_hash=source_hash)

    def put_prepared(self, prepared: Prepared, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index that was packed elsewhere, as `put` does."""
        own = {"source_path": source_path, "source_hash": source_hash}

        def work(run: Run) -> str:
            names = [f"id {prepared.id}"]
            names += [] if source_path is None else [f"path {source_path}"]
            self._session.lock(run, "document", names)
            document_id = places.choose_id(run, prepared.id, source_path)
            replaced = _delete(run, "id = %s OR source_path = %s", (document_id, source_path))
            values = {"id": document_id, **own, **prepared.columns}
            (number,) = run.execute(_INSERT, values).fetchone() or (None,)
            places.forget(run, source_path)
            for table in TABLES:
                _fill(run, table, number, prepared.rows[table])
            run.execute(_SEAL, (number, seal(values, prepared.rows)))
            self._forget_unused(run, replaced, using=prepared.content_hash)
            return document_id

        return self._session.write(work)

    def holders(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return which source path holds each of some ids; an id that is free is left out."""
        return self._session.read(lambda run: places.holders(run, ids))

    def get(self, document_id: str) -> DocumentIndex:
        """Return the index of a document, named by its store id or a unique beginning of it."""
        kept = self._kept(document_id)
        if kept.broken:
            raise self._corrupt(f"document {document_id!r} is not as it was written")
        with decoding(f"document {document_id!r}", self._corrupt):
            return unpack(kept.packed)

    def _kept(self, document_id: str) -> StoredRows:
        def work(run: Run) -> StoredRows:
            number, *values = _select(run, ("number", *GIVEN), document_id)
            rows = {
                table: run.execute(table.select.replace("?", "%s"), (number,)).fetchall()
                for table in TABLES
            }
            sealed = run.execute("SELECT digest FROM seals WHERE document = %s", (number,))
            row = sealed.fetchone()
            return StoredRows(number, dict(zip(GIVEN, values, strict=True)), rows, row and row[0])

        return self._session.read(work)

    def background(self, document_id: str) -> Background:
        """Return the Background a document was indexed with."""
        (data,) = self._session.read(lambda run: _select(run, ("background",), document_id))
        with decoding(f"Background of {document_id!r}", self._corrupt):
            return unpack_background(data)

    def find(self, document_id: str) -> DocumentInfo:
        """Describe a document, named by its store id or a unique beginning of it."""
        return document_info(
            self._session.read(lambda run: _select(run, INFO_COLUMNS, document_id)), self._corrupt
        )

    def find_source(self, path: str) -> DocumentInfo | None:
        """Describe the document that was read from a path or has that place too, if any."""
        row = self._session.read(lambda run: places.find(run, path))
        return None if row is None else document_info(row, self._corrupt)

    def find_bytes(self, source_hash: str) -> tuple[DocumentInfo, ...]:
        """Describe the documents that were read from such bytes, sorted by id."""
        rows = self._session.read(lambda run: places.with_bytes(run, source_hash))
        return document_infos(rows, self._corrupt)

    def add_place(self, document_id: str, path: str) -> None:
        """Know that the bytes of a document lie at a path too."""
        self._session.write(
            lambda run: places.add(run, path, _select(run, ("number",), document_id))
        )

    def places(self, document_id: str) -> tuple[str, ...]:
        """Return the other paths of a document, sorted."""
        return self._session.read(
            lambda run: places.of(run, _select(run, ("number",), document_id))
        )

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe every document, sorted by id."""
        rows = self._session.read(lambda run: run.execute(INFO).fetchall())
        return document_infos(rows, self._corrupt)

    def postings(self, document_id: str, term_ids: Iterable[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the mentions of each term in index order; a term without any maps to `()`."""
        wanted = list(term_ids)

        def work(run: Run) -> list[Row]:
            (number,) = _select(run, ("number",), document_id)
            return run.execute(_POSTINGS, (number, wanted)).fetchall()

        found: dict[str, list[Mention]] = {term_id: [] for term_id in wanted}
        for term_id, *row in self._session.read(work):
            found[term_id].append(mention(term_id, tuple(row)))
        return {term_id: tuple(mentions) for term_id, mentions in found.items()}

    def remove(self, document_id: str) -> None:
        """Forget a document, named by its full store id, and the layers only it needed."""
        seen = False

        def work(run: Run) -> None:
            nonlocal seen
            replaced = _delete(run, "id = %s", (document_id,))
            if not replaced and not seen:  # once seen and now gone: we did that and never heard
                raise unknown(document_id, _ids(run))
            seen = True
            self._forget_unused(run, replaced)

        self._session.write(work)

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what `put_layer` kept under the same three keys, or None."""
        key = (content_hash, layer, fingerprint)
        return self.get_layers([key]).get(key)

    def get_layers(self, keys: Sequence[LayerKey]) -> dict[LayerKey, bytes]:
        """Return those of some layers that are kept, by their three keys, in one go."""
        found = {}
        for *key, data in (
            self._session.read(lambda run: layer_rows.find(run, keys)) if keys else ()
        ):
            with decoding(f"layer {key[1]!r} of {key[0]!r}", self._corrupt):
                found[key[0], key[1], key[2]] = unsqueeze(data)
        return found

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep an operator's result for a document's content and a chain's fingerprint."""
        self.put_layers({(content_hash, layer, fingerprint): data})

    def put_layers(self, layers: Mapping[LayerKey, bytes]) -> None:
        """Keep several layers in one transaction."""
        squeezed = {key: squeeze(data) for key, data in layers.items()}
        self._session.write(lambda run: layer_rows.put(run, squeezed))

    def layers(self, content_hash: str) -> tuple[tuple[str, str, bytes], ...]:
        """Return the layers of a content as (layer, fingerprint, data), the oldest first."""
        rows = self._session.read(lambda run: layer_rows.of_content(run, content_hash))
        with decoding(f"layers of {content_hash!r}", self._corrupt):
            return tuple((layer, fingerprint, unsqueeze(data)) for layer, fingerprint, data in rows)

    def layers_named(self, layer: str) -> Iterator[tuple[str, str, bytes]]:
        """Go through one layer of every content, as (content hash, fingerprint, data)."""
        last = ("", "")
        while True:
            rows = self._session.read(layer_rows.named(layer, last))
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
        rows = self._session.read(lambda run: memory.recall(run, kind, content_hash, model, keys))
        return memory.by_model(rows).get(model, {})

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep what a model said; what is there already stays, and the oldest makes room."""
        self._session.write(lambda run: memory.remember(run, kind, content_hash, model, values))

    def remembered(self, kind: str, content_hash: str) -> dict[str, dict[bytes, bytes]]:
        """Return everything of a kind that is remembered of a content, by model."""
        rows = self._session.read(lambda run: memory.remembered(run, kind, content_hash))
        return memory.by_model(rows)

    def version(self) -> int:
        """Return a number that is another one whenever a document was put or removed."""
        row = self._session.read(
            lambda run: run.execute(
                "SELECT value FROM meta WHERE key = %s", (VERSION_KEY,)
            ).fetchone()
        )
        with decoding("version of the documents", self._corrupt):
            return int((row or ("none",))[0])

    def models(self) -> dict[str, dict[str, int]]:
        """Count what models made, by kind and the model's fingerprint."""

        def work(run: Run) -> tuple[dict[str, dict[str, int]], list[Row]]:
            said = {kind: memory.models(run, kind) for kind in LIMITS}
            rows = run.execute(
                "SELECT layer, fingerprint, count(*) FROM layers "
                f"WHERE {LAYERS_OF_VECTORS} GROUP BY layer, fingerprint"
            ).fetchall()
            return said, rows

        said, rows = self._session.read(work)
        return {**said, VECTORS: counted(rows)}

    def forget_models(self, kind: str, *, keep: Collection[str]) -> int:
        """Drop what models other than some made of a kind, and return how much that was."""
        kept = checked(kind, keep)

        def work(run: Run) -> int:
            if kind != VECTORS:
                return memory.forget_models(run, kind, kept)
            rows = run.execute(
                f"SELECT DISTINCT layer, fingerprint FROM layers WHERE {LAYERS_OF_VECTORS}"
            ).fetchall()
            statement = "DELETE FROM layers WHERE layer = %s AND fingerprint = %s"
            return sum(run.execute(statement, place).rowcount for place in others(rows, kept))

        return self._session.write(work)

    def forget(self, content_hash: str) -> None:
        """Drop what models said about a content, whether a document has it or not."""
        self._session.write(lambda run: memory.forget(run, content_hash))

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        for info in self.documents():
            kept = self._kept(info.id)
            require_sound(info, kept, self.get, self._corrupt)
            if kept.digest is None:
                self._session.write(lambda run, kept=kept: run.execute(_SEAL, kept.to_seal))  # type: ignore[misc]
            self.layers(info.content_hash)

    def close(self) -> None:
        """Let go of the store; closing twice is fine."""
        self._session.close()

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

    def _corrupt(self, problem: str) -> StoreCorrupt:
        return corrupt(self.address, problem)

    def _forget_unused(self, run: Run, contents: list[str], *, using: str | None = None) -> None:
        """Drop what was kept along the way for contents that no document has any more."""
        # two that let go of the same content at once would each see the other's document
        self._session.lock(run, "content", [*contents, *([] if using is None else [using])])
        for content_hash in sorted(set(contents)):
            used = run.execute(
                "SELECT 1 FROM documents WHERE content_hash = %s LIMIT 1", (content_hash,)
            ).fetchone()
            if not used:
                run.execute("DELETE FROM layers WHERE content_hash = %s", (content_hash,))
                memory.forget(run, content_hash)


def _select(run: Run, columns: Iterable[str], document_id: str) -> Row:
    """Read columns of the document that a person means by an id."""
    statement = f"SELECT {', '.join(columns)} FROM documents WHERE id = %s"
    row: Row | None = run.execute(statement, (document_id,)).fetchone()
    if row is None:  # only now are the names of all the others worth reading
        row = run.execute(statement, (complete(document_id, _ids(run)),)).fetchone()
    assert row is not None
    return row


def _ids(run: Run) -> list[str]:
    return sorted(row[0] for row in run.execute("SELECT id FROM documents"))


def _delete(run: Run, where: str, values: Row) -> list[str]:
    """Delete documents with all their rows and return their content hashes."""
    statement = f"DELETE FROM documents WHERE {where} RETURNING content_hash"
    return [row[0] for row in run.execute(statement, values)]


def _fill(run: Run, table: StoreTable, number: int | None, rows: Sequence[Row]) -> None:
    """Send the rows of a document in one stream."""
    columns = ", ".join(("document", *table.columns))
    with run.copy(f"COPY {table.name} ({columns}) FROM STDIN") as stream:
        for row in rows:
            stream.write_row((number, *row))
