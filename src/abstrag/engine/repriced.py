"""Operators whose offers weigh what an experiment says they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from abstrag.model.term import Edge
from abstrag.search.query.operator import QueryOperator

Reprice = Callable[[Edge], Edge]


@dataclass(frozen=True, slots=True)
class Repriced:
    """An operator whose offers weigh what somebody says they do."""

    operator: QueryOperator
    reprice: Reprice
    name: ClassVar[str] = "repriced"

    def admits(self, edge: Edge) -> bool:
        """Tell whether the operator admits an edge of the map."""
        return self.operator.admits(edge)

    def edges_into(self, term: str) -> Iterable[Edge]:
        """Return what the operator offers, repriced."""
        return map(self.reprice, self.operator.edges_into(term))
