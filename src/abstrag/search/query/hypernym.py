"""ExpHyp: a more specific word where a more general one was asked for (conceptual gap)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from abstrag.model.term import Edge, Family


@dataclass(frozen=True, slots=True)
class ExpandHypernym:
    """Uses the map's edges from a word to what it is a kind of.

    They hold in one direction: a text about cars serves a query for vehicles, a text about
    vehicles does not serve a query for cars.
    """

    name: ClassVar[str] = "hypernym"

    def admits(self, edge: Edge) -> bool:
        """Edges of the map that climb a level."""
        return edge.family is Family.CONCEPT and edge.distance > 0.0

    def edges_into(self, term: str) -> tuple[Edge, ...]:  # noqa: ARG002
        """Offer nothing: the chain has put every ancestor into the map."""
        return ()
