"""Expand_τ: the alternatives of a query within a budget, cheapest first (Eq. 5, appendix D.6).

A clause puts a term in the place of each literal, or leaves it as asked. Its cost is that of the
cheapest *set* of bridges that allows it, an edge used twice paid once, so costs of clauses are not
sums of costs of literals. The stream is in order of that true cost and never holds more than the
edge of what it has explored.
"""

from __future__ import annotations

from collections.abc import Iterator

from abstrag.config import COST_UNIT, TAU
from abstrag.model.query import Bridge, Clause, Literal, Query
from abstrag.search.bridges.paths import (
    Aggregator,
    BridgeGraph,
    Combination,
    Neighbourhood,
    Offer,
    TermReach,
    additive,
    budget,
    undominated,
)
from abstrag.search.bridges.steiner import combinations


def expand(
    query: Query, graph: BridgeGraph, *, tau: float = TAU, aggregator: Aggregator = additive
) -> Iterator[Clause]:
    """Yield the clauses of a query within τ; the first is the query itself, at cost 0."""
    limit = budget(tau)
    near = Neighbourhood(
        graph,
        [literal.terms for literal in query.literals],
        limit=limit,
        aggregator=aggregator,
    )
    rows = [
        _offers(literal, found, near)
        for literal, found in zip(query.literals, near.together, strict=True)
    ]
    seen: set[tuple[str | None, ...]] = set()
    for found in combinations(rows, near.shared, limit=limit, aggregator=aggregator):
        terms = tuple(offer.label.term if offer.label else None for offer in found.offers)
        if terms not in seen:  # the same terms by other bridges: dearer, so no news
            seen.add(terms)
            yield Clause(terms, _bridges(found), found.units / COST_UNIT)


def _offers(literal: Literal, found: TermReach, near: Neighbourhood) -> list[Offer]:
    """The literal as asked, then every term that may stand in for it."""
    row = [Offer(None, 0)]
    for term in sorted(found.labels.keys() - set(literal.terms)):
        ways = [Offer(label, label.private, label.shared) for label in found.ways(term)]
        row.extend(undominated(ways, near.shared, near.aggregator))
    return row


def _bridges(found: Combination) -> tuple[Bridge, ...]:
    edges = dict.fromkeys(
        edge for offer in found.offers if offer.label for edge in offer.label.edges()
    )
    return tuple(Bridge.over(edge) for edge in edges)
