"""The reach of a literal: bounded shortest paths with at most one assumption of each family.

A path is a chain of steps from one of the literal's own terms. Truth-preserving steps are free and
unlimited; of paid steps a path takes at most one of each family. That limit makes a term alone too
little to search over (the cheapest way to it may have used up the family that the next step needs),
so a label is a term *with* the families used, and a term keeps every label no other label beats.

Paths of several literals may run over the same edge, which is paid once. So the cheapest way for
one literal need not be part of the cheapest for all. Where `shared` names such edges a label also
remembers which of them it used, and one label beats another only if it would in any company.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

from abstrag.model.term import Edge
from abstrag.search.bridges.cost import Aggregator, additive, total
from abstrag.search.bridges.graph import BridgeGraph, GraphStep

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
