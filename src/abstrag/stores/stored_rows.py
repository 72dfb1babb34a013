"""A document as a database has it, before anything of it is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from abstrag.model.index import DocumentIndex
from abstrag.stores.columns import PACKED, Corrupt
from abstrag.stores.protocol import DocumentInfo
from abstrag.stores.rows import Packed
from abstrag.stores.seal import astray, outside, seal, unsound
from abstrag.stores.tables import Row, StoreTable


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
