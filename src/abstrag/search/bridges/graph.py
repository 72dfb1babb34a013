"""The graph of licensed steps, walked against edge direction: from what is asked to what is said.

An edge says that evidence at its source may serve a query for its target. A search starts from the
query, so it needs the edges *into* a term. An equivalent edge leads both ways, an implying edge
from its target to its source and never back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Protocol

from abstrag.errors import InputError
from abstrag.model.term import Edge, Family, Relation

FAMILY_BIT: Final = {family: 1 << i for i, family in enumerate(Family)}


class EdgeSource(Protocol):
    """Offers edges on demand: a lexicon, a Background, a query operator.

    The same term must always get the same answer, for it is asked about once.
    """

    def edges_into(self, term: str) -> Iterable[Edge]:
        """Return the edges with this target, and the equivalent ones with it at either end."""
        ...


@dataclass(frozen=True, slots=True)
class GraphStep:
    """One move against an edge: who wants `edge`'s other end may be served with `term`.

    `key` is the same for both directions of one edge and differs between edges. `family` is the
    edge's bit; it is 0 for a truth-preserving edge, which is a premise and no assumption.
    """

    term: str
    edge: Edge
    key: int
    units: int
    family: int


class BridgeGraph:
    """Edges by the term they lead to: those at hand, and those that sources offer on the way.

    What sources offer is asked for once per term and kept as long as the graph lives;
    `with_sources` makes another one that shares the edges at hand. Threads may share a graph.
    """

    def __init__(self, edges: Iterable[Edge] = (), sources: Sequence[EdgeSource] = ()) -> None:
        keys: dict[Edge, int] = {}
        steps: dict[str, list[GraphStep]] = {}
        for edge in edges:
            fresh = len(keys)
            if keys.setdefault(edge, fresh) == fresh:  # an edge is hashed once: that is dear
                for wanted in {edge.target: None, edge.source: None}:
                    if (step := _step(edge, wanted, fresh)) is not None:
                        steps.setdefault(wanted, []).append(step)
        self._own = {
            term: tuple(sorted(found, key=_order) if len(found) > 1 else found)
            for term, found in steps.items()
        }
        self._first_free = len(keys)
        self._sources: tuple[EdgeSource, ...] = tuple(sources)
        self._offered: dict[str, tuple[GraphStep, ...]] = {}
        self._offered_keys: dict[Edge, int] = {}
        self._serial = count(self._first_free)

    def with_sources(self, *sources: EdgeSource) -> BridgeGraph:
        """Return a graph over the same edges at hand that also asks these sources."""
        made = BridgeGraph(sources=(*self._sources, *sources))
        made._own, made._first_free = self._own, self._first_free
        made._serial = count(self._first_free)
        return made

    def steps(self, term: str) -> tuple[GraphStep, ...]:
        """Return every step from a wanted term to one that may stand in for it."""
        if not self._sources:
            return self._own.get(term, ())
        if term not in self._offered:
            self._offered[term] = self._ask(term)
        return self._offered[term]

    def names_of(self, term: str) -> frozenset[str]:
        """Return every term that is the same thing for sure, the term itself included."""
        known, queue = {term}, [term]
        while queue:
            for step in self.steps(queue.pop()):
                same = step.edge.truth_preserving and step.edge.relation is Relation.EQUIVALENT
                if same and step.term not in known:
                    known.add(step.term)
                    queue.append(step.term)
        return frozenset(known)

    def _ask(self, term: str) -> tuple[GraphStep, ...]:
        own = self._own.get(term, ())
        known = {step.edge for step in own}
        steps = list(own)
        for source in self._sources:
            for edge in source.edges_into(term):
                if edge in known:
                    continue
                known.add(edge)
                key = self._offered_keys.setdefault(edge, next(self._serial))
                step = _step(edge, term, key)
                if step is None and edge.source != edge.target:
                    raise InputError(
                        f"{type(source).__name__} offered {edge.source!r} → {edge.target!r} "
                        f"({edge.relation.value}), which does not lead to {term!r}"
                    )
                if step is not None:
                    steps.append(step)
        return tuple(sorted(steps, key=_order))


def _step(edge: Edge, wanted: str, key: int) -> GraphStep | None:
    """Return the move that serves `wanted`; None where the edge leads nowhere from there."""
    if edge.target == wanted:
        other = edge.source
    elif edge.source == wanted and edge.relation is Relation.EQUIVALENT:
        other = edge.target
    else:
        return None
    if other == wanted:
        return None
    family = 0 if edge.truth_preserving else FAMILY_BIT[edge.family]
    return GraphStep(other, edge, key, edge.units, family)


def _order(step: GraphStep) -> tuple[int, str, str, str, str]:
    edge = step.edge
    return step.units, step.term, edge.family, edge.operator, edge.licence.reference
