"""The map of a collection as tables in a file, of which only the parts in use are read.

    library.db
    library.db.mapped/map.db

The file has the entries of every document of a store, by name. It is brought up to date when the
map is opened: documents that are new or changed come in, those that are gone leave. All of it can
be made again, so a file that is broken or of another version is written anew. Where none can be
written, the tables lie in a temporary file, which is made for each opening.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar
from weakref import finalize

import numpy as np
import numpy.typing as npt

from abstrag.collection.entries import VERSION, Entries, EventReport, NamedThing, entries_of
from abstrag.collection.merge import DocumentTerm
from abstrag.errors import InputError, StoreError, StoreReadOnly, UnknownDocument
from abstrag.files import BUSY_S, transaction, use_write_ahead_log
from abstrag.model.record import from_json, to_json
from abstrag.stores.database import ConnectionLock
from abstrag.stores.protocol import DocumentInfo, LayerKey, Store

LAYER: Final = "entries"
FILE: Final = "map.db"
_FORMAT: Final = 1  # of the tables
_AT_A_TIME: Final = 200  # documents that come in, or values that are read, in one go
_CACHE_KIB: Final = 16 * 1024
_ATTEMPTS: Final = 5  # at a file that other processes bring up to date for another state of it

# Text is kept as bytes, which sort as its characters do and may be half a surrogate pair.
_TABLES: Final = (
    "CREATE TABLE state (of BLOB NOT NULL)",
    "CREATE TABLE documents (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, "
    "made_of TEXT NOT NULL, rest BLOB NOT NULL)",
    "CREATE TABLE nodes (number INTEGER PRIMARY KEY, document INTEGER NOT NULL, "
    "term BLOB NOT NULL, entry BLOB NOT NULL, near BLOB NOT NULL, UNIQUE (document, term))",
    "CREATE TABLE names (number INTEGER PRIMARY KEY, form BLOB NOT NULL UNIQUE)",
    "CREATE TABLE bearers (name INTEGER NOT NULL, node INTEGER NOT NULL, "
    "PRIMARY KEY (name, node)) WITHOUT ROWID",
    "CREATE TABLE concepts (term BLOB NOT NULL, document INTEGER NOT NULL, "
    "PRIMARY KEY (term, document)) WITHOUT ROWID",
    "CREATE TABLE tokens (number INTEGER PRIMARY KEY, token BLOB NOT NULL UNIQUE, "
    "documents INTEGER NOT NULL)",
    "CREATE TABLE happenings (event BLOB NOT NULL, document INTEGER NOT NULL, "
    "place INTEGER NOT NULL, told BLOB NOT NULL, "
    "PRIMARY KEY (event, document, place)) WITHOUT ROWID",
)

T = TypeVar("T")
Numbers = npt.NDArray[np.uint32]


class Node(NamedTuple):
    """A node with what its document says of it, and the numbers of the names that stand near it."""

    node: DocumentTerm
    entry: NamedThing
    near: Numbers


class MapTables:
    """The entries of documents in tables of a file.

    What is added and removed is seen here alone and gone with this object: only `of_store` changes
    a file that others read. What is read is one state of it, whatever other processes write.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open the file at a path, and make it where it is missing; None for a temporary one."""
        self._path = path
        self._open = False  # until then errors are those of SQLite
        self._size: int | None = None
        self._connection = sqlite3.connect(
            path or "", timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        self._turn = ConnectionLock(str(path or "map"))
        self._closing = finalize(self, self._turn.end, self._connection.close)
        self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if path is not None:
            use_write_ahead_log(self._connection)
            self._connection.execute("PRAGMA synchronous = NORMAL")
        if self._version() == 0:
            with transaction(self._connection, write=True):
                if self._version() == 0:  # nobody has made them meanwhile
                    for statement in _TABLES:
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA user_version = {_FORMAT}")
        if self._version() != _FORMAT:
            raise sqlite3.DatabaseError(f"its tables are of version {self._version()}")
        self._connection.execute("BEGIN")
        self._open = True

    @classmethod
    def of_store(cls, store: Store) -> Self:
        """Open the tables of a store, with the entries of its documents as these are now."""
        wanted = {info.id: info for info in store.documents()}
        made = None
        folder = None if store.mapped is None else store.mapped.folder
        if folder is not None:
            path = folder / FILE
            with suppress(OSError, sqlite3.OperationalError):  # it cannot be written, or is in use
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    made = cls._following(path, store, wanted)
                except sqlite3.OperationalError:
                    raise
                except sqlite3.DatabaseError:  # it is broken, or of another version
                    for each in ("", "-wal", "-shm"):
                        path.with_name(f"{path.name}{each}").unlink(missing_ok=True)
                    made = cls._following(path, store, wanted)
        try:
            made = made or cls._following(None, store, wanted)
        except sqlite3.Error as error:
            raise StoreError(
                f"there is no room for the map of the collection: {error}",
                hint="free some disk space where temporary files go",
            ) from error
        assert made is not None  # nobody else changes a temporary file
        return made

    @classmethod
    def _following(
        cls, path: Path | None, store: Store, wanted: Mapping[str, DocumentInfo]
    ) -> Self | None:
        """Open tables and bring them up to date; None if another process changes them meanwhile."""
        made = cls(path)
        made._open = False
        try:
            if made._follow(store, wanted):
                made._open = True
                return made
        except BaseException:
            made.close()
            raise
        made.close()
        return None

    def close(self) -> None:
        """Close the file; closing twice is fine, and it closes by itself with its last user."""
        self._closing()

    def add(self, document: str, entries: Entries, *, made_of: str = "") -> None:
        """Add the entries of a document, in place of its earlier ones."""
        self.remove(document, missing_ok=True)
        name = _bytes(document)
        rest = _packed(replace(entries, entries=()))
        with self._changing() as run:
            number = run.execute(
                "INSERT INTO documents (id, made_of, rest) VALUES (?, ?, ?)", (name, made_of, rest)
            ).lastrowid
            tokens = [
                run.execute(
                    "INSERT INTO tokens (token, documents) VALUES (?, 1) ON CONFLICT (token) "
                    "DO UPDATE SET documents = documents + 1 RETURNING number",
                    (_bytes(token),),
                ).fetchone()[0]
                for token in entries.context
            ]
            for entry in entries.entries:
                near = np.array([tokens[i] for i in entry.near], "<u4").tobytes()
                node = run.execute(
                    "INSERT INTO nodes (document, term, entry, near) VALUES (?, ?, ?, ?)",
                    (number, _bytes(entry.term), _packed(entry), near),
                ).lastrowid
                forms = [_bytes(form) for form in entry.forms]
                run.executemany(
                    "INSERT OR IGNORE INTO names (form) VALUES (?)", [(f,) for f in forms]
                )
                run.executemany(
                    "INSERT OR IGNORE INTO bearers SELECT number, ? FROM names WHERE form = ?",
                    [(node, form) for form in forms],
                )
            run.executemany(
                "INSERT OR IGNORE INTO concepts VALUES (?, ?)",
                [(_bytes(concept), number) for concept in entries.concepts],
            )
            run.executemany(
                "INSERT INTO happenings VALUES (?, ?, ?, ?)",
                [
                    (_bytes(happening.event), number, place, _packed(happening))
                    for place, happening in enumerate(entries.happenings)
                ],
            )

    def remove(self, document: str, *, missing_ok: bool = False) -> None:
        """Remove a document."""
        found = self._document(document)
        if found is None:
            if missing_ok:
                return
            raise _unknown(document)
        number, rest = found
        nodes = self._rows("SELECT number, entry FROM nodes WHERE document = ?", number)
        bearers = [
            (node, _bytes(form)) for node, entry in nodes for form in self._read(entry).forms
        ]
        tokens = [(_bytes(token),) for token in rest.context]
        with self._changing() as run:
            run.executemany(
                "DELETE FROM bearers WHERE node = ? AND "
                "name = (SELECT number FROM names WHERE form = ?)",
                bearers,
            )
            run.executemany(
                "DELETE FROM names WHERE form = ? AND "
                "NOT EXISTS (SELECT 1 FROM bearers WHERE name = names.number)",
                {(form,) for _, form in bearers},
            )
            run.executemany(
                "DELETE FROM concepts WHERE term = ? AND document = ?",
                [(_bytes(concept), number) for concept in rest.concepts],
            )
            run.executemany(
                "DELETE FROM happenings WHERE event = ? AND document = ?",
                {(_bytes(happening.event), number) for happening in rest.happenings},
            )
            run.executemany("UPDATE tokens SET documents = documents - 1 WHERE token = ?", tokens)
            run.executemany("DELETE FROM tokens WHERE token = ? AND documents <= 0", tokens)
            run.execute("DELETE FROM nodes WHERE document = ?", (number,))
            run.execute("DELETE FROM documents WHERE number = ?", (number,))

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents, sorted."""
        return tuple(_text(one) for (one,) in self._rows("SELECT id FROM documents ORDER BY id"))

    @property
    def size(self) -> int:
        """How many documents there are."""
        if self._size is None:
            self._size = int(self._rows("SELECT count(*) FROM documents")[0][0])
        return self._size

    @property
    def last_name(self) -> int:
        """The highest number that a name has."""
        return int(self._rows("SELECT coalesce(max(number), 0) FROM names")[0][0])

    def entries(self, document: str) -> Entries:
        """Return what a document contributes."""
        found = self._document(document)
        if found is None:
            raise _unknown(document)
        number, rest = found
        nodes = self._rows("SELECT entry FROM nodes WHERE document = ? ORDER BY number", number)
        return replace(rest, entries=tuple(self._read(entry) for (entry,) in nodes))

    def entry(self, node: DocumentTerm) -> NamedThing | None:
        """Return what a document says of a thing; None of what it merely mentions."""
        rows = self._rows(
            "SELECT entry FROM nodes WHERE term = ? AND "
            "document = (SELECT number FROM documents WHERE id = ?)",
            _bytes(node.term),
            _bytes(node.document),
        )
        return self._read(rows[0][0]) if rows else None

    def near(self, node: DocumentTerm) -> Numbers:
        """Return the numbers of the names that stand near a thing."""
        rows = self._rows(
            "SELECT near FROM nodes WHERE term = ? AND "
            "document = (SELECT number FROM documents WHERE id = ?)",
            _bytes(node.term),
            _bytes(node.document),
        )
        return np.frombuffer(rows[0][0] if rows else b"", "<u4")

    def names(self) -> Iterator[tuple[int, str]]:
        """Go through the forms that something bears, in order, each after its number."""
        after = b""
        while rows := self._rows(
            "SELECT number, form FROM names WHERE form > ? ORDER BY form LIMIT ?",
            after,
            _AT_A_TIME,
        ):
            yield from ((number, _text(form)) for number, form in rows)
            after = rows[-1][1]

    def name(self, form: str) -> int | None:
        """Return the number of a form that something bears."""
        rows = self._rows("SELECT number FROM names WHERE form = ?", _bytes(form))
        return rows[0][0] if rows else None

    def bearers(self, name: int, known: Mapping[DocumentTerm, Node]) -> list[Node]:
        """Return the nodes that bear a name; those that are known are not read again."""
        rows = self._rows(
            "SELECT d.id, n.term, n.entry, n.near FROM bearers b "
            "JOIN nodes n ON n.number = b.node JOIN documents d ON d.number = n.document "
            "WHERE b.name = ?",
            name,
        )
        made = ((DocumentTerm(_text(own), _text(term)), *rest) for own, term, *rest in rows)
        return [
            known.get(node) or Node(node, self._read(entry), np.frombuffer(near, "<u4"))
            for node, entry, near in made
        ]

    def mentions(self, concept: str) -> list[str]:
        """Return the documents that mention a concept and say nothing of it."""
        rows = self._rows(
            "SELECT d.id FROM concepts c JOIN documents d ON d.number = c.document "
            "WHERE c.term = ?",
            _bytes(concept),
        )
        return [_text(own) for (own,) in rows]

    def concepts(self) -> Iterator[tuple[str, str]]:
        """Go through such concepts in order, each with every document that mentions it."""
        rows = self._rows(
            "SELECT c.term, d.id FROM concepts c JOIN documents d ON d.number = c.document "
            "ORDER BY c.term, d.id"
        )
        return ((_text(term), _text(own)) for term, own in rows)

    def rare(self, near: Iterable[int], *, most: int) -> dict[int, tuple[str, int]]:
        """Return which of some names stand near something in two to `most` documents.

        Returns:
            Each by its number, with how many documents those are.
        """
        wanted = sorted(near)
        found: dict[int, tuple[str, int]] = {}
        for at in range(0, len(wanted), _AT_A_TIME):
            some = wanted[at : at + _AT_A_TIME]
            rows = self._rows(
                "SELECT number, token, documents FROM tokens WHERE documents BETWEEN 2 AND ? "
                f"AND number IN ({', '.join('?' * len(some))})",
                most,
                *some,
            )
            found |= {number: (_text(token), often) for number, token, often in rows}
        return found

    def events(self) -> list[str]:
        """Return the events that several documents tell of, sorted."""
        rows = self._rows(
            "SELECT event FROM happenings GROUP BY event "
            "HAVING min(document) < max(document) ORDER BY event"
        )
        return [_text(event) for (event,) in rows]

    def happenings(self, event: str) -> dict[str, list[EventReport]]:
        """Return how documents tell of an event, by document."""
        rows = self._rows(
            "SELECT d.id, h.told FROM happenings h JOIN documents d ON d.number = h.document "
            "WHERE h.event = ? ORDER BY d.id, h.place",
            _bytes(event),
        )
        found: dict[str, list[EventReport]] = {}
        for own, told in rows:
            found.setdefault(_text(own), []).append(self._unpacked(EventReport, told))
        return found

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _follow(self, store: Store, wanted: Mapping[str, DocumentInfo]) -> bool:
        """Take in what is new and let go of what is gone; say whether that has come to stay."""
        made_of = {_bytes(info.id): _made_of(info) for info in wanted.values()}
        state = _state(sorted(made_of.items()))
        for _ in range(_ATTEMPTS):
            if self._rows("SELECT of FROM state") == [(state,)]:
                return True
            kept = dict(self._rows("SELECT id, made_of FROM documents"))
            gone = [_text(one) for one, of in kept.items() if made_of.get(one) != of]
            for some in _parts(gone):
                with self._kept():
                    for document in some:
                        self.remove(document, missing_ok=True)
            new = [i for i in wanted.values() if kept.get(_bytes(i.id)) != made_of[_bytes(i.id)]]
            for infos in _parts(new):
                found = _entries(store, infos)
                with self._kept():
                    for info, entries in zip(infos, found, strict=True):
                        self.add(info.id, entries, made_of=_made_of(info))
            with self._kept():
                held = self._rows("SELECT id, made_of FROM documents ORDER BY id")
                with self._changing() as run:
                    run.execute("INSERT INTO state VALUES (?)", (_state(held),))
        return False

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Keep in the file what a block changes."""
        self._connection.execute("ROLLBACK")
        with transaction(self._connection, write=True):
            self._connection.execute("DELETE FROM state")
            yield
        self._connection.execute("BEGIN")

    def _document(self, document: str) -> tuple[int, Entries] | None:
        rows = self._rows("SELECT number, rest FROM documents WHERE id = ?", _bytes(document))
        return (rows[0][0], self._unpacked(Entries, rows[0][1])) if rows else None

    def _read(self, entry: bytes) -> NamedThing:
        return self._unpacked(NamedThing, entry)

    def _unpacked(self, kind: type[T], data: bytes) -> T:
        with self._told():
            try:
                return from_json(kind, zlib.decompress(data))
            except (zlib.error, InputError) as error:
                raise sqlite3.DatabaseError(str(error)) from error

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with self._told(), self._turn.taken():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._told(), self._turn.taken():
            self._size = None
            yield self._connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite raises into our error, once the tables are open."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if not self._open:
                raise
            where = "" if self._path is None else f" in {str(self._path)!r}"
            raise StoreError(
                f"the map of the collection{where} cannot be used: {error}",
                hint="delete the file and ask again: the map is made anew",
            ) from error


def _entries(store: Store, infos: Sequence[DocumentInfo]) -> list[Entries]:
    """Return what documents contribute, as kept in their store; what is missing is made."""
    keys = [(info.content_hash, LAYER, _fingerprint(info)) for info in infos]
    kept = store.get_layers(keys)
    made: dict[LayerKey, bytes] = {}
    for info, layer in zip(infos, keys, strict=True):
        if layer not in kept and layer not in made:
            made[layer] = to_json(entries_of(store.get(info.id))).encode()
    if made:
        with suppress(StoreReadOnly):
            store.put_layers(made)
    return [from_json(Entries, kept.get(layer) or made[layer]) for layer in keys]


def _fingerprint(info: DocumentInfo) -> str:
    """Entries change with the index they are read off, and with how they are read."""
    return f"{info.fingerprint}:{VERSION}"


def _made_of(info: DocumentInfo) -> str:
    return f"{info.content_hash} {_fingerprint(info)}"


def _state(documents: Iterable[tuple[bytes, str]]) -> bytes:
    """Return a digest of documents, in their order, and of what their entries are made of."""
    digest = blake2b(digest_size=16)
    for name, made_of in documents:
        digest.update(b"%d %s %s\n" % (len(name), name, made_of.encode()))
    return digest.digest()


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + _AT_A_TIME] for at in range(0, len(items), _AT_A_TIME))


def _packed(value: object) -> bytes:
    return zlib.compress(to_json(value).encode(), 1)  # a flipped bit is noticed when it is read


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _text(data: bytes) -> str:
    return data.decode(errors="surrogatepass")


def _unknown(document: str) -> UnknownDocument:
    return UnknownDocument(
        f"the collection's map has no document {document!r}",
        hint="add its entries to the map first",
    )
