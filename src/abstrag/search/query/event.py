"""ExpEvent: frames and artifacts where an event type was asked for (event gap)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from abstrag.model.term import Edge, Family


@dataclass(frozen=True, slots=True)
class ExpandEvent:
    """Uses the map's event edges: a visit may be part of a collaboration."""

    name: ClassVar[str] = "event"

    def admits(self, edge: Edge) -> bool:
        """Edges from events and artifacts to event types."""
        return edge.family is Family.EVENT

    def edges_into(self, term: str) -> tuple[Edge, ...]:  # noqa: ARG002
        """Offer nothing: the chain has looked up every event the document tells."""
        return ()
