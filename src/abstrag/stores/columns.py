"""The columns of a document in any database, and what is read back from them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final

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
    values: dict[str, Any] = dict(zip(INFO_COLUMNS, row, strict=True))
    with decoding(f"document {values['id']!r}", corrupt):
        values["genre"] = Genre(values["genre"])
        values["granularity"] = Granularity(values["granularity"])
    return DocumentInfo(**values)
