"""The columns and rows of a document in any database, and what is read back from them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Final

from abstrag.collector import collector_paused
from abstrag.errors import InputError, StoreCorrupt
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex
from abstrag.model.segment import Granularity
from abstrag.stores.protocol import DocumentInfo
from abstrag.stores.rows import Packed
from abstrag.stores.seal import astray, outside, seal, unsound
from abstrag.stores.tables import Row, StoreTable

INFO_COLUMNS: Final = tuple(field.name for field in fields(DocumentInfo))
INFO: Final = f"SELECT {', '.join(INFO_COLUMNS)} FROM documents"
PACKED: Final = tuple(field.name for field in fields(Packed) if field.name != "rows")
GIVEN: Final = tuple(
    name for name in dict.fromkeys((*INFO_COLUMNS, *PACKED)) if name != "indexed_at"
)
_UNREADABLE: Final = (InputError, ValueError, TypeError, LookupError, zlib.error)

# documents come by the thousand, and looking a member up is faster than calling its class
_GENRE, _GRANULARITY = INFO_COLUMNS.index("genre"), INFO_COLUMNS.index("granularity")
_GENRES: Final = {member.value: member for member in Genre}
_GRANULARITIES: Final = {member.value: member for member in Granularity}

Corrupt = Callable[[str], StoreCorrupt]


@contextmanager
def decoding(what: str, corrupt: Corrupt) -> Iterator[None]:
    """Blame the store for columns that do not hold what we put there."""
    try:
        yield
    except _UNREADABLE as error:
        raise corrupt(f"{what}: {error}") from error


def document_info(row: Sequence[Any], corrupt: Corrupt) -> DocumentInfo:
    """Return what a row of `INFO_COLUMNS` says."""
    values = list(row)
    genre, granularity = values[_GENRE], values[_GRANULARITY]
    if genre not in _GENRES or granularity not in _GRANULARITIES:
        raise corrupt(f"document {values[0]!r}: it is {genre!r}, cut by {granularity!r}")
    values[_GENRE], values[_GRANULARITY] = _GENRES[genre], _GRANULARITIES[granularity]
    return DocumentInfo(*values)


def document_infos(rows: Iterable[Sequence[Any]], corrupt: Corrupt) -> tuple[DocumentInfo, ...]:
    """Return what rows of `INFO_COLUMNS` say, sorted by id; there may be very many of them."""
    with collector_paused():
        made = [document_info(row, corrupt) for row in rows]
        return tuple(sorted(made, key=lambda info: info.id))


# A document as a database has it, before anything of it is believed.


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The columns and rows of a document, and the digest that was written with them."""

    number: int
    columns: Mapping[str, Any]
    rows: Mapping[StoreTable, Sequence[Row]]
    digest: str | None  # None: an older release wrote it
    blobs: Mapping[str, bytes] = field(default_factory=dict)  # what the rows are packed in

    @property
    def broken(self) -> bool:
        """True when this is not what was written."""
        return self.digest is not None and self.digest != self._seal()

    def _seal(self) -> str:
        return seal({**self.columns, **self.blobs}, {} if self.blobs else self.rows)

    @property
    def packed(self) -> Packed:
        """What the index is made from."""
        return Packed(self.rows, *(self.columns[name] for name in PACKED))

    @property
    def to_seal(self) -> tuple[int, str]:
        """The row that a document of an older release lacks."""
        return self.number, self._seal()


def require_sound(
    info: DocumentInfo, kept: StoredRows, load: Callable[[str], DocumentIndex], corrupt: Corrupt
) -> None:
    """See that all rows of a document are there and refer to what is there.

    Raises:
        StoreCorrupt: They do not.
    """
    if (problem := unsound(kept.rows)) is not None:
        raise corrupt(f"document {info.id!r}: {problem}")
    index = load(info.id)
    found = (len(index.records), len(index.map.terms), len(index.map.edges))
    if found != (info.segments, info.terms, info.edges):
        raise corrupt(f"rows of document {info.id!r} are missing")
    if (problem := astray(index)) is not None:
        raise corrupt(f"document {info.id!r}: {problem}")
    if (problem := outside(len(index.document.text), kept.rows)) is not None:
        raise corrupt(f"document {info.id!r}: {problem}")
