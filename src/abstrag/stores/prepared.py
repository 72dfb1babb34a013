"""An index on its way into a store: made and packed in one process, written by another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from abstrag.model.index import DocumentIndex
from abstrag.stores.rows import pack
from abstrag.stores.tables import Row, StoreTable


@dataclass(frozen=True, slots=True)
class Prepared:
    """The rows of an index, and the columns of its own row that do not depend on the store."""

    id: str
    columns: Mapping[str, Any]
    rows: Mapping[StoreTable, Sequence[Row]]

    @property
    def content_hash(self) -> str:
        """The hash of the document's content."""
        return str(self.columns["content_hash"])


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
