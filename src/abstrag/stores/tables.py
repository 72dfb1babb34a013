"""The tables whose rows belong to one document each, and their columns in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class StoreTable:
    """A table by name; its rows are read back in the order of the first `key` columns."""

    name: str
    columns: tuple[str, ...]
    key: int = 1

    @property
    def select(self) -> str:
        """The statement that reads the rows of one document."""
        columns, key = ", ".join(self.columns), ", ".join(self.columns[: self.key])
        return f"SELECT {columns} FROM {self.name} WHERE document = ? ORDER BY {key}"


def _table(name: str, columns: str, key: int = 1) -> StoreTable:
    return StoreTable(name, tuple(columns.split()), key)


SEGMENTS: Final = _table(
    "segments",
    "position id kind role text start stop alignment block section page headers table_row "
    "table_column canonical statements utility layout novelty assertedness",
)
CONTEXTS: Final = _table(
    "contexts", "segment field position name value confidence start stop term", key=3
)
TERMS: Final = _table("terms", "number id kind label surfaces first_day last_day quantity unit")
EDGES: Final = _table(
    "edges",
    "position source target relation family operator weight distance truth_preserving confidence "
    "licence reference start stop",
)
POSTINGS: Final = _table("postings", "position term segment start stop header")

TABLES: Final = (SEGMENTS, CONTEXTS, TERMS, EDGES, POSTINGS)

# columns whose numbers databases write in different ways
REAL: Final = {
    SEGMENTS: ("utility", "layout", "novelty", "assertedness"),
    CONTEXTS: ("confidence",),
    TERMS: ("quantity",),
    EDGES: ("weight", "distance", "confidence"),
    POSTINGS: (),
}
TRUTH: Final = "truth_preserving"
