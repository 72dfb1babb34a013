"""What a query-side operator is: a kind of costed edge that a search may or may not use.

The document's map already holds most of them, because the chain works once for all queries; an
operator says which of those edges are its own and may offer more when the search gets to a term.
Leaving an operator out of a search leaves out both. What text or Background *states* is free,
belongs to no operator and is always used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

from abstrag.model.term import Edge


class QueryOperator(Protocol):
    """One of the six expansions of appendix D.5."""

    name: ClassVar[str]

    def admits(self, edge: Edge) -> bool:
        """True when a costed edge of the map is this operator's."""
        ...

    def edges_into(self, term: str) -> Iterable[Edge]:
        """Offer further edges that lead to a term."""
        ...


def admitted(edges: Iterable[Edge], operators: Sequence[QueryOperator]) -> tuple[Edge, ...]:
    """Return the edges a search with these operators may use."""
    return tuple(e for e in edges if e.truth_preserving or any(op.admits(e) for op in operators))
