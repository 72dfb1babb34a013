"""An index that is packed in one process and written by another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from abstrag.model.index import DocumentIndex
from abstrag.stores.rows import Blobs, pack, to_blobs
from abstrag.stores.tables import Row, StoreTable


@dataclass(frozen=True, slots=True)
class Prepared:
    """The rows of an index, and the columns of its own row that do not depend on the store.

    An SQLite file keeps rows as blobs; where those are made already, there are no rows.
    """

    id: str
    columns: Mapping[str, Any]
    rows: Mapping[StoreTable, Sequence[Row]]
    made_blobs: Blobs | None = None

    @property
    def content_hash(self) -> str:
        """The hash of the document's content."""
        return str(self.columns["content_hash"])

    @property
    def blobs(self) -> Blobs:
        """The rows as an SQLite file keeps them.

        Raises:
            OverflowError: A number is larger than a database keeps.
        """
        return to_blobs(self.rows) if self.made_blobs is None else self.made_blobs

    def for_a_file(self) -> Prepared:
        """Return it with its rows only in the form of an SQLite file.

        Raises:
            OverflowError: A number is larger than a database keeps.
        """
        return replace(self, rows={}, made_blobs=self.blobs)


def prepare(index: DocumentIndex) -> Prepared:
    """Pack an index; this is most of the work of keeping it."""
    packed = pack(index)
    columns = {
        "title": index.document.title,
        "date": index.document.metadata.date,
        "content_hash": index.document.content_hash,
        "segments": len(index.records),
        "terms": len(index.map.terms),
        "edges": len(index.map.edges),
        **{f.name: getattr(packed, f.name) for f in fields(packed) if f.name != "rows"},
    }
    return Prepared(index.document.id, columns, packed.rows)
