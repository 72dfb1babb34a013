"""What models made of the texts of a document, kept so that nobody has to ask twice.

Entries belong to the content of a document and go when that goes. Their number is bounded: a table
numbers its rows upwards, so dropping everything more than a limit behind the newest leaves no more
than that, at no cost that grows with the table. What takes a `run` serves any database.
"""

from __future__ import annotations

import mmap
import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import NamedTemporaryFile
from typing import Any, Final

from abstrag.errors import InputError, StoreReadOnly
from abstrag.stores.protocol import VERSIONS, DocumentFiles, Store, together

LIMITS: Final[Mapping[str, int]] = {
    "embeddings": 100_000,  # of 384 floats: some 170 MB
    "judgements": 1_000_000,  # some 60 MB
}
_AT_A_TIME: Final = 500  # keys in one statement


def recall(
    connection: sqlite3.Connection, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
) -> dict[bytes, bytes]:
    """Return the values of those keys that are remembered."""
    table = table_of(kind)
    found: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _AT_A_TIME):
        some = keys[start : start + _AT_A_TIME]
        marks = ", ".join("?" for _ in some)
        found.update(
            connection.execute(
                f"SELECT key, value FROM {table} WHERE owner = (SELECT number FROM owners "
                f"WHERE content_hash = ? AND model = ?) AND key IN ({marks})",
                (content_hash, model, *some),
            )
        )
    return found


def remember(
    connection: sqlite3.Connection,
    kind: str,
    content_hash: str,
    model: str,
    values: Mapping[bytes, bytes],
) -> None:
    """Keep values by their keys; a key that is there already keeps what it has."""
    table = table_of(kind)
    if not values:
        return
    connection.execute(
        "INSERT OR IGNORE INTO owners (content_hash, model) VALUES (?, ?)", (content_hash, model)
    )
    (owner,) = connection.execute(
        "SELECT number FROM owners WHERE content_hash = ? AND model = ?", (content_hash, model)
    ).fetchone()
    connection.executemany(
        f"INSERT OR IGNORE INTO {table} (owner, key, value, checksum) VALUES (?, ?, ?, ?)",
        (
            (owner, key, value, checksum(content_hash, model, key, value))
            for key, value in values.items()
        ),
    )
    connection.execute(
        f"DELETE FROM {table} WHERE number <= (SELECT max(number) FROM {table}) - ?",
        (LIMITS[kind],),
    )


def remembered(
    connection: sqlite3.Connection, kind: str, content_hash: str
) -> dict[str, dict[bytes, bytes]]:
    """Return everything of a kind that belongs to a content, by model, the oldest first."""
    table = table_of(kind)
    found: dict[str, dict[bytes, bytes]] = {}
    for model, key, value in connection.execute(
        f"SELECT model, key, value FROM {table} AS t JOIN owners ON owners.number = t.owner "
        "WHERE content_hash = ? ORDER BY t.number",
        (content_hash,),
    ):
        found.setdefault(model, {})[key] = value
    return found


def checksum(content_hash: str, model: str, key: bytes, value: bytes) -> int:
    """Return the checksum that tells whether an entry is as it was written."""
    return zlib.crc32(b"\n".join((content_hash.encode(), model.encode(), key, value)))


def broken(connection: sqlite3.Connection) -> Iterator[str]:
    """Go through the entries that are not as they were written, as the kind and model of each."""
    for kind in LIMITS:
        rows = connection.execute(
            f"SELECT content_hash, model, key, value, checksum FROM {kind} AS t "
            "LEFT JOIN owners ON owners.number = t.owner"
        )
        for content_hash, model, key, value, written in rows:
            if content_hash is None or (
                written is not None and checksum(content_hash, model, key, value) != written
            ):
                yield f"one of the {kind} of model {model!r}"


def forget(run: Any, content_hash: str) -> None:
    """Drop everything that belongs to a content."""
    run.execute("DELETE FROM owners WHERE content_hash = ?", (content_hash,))


def models(run: Any, kind: str) -> dict[str, int]:
    """Count the entries of a kind by model; only an index is read for it."""
    rows = run.execute(
        "SELECT model, CAST(sum(entries) AS BIGINT) FROM (SELECT owner, count(*) AS entries "
        f"FROM {table_of(kind)} GROUP BY owner) counted "
        "JOIN owners ON number = owner GROUP BY model"
    )
    return dict(sorted(rows.fetchall()))


def forget_models(run: Any, kind: str, keep: Sequence[str]) -> int:
    """Drop the entries of a kind that other models made, and return how many there were."""
    marks, kept = ", ".join("?" for _ in keep), tuple(keep)
    other = f"model NOT IN ({marks})" if keep else "TRUE"
    dropped: int = run.execute(
        f"DELETE FROM {table_of(kind)} WHERE owner IN (SELECT number FROM owners WHERE {other})",
        kept,
    ).rowcount
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {each} WHERE owner = owners.number)" for each in LIMITS
    )
    run.execute(f"DELETE FROM owners WHERE {other} AND {unused}", kept)
    return dropped


def table_of(kind: str) -> str:
    """Return the table of a kind, which is its name; nothing else gets into a statement."""
    if kind not in LIMITS:
        raise InputError(
            f"nothing of the kind {kind!r} is kept", hint=f"one of: {', '.join(LIMITS)}"
        )
    return kind


# Vectors are layers of their own, under a name that ends in their kind.

VECTORS: Final = "vectors"  # the kind that all layers of vectors are
KINDS: Final = (*LIMITS, VECTORS)

_WORDS_BEFORE: Final = 2  # in the fingerprint of such a layer, before the model's own

LAYERS_OF_VECTORS: Final = "layer LIKE '%vectors'"  # a condition; `is_of_vectors` is the last word


def is_of_vectors(layer: str) -> bool:
    """True when the name of a layer says that a model made vectors for it."""
    return layer.split(" ")[-1] == VECTORS


def model_in(fingerprint: str) -> str:
    """Return the model's fingerprint in that of a layer of vectors."""
    return fingerprint.split(" ", _WORDS_BEFORE)[-1]


def counted(layers: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """Add up how many layers of vectors each model made, from name, fingerprint and number."""
    found: Counter[str] = Counter()
    for layer, fingerprint, count in layers:
        if is_of_vectors(layer):
            found[model_in(fingerprint)] += count
    return dict(sorted(found.items()))


def others(layers: Iterable[tuple[str, str]], keep: Collection[str]) -> list[tuple[str, str]]:
    """Return name and fingerprint of those layers of vectors that other models made."""
    return [
        (layer, fingerprint)
        for layer, fingerprint in layers
        if is_of_vectors(layer) and model_in(fingerprint) not in keep
    ]


def checked(kind: str, keep: Collection[str]) -> list[str]:
    """Check a kind, and return the fingerprints to keep as a list."""
    if kind not in KINDS:
        raise InputError(
            f"nothing of the kind {kind!r} is made by models", hint=f"one of: {', '.join(KINDS)}"
        )
    if isinstance(keep, str):  # or its letters would be taken for fingerprints, and nothing kept
        raise InputError(
            f"fingerprints to keep are several, and got {keep!r}", hint="keep=[fingerprint]"
        )
    return sorted(keep)


# A question can be answered on a disk that is full or read-only: what models said on the way is not
# kept then, and the next question makes it again.

_Said = tuple[str, str, str, Mapping[bytes, bytes]]  # kind, content hash, model, values by key
_PUT_OFF: Final[ContextVar[list[_Said] | None]] = ContextVar("put_off", default=None)


@dataclass(frozen=True, slots=True)
class BestEffortMemory:
    """Results of models, written to a store only if it accepts writes."""

    store: Store

    @property
    def mapped(self) -> DocumentFiles | None:
        """The files that are mapped into memory; None where the store has no place for them."""
        return self.store.mapped

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return the values of those keys that are remembered."""
        return self.store.recall(kind, content_hash, model, keys)

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Store values by their keys, if the disk accepts them."""
        put_off = _PUT_OFF.get()
        if put_off is None:
            with suppress(StoreReadOnly):
                self.store.remember(kind, content_hash, model, values)
        else:
            put_off.append((kind, content_hash, model, values))


@contextmanager
def remembered_together(store: Store) -> Iterator[None]:
    """Write what models say during a block in one transaction at its end.

    A disk that syncs takes its time for each, and a question is put to many documents. What is said
    in an interrupted block is not kept.
    """
    said: list[_Said] = []
    before = _PUT_OFF.set(said)
    try:
        yield
    finally:
        _PUT_OFF.reset(before)
    if said:
        with suppress(StoreReadOnly), together(store):
            for each in said:
                store.remember(*each)


def keep_layer(store: Store, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
    """Store a layer that a search has made, if the disk accepts it."""
    with suppress(StoreReadOnly):
        store.put_layer(content_hash, layer, fingerprint, data)


# Files beside a store that are mapped into memory: the vectors of one document each.
#
#     library.db
#     library.db.mapped/
#         3f/3fa9…/NAME      3fa9… is the content of the document
#
# What is in them can be made again from the document, so a file that cannot be written is not
# missed and one that is not there is written anew. They go when the content goes. A server keeps
# the same as layers of the content.

SUFFIX: Final = ".mapped"
FILES: Final = "files"  # the layer that they are on a server


@dataclass(frozen=True, slots=True)
class FilesOfLayers:
    """Files that a server keeps as layers: they come and go with a content as any other does."""

    store: Store

    @property
    def folder(self) -> None:
        """None: they lie in the database."""

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file, or None."""
        data = self.store.get_layer(content_hash, FILES, name)
        return None if data is None else memoryview(data)

    def put(
        self,
        content_hash: str,
        name: str,
        parts: Iterable[bytes | memoryview],
        *,
        versions: int = VERSIONS,
    ) -> None:
        """Store a file as a layer; old versions go as those of any layer."""
        del versions
        with suppress(StoreReadOnly):
            self.store.put_layer(content_hash, FILES, name, b"".join(parts))

    def names(self, content_hash: str) -> list[str]:
        """Return the names of the files of a content, the oldest first."""
        return [name for layer, name, _ in self.store.layers(content_hash) if layer == FILES]

    def forget(self, content_hash: str) -> None:
        """Leave that to the store, which drops all layers of a content together."""


@dataclass(frozen=True, slots=True)
class MappedFiles:
    """The mapped files of one store, by content of a document and name."""

    folder: Path

    @classmethod
    def beside(cls, path: Path) -> MappedFiles | None:
        """Return those of an embedded store; None for one in memory."""
        if str(path) == ":memory:":
            return None
        return cls(path.with_name(f"{path.name}{SUFFIX}"))

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file without reading them, or None."""
        try:
            with self._path(content_hash, name).open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # not there, not ours to read, or empty
            return None

    def put(
        self,
        content_hash: str,
        name: str,
        parts: Iterable[bytes | memoryview],
        *,
        versions: int = VERSIONS,
    ) -> None:
        """Write a file as a whole, if the disk accepts it.

        The oldest files of the same content go, so that no more than `versions` are left.
        """
        path = self._path(content_hash, name)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, prefix=".draft-", delete=False) as file:
                draft = Path(file.name)
                try:
                    for part in parts:
                        file.write(part)
                except BaseException:
                    draft.unlink(missing_ok=True)
                    raise
            draft.replace(path)
            self._make_way(path.parent, versions)

    def names(self, content_hash: str) -> list[str]:
        """Return the names of the files of a content, the oldest first."""
        return [path.name for path in _by_age(self._path(content_hash, "x").parent)]

    def forget(self, content_hash: str) -> None:
        """Drop the files of a content."""
        rmtree(self._path(content_hash, "x").parent, ignore_errors=True)

    def _make_way(self, folder: Path, versions: int) -> None:
        for path in _by_age(folder)[:-versions]:
            path.unlink(missing_ok=True)

    def _path(self, content_hash: str, name: str) -> Path:
        return self.folder / content_hash[:2] / content_hash / name


def _by_age(folder: Path) -> list[Path]:
    try:
        files = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
        return [Path(e.path) for e in sorted(files, key=lambda e: (e.stat().st_mtime_ns, e.name))]
    except OSError:
        return []
