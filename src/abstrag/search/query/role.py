"""ExpRole: the holder of an office where a type of person or party was asked for (intent gap)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from abstrag.model.term import Edge, Family


@dataclass(frozen=True, slots=True)
class ExpandRole:
    """Uses the map's office edges: the CTO of an AI company stands for that company."""

    name: ClassVar[str] = "role"

    def admits(self, edge: Edge) -> bool:
        """Edges from offices to types."""
        return edge.family is Family.INTENT

    def edges_into(self, term: str) -> tuple[Edge, ...]:  # noqa: ARG002
        """Offer nothing: which offices there are, only the document knows."""
        return ()
