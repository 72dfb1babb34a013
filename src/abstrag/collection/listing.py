"""The documents of a store as a list: what each is called and comes from, filtered, sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final

from abstrag.collection.filters import Filters
from abstrag.collection.results import file_name
from abstrag.model.document import Genre
from abstrag.model.record import record
from abstrag.stores.protocol import DocumentInfo


class Sort(StrEnum):
    """What a list is sorted by; names go from a to z, dates and sizes from high to low."""

    TITLE = "title"
    FILE = "file"
    DATE = "date"
    SIZE = "size"
    INDEXED = "indexed"


@record
class ListedDocument:
    """A document in a list; of where its file lies only the last folder is told."""

    id: str
    title: str
    file: str | None
    folder: str | None
    bytes: int | None  # of the file, where it is still there
    date: str | None
    genre: Genre
    segments: int
    indexed_at: str


def listed(info: DocumentInfo) -> ListedDocument:
    """Return a document as it is listed."""
    path = None if info.source_path is None else Path(info.source_path)
    return ListedDocument(
        id=info.id,
        title=info.title,
        file=file_name(info.source_path),
        folder=None if path is None else path.parent.name or None,
        bytes=_size(path),
        date=info.date,
        genre=info.genre,
        segments=info.segments,
        indexed_at=info.indexed_at,
    )


def listing(
    documents: Iterable[DocumentInfo],
    filters: Filters | None = None,
    *,
    sort: Sort = Sort.TITLE,
    descending: bool | None = None,
) -> list[tuple[DocumentInfo, ListedDocument]]:
    """Return the documents that pass filters, in order; what is not known comes last.

    Args:
        documents: Those of a store.
        filters: Which of them.
        sort: By what.
        descending: From z to a, from new to old; unless given, as people look for it.
    """
    wanted = filters or Filters()
    passed = [(info, listed(info)) for info in documents if wanted.refuses(info) is None]
    key = _KEYS[sort]
    known = [pair for pair in passed if key(pair[1]) is not None]
    rest = [pair for pair in passed if key(pair[1]) is None]
    downwards = sort in _NEWEST_FIRST if descending is None else descending
    known.sort(key=lambda pair: key(pair[1]), reverse=downwards)  # type: ignore[arg-type,return-value]
    return [*known, *rest]


def _size(path: Path | None) -> int | None:
    try:
        return None if path is None else path.stat().st_size
    except OSError:
        return None


_NEWEST_FIRST: Final = frozenset({Sort.DATE, Sort.SIZE, Sort.INDEXED})
_KEYS: Final[dict[Sort, Callable[[ListedDocument], str | int | None]]] = {
    Sort.TITLE: lambda one: one.title.casefold(),
    Sort.FILE: lambda one: None if one.file is None else one.file.casefold(),
    Sort.DATE: lambda one: one.date,
    Sort.SIZE: lambda one: one.bytes,
    Sort.INDEXED: lambda one: one.indexed_at,
}
