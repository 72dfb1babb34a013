"""The columns of a document in any database, and what is read back from them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final

from abstrag.collector import collector_paused
from abstrag.errors import InputError, StoreCorrupt
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag.stores.protocol import DocumentInfo
from abstrag.stores.rows import Packed

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
