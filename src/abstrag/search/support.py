"""Support sets: hits that can be believed together (the last step of query-side scoring)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from abstrag.config import COST_UNIT, TAU
from abstrag.model.query import Bridge
from abstrag.model.ranking import Hit, LeftOut, LiteralTrace, SupportSet
from abstrag.model.term import TermKind
from abstrag.search.bridges.cost import Aggregator, additive, budget, cost
from abstrag.search.bridges.graph import BridgeGraph

_BINDING: Final = tuple(f"{kind.value}:" for kind in (TermKind.ENTITY, TermKind.TIME))

Bindings = list[frozenset[str] | None]  # for each literal the things it may still be; None: open


def support_set(
    hits: Sequence[Hit],
    graph: BridgeGraph,
    *,
    k: int,
    tau: float = TAU,
    aggregator: Aggregator = additive,
) -> SupportSet:
    """Take hits from the top while they agree with those taken and stay within τ together."""
    limit = budget(tau)
    taken: list[Hit] = []
    left: list[LeftOut] = []
    bridges: dict[Bridge, None] = {}
    bound: Bindings = [None] * (len(hits[0].trace.literals) if hits else 0)
    for hit in hits:
        if len(taken) == k:
            break
        merged = [_both(old, new) for old, new in zip(bound, _bindings(hit, graph), strict=True)]
        union = bridges | dict.fromkeys(bridges_of(hit))
        over = cost(union, aggregator) - limit
        if frozenset() in merged:
            at = merged.index(frozenset())
            label = hit.trace.literals[at].literal.label
            left.append(LeftOut(hit.position, f"binds {label!r} to something else"))
        elif over > 0:
            left.append(
                LeftOut(hit.position, f"takes the bridges over budget by {over / COST_UNIT:g}")
            )
        else:
            taken.append(hit)
            bound, bridges = merged, union
    return SupportSet(
        hits=tuple(taken),
        bindings=tuple(min(things) if things else None for things in bound),
        bridges=tuple(bridges),
        cost=cost(bridges, aggregator) / COST_UNIT,
        left_out=tuple(left),
    )


def bridges_of(hit: Hit) -> tuple[Bridge, ...]:
    """Return what a hit assumes: the joint minimum, or where that is not affordable what it met."""
    if hit.trace.reachable:
        return hit.trace.bridges
    met = (literal for literal in hit.trace.literals if literal.met)
    return tuple(dict.fromkeys(bridge for literal in met for bridge in literal.bridges))


def _bindings(hit: Hit, graph: BridgeGraph) -> Bindings:
    return [_things(literal, graph) for literal in hit.trace.literals]


def _things(literal: LiteralTrace, graph: BridgeGraph) -> frozenset[str] | None:
    """The entities or times that meet a literal equally well; names of one thing count once.

    A literal that is unmet, or met by a mere concept, binds nothing.
    """
    terms = () if literal.via is None else (literal.via, *literal.alternatives)
    if not literal.met or not all(term.startswith(_BINDING) for term in terms):
        return None
    return frozenset(min(graph.names_of(term)) for term in terms)


def _both(old: frozenset[str] | None, new: frozenset[str] | None) -> frozenset[str] | None:
    if old is None or new is None:
        return new if old is None else old
    return old & new
