"""Cheapest paths over the graph of licensed steps: what they cost, where they lead and end."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from heapq import heappop, heappush
from itertools import chain, count
from math import isfinite
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from abstrag.config import COST_UNIT, TAU_MAX
from abstrag.errors import InputError
from abstrag.model.query import Bridge
from abstrag.model.term import Edge, Family, Relation

# Cost: what a set of bridges costs together (Eq. 3), in integers of 1/10,000.
#
# Integers make equal costs equal: whether a set is within budget must not hang on the order in
# which floats were added up.

Units = TypeVar("Units", int, npt.NDArray[np.int64])


class Aggregator(Protocol):
    """Puts two costs together; the cost of a set is the fold over its members.

    What the search relies on: order and grouping do not matter, 0 changes nothing, the result is
    never below either side (so Cost is non-negative, monotone and Cost(∅) = 0), and raising one
    side never lowers the result. It has to work on integers and on integer arrays alike.
    """

    def __call__(self, left: Units, right: Units) -> Units:
        """Return the cost of two disjoint sets of bridges taken together."""
        ...


def additive(left: Units, right: Units) -> Units:
    """Add costs up: the paper's aggregator."""
    return left + right


def bottleneck(left: Units, right: Units) -> Units:
    """Take the dearer of two costs: a chain of assumptions is as weak as its weakest."""
    if isinstance(left, int):
        return max(left, right)
    return np.maximum(left, right)


def total(units: Iterable[int], aggregator: Aggregator = additive) -> int:
    """Fold costs into one; no costs are no cost."""
    return reduce(aggregator, units, 0)


def cost(bridges: Iterable[Bridge], aggregator: Aggregator = additive) -> int:
    """Return the cost of a set of bridges in units; equal bridges are paid once."""
    return total((bridge.units for bridge in dict.fromkeys(bridges)), aggregator)


def to_units(amount: float) -> int:
    """Turn a cost into units of 1/10,000."""
    return round(amount * COST_UNIT)


def budget(tau: float) -> int:
    """Turn a budget τ into units, or say what is wrong with it."""
    if not (isfinite(tau) and 0 <= tau <= TAU_MAX):
        raise InputError(
            f"budget τ is {tau!r}", hint=f"give a number from 0 to {TAU_MAX:g}; 1.5 is the default"
        )
    return to_units(tau)


# The graph of licensed steps, walked against edge direction: from what is asked to what is said.
#
# An edge says that evidence at its source may serve a query for its target. A search starts from
# the query, so it needs the edges *into* a term. An equivalent edge leads both ways, an implying
# edge from its target to its source and never back.

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


# The reach of a literal: bounded shortest paths with at most one assumption of each family.
#
# A path is a chain of steps from one of the literal's own terms. Truth-preserving steps are free
# and unlimited; of paid steps a path takes at most one of each family. That limit makes a term
# alone too little to search over (the cheapest way to it may have used up the family that the next
# step needs), so a label is a term *with* the families used, and a term keeps every label no other
# label beats.
#
# Paths of several literals may run over the same edge, which is paid once. So the cheapest way for
# one literal need not be part of the cheapest for all. Where `shared` names such edges a label also
# remembers which of them it used, and one label beats another only if it would in any company.

Prices = Mapping[int, int]  # the key of an edge → its cost in units

NOTHING: Final[Prices] = MappingProxyType({})


class PathLabel(NamedTuple):
    """The end of a path: where it got, what it cost, what it used up, how it came."""

    term: str
    units: int
    private: int  # the part that no other literal could share
    shared: frozenset[int]
    families: int
    step: GraphStep | None
    parent: PathLabel | None

    def edges(self) -> tuple[Edge, ...]:
        """The edges of the path, from the literal outwards."""
        found: list[Edge] = []
        label = self
        while label.step is not None and label.parent is not None:
            found.append(label.step.edge)
            label = label.parent
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class TermReach:
    """Every term a literal reaches within a limit, with its undominated labels, cheapest first.

    `crossed` prices every paid edge that lies on some path within the limit.
    """

    labels: Mapping[str, Sequence[PathLabel]]
    crossed: Prices

    def best(self, term: str, *, without: int = 0) -> PathLabel | None:
        """Return the cheapest label at a term whose path left these families unused."""
        for label in self.labels.get(term, ()):
            if not label.families & without:
                return label
        return None

    def ways(self, term: str, *, without: int = 0) -> Iterator[PathLabel]:
        """Go through all labels at a term whose paths left these families unused."""
        return (label for label in self.labels.get(term, ()) if not label.families & without)


def reach(
    graph: BridgeGraph,
    starts: Iterable[str],
    *,
    limit: int,
    shared: Prices = NOTHING,
    aggregator: Aggregator = additive,
) -> TermReach:
    """Find everything within `limit` units of the start terms."""
    labels: dict[str, list[PathLabel]] = {}
    crossed: dict[int, int] = {}
    serial = count()
    # ties: fewer steps, then term and families, then the order of the steps, which is fixed
    heap = [
        (0, 0, term, 0, next(serial), PathLabel(term, 0, 0, frozenset(), 0, None, None))
        for term in dict.fromkeys(starts)
    ]
    while heap:
        units, hops, term, families, _, label = heappop(heap)
        kept = labels.setdefault(term, [])
        if any(dominates(other, label, shared, aggregator) for other in kept):
            continue
        kept.append(label)
        for step in graph.steps(term):
            if step.family & families:
                continue
            reached = aggregator(units, step.units)
            if reached > limit:
                continue
            if step.units:
                crossed[step.key] = step.units
            made = _extend(label, step, reached, shared, aggregator)
            if not any(
                dominates(other, made, shared, aggregator) for other in labels.get(step.term, ())
            ):
                heappush(heap, (reached, hops + 1, step.term, made.families, next(serial), made))
    return TermReach(labels, crossed)


def dominates(one: PathLabel, other: PathLabel, shared: Prices, aggregator: Aggregator) -> bool:
    """True when `one` can replace `other` in any set of paths without making the set dearer.

    It may use no family the other left unused, and its own edges, with those shared edges that the
    other has not brought along, may cost no more than the other's own.
    """
    if one.families & ~other.families:
        return False
    extra = one.shared - other.shared
    mine = aggregator(one.private, total((shared[key] for key in extra), aggregator))
    return mine <= other.private


def _extend(
    label: PathLabel, step: GraphStep, units: int, shared: Prices, aggregator: Aggregator
) -> PathLabel:
    private, used = label.private, label.shared
    if step.key in shared:
        used = used | {step.key}
    else:
        private = aggregator(private, step.units)
    return PathLabel(step.term, units, private, used, label.families | step.family, step, label)


# Offers: the ways to meet a literal, as the parts that combinations are made of.


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to meet one literal; without a label the literal stays as asked.

    `private` is what this literal alone pays: its own edges, and what a segment adds (context,
    slots). `at` is the caller's to find its way back.
    """

    label: PathLabel | None
    private: int
    shared: frozenset[int] = frozenset()
    at: int = 0


class Combination(NamedTuple):
    """One offer for each literal, and what they cost together."""

    units: int
    offers: tuple[Offer, ...]


def price(offer: Offer, paid: frozenset[int], prices: Prices, aggregator: Aggregator) -> int:
    """Return what an offer still costs when these shared edges are already paid for."""
    return aggregator(
        offer.private, total((prices[key] for key in offer.shared - paid), aggregator)
    )


def in_order(
    row: Iterable[Offer], paid: frozenset[int], prices: Prices, aggregator: Aggregator
) -> list[Offer]:
    """Sort offers by what they still cost; of equal ones the first stays first."""
    return sorted(row, key=lambda offer: price(offer, paid, prices, aggregator))


def undominated(
    row: Iterable[Offer], prices: Prices, aggregator: Aggregator = additive
) -> list[Offer]:
    """Drop every offer that another one can replace in any combination at no greater cost."""
    kept: list[Offer] = []
    for offer in in_order(row, frozenset(), prices, aggregator):
        if not any(price(k, offer.shared, prices, aggregator) <= offer.private for k in kept):
            kept.append(offer)
    return kept


def shared_by(row: Sequence[Offer]) -> frozenset[int]:
    """Return the shared edges that some offer of a literal uses."""
    return frozenset(chain.from_iterable(offer.shared for offer in row))


# What the literals of one query reach within one budget: each alone, and all in company.


class Neighbourhood:
    """The reaches of several literals up to a limit, computed as they are asked for.

    `alone` is enough for each literal's own distance. `together` also keeps the dearer ways that
    may pay off because another literal takes the same edge; it differs from `alone` only for
    literals with an edge in `shared`.
    """

    def __init__(
        self,
        graph: BridgeGraph,
        starts: Sequence[tuple[str, ...]],
        *,
        limit: int,
        aggregator: Aggregator = additive,
    ) -> None:
        self.graph = graph
        self.starts = starts
        self.limit = limit
        self.aggregator = aggregator

    @cached_property
    def alone(self) -> tuple[TermReach, ...]:
        """Each literal's reach by itself."""
        return tuple(
            reach(self.graph, terms, limit=self.limit, aggregator=self.aggregator)
            for terms in self.starts
        )

    @cached_property
    def users(self) -> Mapping[int, int]:
        """How many literals may use each paid edge."""
        return Counter(chain.from_iterable(found.crossed for found in self.alone))

    @cached_property
    def shared(self) -> Prices:
        """The paid edges that two or more literals may use, with their prices."""
        prices = ChainMap(*(dict(found.crossed) for found in self.alone))
        return {key: prices[key] for key, literals in self.users.items() if literals > 1}

    @cached_property
    def together(self) -> tuple[TermReach, ...]:
        """Each literal's reach with every way that may be the best in company."""
        return tuple(
            found
            if self.shared.keys().isdisjoint(found.crossed)
            else reach(
                self.graph,
                terms,
                limit=self.limit,
                shared=self.shared,
                aggregator=self.aggregator,
            )
            for terms, found in zip(self.starts, self.alone, strict=True)
        )

    def least(self, label: PathLabel) -> int:
        """Return the least a literal pays for a path, whoever shares it, as part of any whole.

        Where costs add up and an edge's is divided among all who may use it, the parts of a whole
        are never more than the whole.
        """
        if self.aggregator is not additive:
            return label.private
        return label.private + sum(self.shared[key] // self.users[key] for key in label.shared)
