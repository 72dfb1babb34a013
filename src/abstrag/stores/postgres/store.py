"""The store on a PostgreSQL server: for many machines, and for collections that outgrow a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np
import numpy.typing as npt

from abstrag.errors import StoreCorrupt
from abstrag.model.term import Mention
from abstrag.stores.database import FORGET_PLACE, SEAL, SqlStore, choose_id, select
from abstrag.stores.memory import FilesOfLayers
from abstrag.stores.open import Address
from abstrag.stores.postgres import cards, layer_rows, memory
from abstrag.stores.postgres.failures import corrupt
from abstrag.stores.postgres.schema import migrate
from abstrag.stores.postgres.session import PATIENCE_S, Session, TransactionCursor
from abstrag.stores.prepared import Prepared
from abstrag.stores.protocol import CardsAsked, CardsFound, CardsState, DocumentInfo, LayerKey
from abstrag.stores.rows import GIVEN, StoredRows, compress, decompress, mention, seal
from abstrag.stores.tables import TABLES, Row, StoreTable

T = TypeVar("T")

_INSERT: Final = (
    f"INSERT INTO documents ({', '.join(GIVEN)}) "
    f"VALUES ({', '.join(f'%({name})s' for name in GIVEN)}) RETURNING number"
)
_NUMBER: Final = "(SELECT number FROM documents WHERE id = ?)"
_WHOLE: Final = (  # statements that read a document, by its id
    f"SELECT number, {', '.join(GIVEN)} FROM documents WHERE id = ?",
    f"SELECT digest FROM seals WHERE document = {_NUMBER}",
    *(table.select.replace("?", _NUMBER) for table in TABLES),
)
_POSTINGS: Final = (
    "SELECT t.id, p.segment, p.start, p.stop, p.header FROM terms t "
    "JOIN postings p ON p.document = t.document AND p.term = t.number "
    "WHERE t.document = ? AND t.id = ANY(?) ORDER BY p.position"
)


class PostgresStore(SqlStore):
    """A `Store` in one schema of a PostgreSQL database.

    Threads may share it: each call waits for its turn at the one connection. A process opens its
    own. Writers of different documents do not wait for each other, but for the moment of
    the commit. When the server goes away, a call waits for it to come back and is done again; a
    document is there once or not at all.
    """

    _layer_rows: ClassVar[ModuleType] = layer_rows
    _memory: ClassVar[ModuleType] = memory

    def __init__(self, session: Session) -> None:
        self.address = session.address
        self.mapped = FilesOfLayers(self)
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

    def put_prepared(self, prepared: Prepared, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index that was packed elsewhere, as `put` does."""
        own = {"source_path": source_path, "source_hash": source_hash}

        def work(run: TransactionCursor) -> str:
            names = [f"id {prepared.id}"]
            names += [] if source_path is None else [f"path {source_path}"]
            self._session.lock(run, "document", names)
            document_id = choose_id(run, prepared.id, source_path)
            replaced = self._delete(run, "id = ? OR source_path = ?", (document_id, source_path))
            values = {"id": document_id, **own, **prepared.columns}
            (number,) = run.execute(_INSERT, values).fetchone() or (0,)
            run.execute(FORGET_PLACE, (source_path,))
            for table in TABLES:
                _fill(run, table, number, prepared.rows[table])
            run.execute(SEAL, (number, seal(values, prepared.rows)))
            self._forget_unused(run, replaced, using=[prepared.content_hash])
            if self.chooses:
                for *layer, data in run.execute(cards.LAYERS_OF_DOCUMENT, (number,)).fetchall():
                    cards.put(run, number, tuple(layer), decompress(data))
            return document_id

        return self._write(work)

    def _kept(self, document_id: str) -> StoredRows:
        found, seals, *rows = self._session.ask(*((each, (document_id,)) for each in _WHOLE))
        if not found:  # the beginning of a name, or of none
            (name,) = self._read(lambda run: select(run, ("id",), document_id))
            return self._kept(name)
        ((number, *values),) = found
        return StoredRows(
            number,
            dict(zip(GIVEN, values, strict=True)),
            dict(zip(TABLES, rows, strict=True)),
            seals[0][0] if seals else None,
        )

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return what is remembered of some keys, under a content and a model's fingerprint."""
        (rows,) = self._session.ask(memory.recalling(kind, content_hash, model, keys))
        return memory.by_model(rows).get(model, {})

    def _layers_at(self, keys: Sequence[LayerKey]) -> Iterable[Row]:
        return self._session.ask(layer_rows.under(keys))[0]

    def postings(self, document_id: str, term_ids: Iterable[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the mentions of each term in index order; a term without any maps to `()`."""
        wanted = list(term_ids)

        def work(run: TransactionCursor) -> list[Row]:
            (number,) = select(run, ("number",), document_id)
            return run.execute(_POSTINGS, (number, wanted)).fetchall()

        found: dict[str, list[Mention]] = {term_id: [] for term_id in wanted}
        for term_id, *row in self._read(work):
            found[term_id].append(mention(term_id, tuple(row)))
        return {term_id: tuple(mentions) for term_id, mentions in found.items()}

    def put_layers(self, layers: Mapping[LayerKey, bytes]) -> None:
        """Keep several layers, and the rows of cards, in one transaction."""
        squeezed = {key: compress(data) for key, data in layers.items()}

        def work(run: TransactionCursor) -> None:
            for key, data in squeezed.items():
                layer_rows.put(run, key, data)
            if self.chooses:
                cards.put_layers(run, layers)

        self._write(work)

    @property
    def chooses(self) -> bool:
        """False if the server's pgvector is too old."""
        return self._session.vectors is not None and self._session.vectors.chooses

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        super().check()
        for info in self.documents() if self.chooses else ():
            if self._read(lambda run, name=info.id: cards.astray(run, name)):  # type: ignore[misc]
                raise self._corrupt(f"the card of document {info.id!r} is not as its layer says")

    def count(self) -> int:
        """Return how many documents there are."""
        statement = "SELECT count(*) FROM documents"
        return int(self._read(lambda run: run.execute(statement).fetchone() or (0,))[0])

    def cards_state(self, model: str | None) -> CardsState:
        """Return totals over all documents, and which of them lack a card or vectors."""
        return self._read(lambda run: cards.state(run, model, self._corrupt))

    def ask_cards(self, asked: CardsAsked) -> CardsFound:
        """Return the postings asked for, and the documents that may be the best."""
        statement, values, settings = cards.statement(asked)
        (rows,) = self._session.ask((statement, values), settings=settings)
        return cards.found_in(rows, self._corrupt)

    def cosines(
        self, documents: npt.NDArray[np.int64], model: str, vector: npt.NDArray[np.float32]
    ) -> dict[int, float]:
        """Return the cosine of some documents' closest windows with a query."""
        return self._read(lambda run: cards.measured(run, documents, model, vector))

    def described(self, numbers: npt.NDArray[np.int64] | None = None) -> dict[int, DocumentInfo]:
        """Describe some documents, or all, by their numbers."""
        return self._read(lambda run: cards.described(run, numbers, self._corrupt))

    def close(self) -> None:
        """Close the store; closing twice is fine."""
        self._session.close()

    def _read(self, work: Callable[[TransactionCursor], T]) -> T:
        return self._session.read(work)

    def _write(self, work: Callable[[TransactionCursor], T]) -> T:
        return self._session.write(work)

    def _corrupt(self, problem: str) -> StoreCorrupt:
        return corrupt(self.address, problem)

    def _delete(self, run: TransactionCursor, where: str, values: Row) -> list[str]:
        statement = f"DELETE FROM documents WHERE {where} RETURNING content_hash"
        return [row[0] for row in run.execute(statement, values)]

    def _forget_unused(
        self, run: Any, contents: Sequence[str], *, using: Sequence[str] = ()
    ) -> None:
        # two that let go of the same content at once would each see the other's document
        self._session.lock(run, "content", [*contents, *using])
        super()._forget_unused(run, contents)


def _fill(
    run: TransactionCursor, table: StoreTable, number: int | None, rows: Sequence[Row]
) -> None:
    """Send the rows of a document in one stream."""
    columns = ", ".join(("document", *table.columns))
    with run.copy(f"COPY {table.name} ({columns}) FROM STDIN") as stream:
        for row in rows:
            stream.write_row((number, *row))
