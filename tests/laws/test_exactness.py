"""The fast calculus against one that tries everything.

The reference knows no search: it lists every path, every choice of one path for each literal, and
adds up the distinct edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from abstrag.config import COST_UNIT, TAU_MAX
from abstrag.model.index import Context
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.term import Edge, Family, Frame, Mention, Relation
from abstrag.search.bridges.paths import (
    Aggregator,
    BridgeGraph,
    additive,
    bottleneck,
    budget,
    total,
)
from abstrag.search.bridges.paths import cost as bridge_cost
from abstrag.search.lookup import FAR, Lookup, gaps
from abstrag.search.query.expand import expand
from abstrag.search.trace import trace
from tests.worlds import TERMS, World, budgets, edge, edges, worlds

# a path is never followed beyond this, whatever the budget
LIMIT = round(TAU_MAX * COST_UNIT)
AGGREGATORS = st.sampled_from((additive, bottleneck))

Path = tuple[str, frozenset[Edge]]  # where it ends, which edges it takes
Way = tuple[frozenset[Edge], int]  # edges, and what ending there adds


def paths(graph: tuple[Edge, ...], starts: tuple[str, ...], add: Aggregator) -> set[Path]:
    """List every path of distinct terms with at most one paid edge of each family."""
    found: set[Path] = set()

    def walk(term: str, visited: frozenset[str], used: frozenset[Edge]) -> None:
        found.add((term, used))
        for step in graph:
            back = step.relation is Relation.EQUIVALENT and step.source == term
            if not (step.target == term or back):
                continue
            other = step.source if step.target == term else step.target
            paid = [e.family for e in used | {step} if not e.truth_preserving]
            if other in visited or len(paid) != len(set(paid)):
                continue
            if cost(used | {step}, add) <= LIMIT:
                walk(other, visited | {other}, used | {step})

    for start in starts:
        walk(start, frozenset({start}), frozenset())
    return found


def cost(used: frozenset[Edge], add: Aggregator) -> int:
    return total((each.units for each in used), add)


def ways(world: World, literal: Literal, segment: int, add: Aggregator) -> set[Way]:
    """List every way of one segment to meet one literal."""
    event = literal.kind is LiteralKind.EVENT
    told = [f for f in world.frames if f.segment == segment]
    words = {m.term for m in world.mentions if m.segment == segment} | {f.event for f in told}
    lifted = {v.term for _, v in world.contexts[segment].values()}
    found: set[Way] = set()
    for term, used in paths(world.edges, literal.terms, add):
        if term in words:
            found.add((used, slots_of([f for f in told if f.event == term], literal)))
        spent = [e for e in used if e.family is Family.CONTEXT and not e.truth_preserving]
        if term in lifted and not spent:
            found.add((used, 5000 + 1000 * len(literal.slots) * event))
    return found


def slots_of(told: list[Frame], literal: Literal) -> int:
    if literal.kind is not LiteralKind.EVENT:
        return 0
    if not told:
        return 1000 * len(literal.slots)
    return min(
        sum(
            1000
            for name in literal.slots
            if not any(s.name == name and not s.coerced for s in frame.slots)
        )
        for frame in told
    )


def joint(rows: list[set[Way]], add: Aggregator) -> int | None:
    """Try every choice of one way for each literal, each edge paid once."""
    if not all(rows):
        return None
    return min(
        add(
            cost(frozenset().union(*(used for used, _ in choice)), add),
            total((extra for _, extra in choice), add),
        )
        for choice in product(*rows)
    )


@given(worlds(), budgets(), AGGREGATORS)
@settings(max_examples=150, deadline=None)
def test_each_distance_is_that_of_the_cheapest_path(
    world: World, tau: float, add: Aggregator
) -> None:
    lookup = Lookup(world.index(), world.query, tau=tau, aggregator=add)
    limit = budget(tau)
    for s in range(world.segments):
        at = np.flatnonzero(lookup.segments == s)
        for j, literal in enumerate(world.query.literals):
            every = [add(cost(u, add), extra) for u, extra in ways(world, literal, s, add)]
            expected = min((c for c in every if c <= limit), default=FAR)
            assert (lookup.distances[j, at].tolist() or [FAR]) == [expected]


@given(worlds(), budgets(), AGGREGATORS)
@settings(max_examples=150, deadline=None)
def test_the_joint_minimum_is_that_of_trying_everything(
    world: World, tau: float, add: Aggregator
) -> None:
    lookup = Lookup(world.index(), world.query, tau=tau, aggregator=add)
    found = gaps(lookup)
    for s in range(world.segments):
        expected = joint([ways(world, lit, s, add) for lit in world.query.literals], add)
        shown = trace(lookup, found, s)
        assert shown.bridge_cost == (None if expected is None else expected / COST_UNIT)
        column = found.column(s)
        ranked = FAR if column is None else int(lookup.bridge_costs[column])
        affordable = expected is not None and expected <= budget(tau)
        assert ranked == (expected if affordable else FAR)
        assert shown.reachable == affordable
        assert bridge_cost(shown.bridges, add) == (expected or 0)


@given(st.integers(6, 14), st.data())
@settings(max_examples=100, deadline=None)
def test_the_joint_minimum_holds_where_nearly_every_edge_can_be_shared(
    size: int, data: st.DataObject
) -> None:
    drawn = [data.draw(edges()) for _ in range(size)]
    graph = tuple(each for each in drawn if not each.truth_preserving)
    first, last = TERMS[0], TERMS[-1]
    starts = [(first,), (TERMS[1],), (first, TERMS[2])]
    world = world_of(starts, graph, {last})
    rows = [
        {(used, 0) for term, used in paths(graph, terms, additive) if term == last}
        for terms in starts
    ]
    assume(0 < len(rows[0]) * len(rows[1]) * len(rows[2]) <= 20_000)
    lookup = Lookup(world.index(), world.query, tau=TAU_MAX)
    shown = trace(lookup, gaps(lookup), 0)
    expected = joint(rows, additive)
    assert expected is not None
    assert shown.bridge_cost == expected / COST_UNIT
    ranked = int(lookup.bridge_costs[0]) if len(lookup.segments) else FAR
    assert ranked == (expected if expected <= LIMIT else FAR)


def world_of(starts: list[tuple[str, ...]], graph: tuple[Edge, ...], present: set[str]) -> World:
    """One segment that holds these terms, and a query of concepts."""
    literals = tuple(
        Literal(LiteralKind.CONCEPT, str(terms), terms, 1 / len(starts)) for terms in starts
    )
    mentions = tuple(Mention(term, 0, 0, 1) for term in sorted(present))
    return World(Query("made", literals), graph, mentions, (), (Context(),))


def test_paths_that_share_an_edge_may_have_to_part_again() -> None:
    """Two literals share an event bridge that each has to leave by another family.

    A tree would pay for the event bridge twice: whoever follows the other's way out takes an
    expression or a concept bridge for the second time.
    """

    graph = (
        edge("meeting", "left", Family.EXPRESSION),
        edge("meeting", "right", Family.CONCEPT),
        edge("parting", "meeting", Family.EVENT),
        edge("evidence", "parting", Family.CONCEPT),
        edge("evidence", "parting", Family.EXPRESSION),
    )
    world = world_of([("left",), ("right",)], graph, {"evidence"})
    lookup = Lookup(world.index(), world.query, tau=TAU_MAX)
    assert lookup.distances[:, 0].tolist() == [19_000, 19_000]
    assert lookup.bridge_costs.tolist() == [29_000]
    shown = trace(lookup, gaps(lookup), 0)
    assert len(shown.bridges) == 5
    assert [len(each.bridges) for each in shown.literals] == [3, 3]


@given(worlds(), budgets(), AGGREGATORS)
@settings(max_examples=150, deadline=None)
def test_lazy_expansion_is_that_of_listing_everything(
    world: World, tau: float, add: Aggregator
) -> None:
    made = list(expand(world.query, BridgeGraph(world.edges), tau=tau, aggregator=add))
    expected = dict(brute_clauses(world.query, world.edges, budget(tau), add))
    assert {clause.terms: round(clause.cost * COST_UNIT) for clause in made} == expected
    assert len(made) == len(expected)
    assert [clause.cost for clause in made] == sorted(clause.cost for clause in made)
    for clause in made:
        assert clause.cost == bridge_cost(clause.bridges, add) / COST_UNIT


def brute_clauses(
    query: Query, graph: tuple[Edge, ...], limit: int, add: Aggregator
) -> Iterator[tuple[tuple[str | None, ...], int]]:
    options: list[dict[str | None, set[frozenset[Edge]]]] = []
    for literal in query.literals:
        row: dict[str | None, set[frozenset[Edge]]] = {None: {frozenset()}}
        for term, used in paths(graph, literal.terms, add):
            if term not in literal.terms:
                paid = frozenset(e for e in used if e.units)
                row.setdefault(term, set()).add(paid)
        options.append(row)
    for terms in product(*options):
        sets = [row[term] for row, term in zip(options, terms, strict=True)]
        least = min(cost(frozenset().union(*choice), add) for choice in product(*sets))
        if least <= limit:
            yield terms, least


@given(worlds(most_literals=2), budgets())
@settings(max_examples=100, deadline=None)
def test_without_slots_and_context_the_joint_minimum_is_the_cheapest_clause_a_segment_satisfies(
    world: World, tau: float
) -> None:
    """Expand_τ and the costed index are two views of one thing."""
    plain = World(
        Query(
            "plain",
            tuple(
                Literal(LiteralKind.CONCEPT, lit.label, lit.terms, lit.weight)
                for lit in world.query.literals
            ),
        ),
        world.edges,
        world.mentions,
        (),
        tuple(Context() for _ in world.contexts),
    )
    index = plain.index()
    lookup = Lookup(index, plain.query, tau=tau)
    clauses = list(expand(plain.query, index.graph, tau=tau))
    for s in range(plain.segments):
        words = {m.term for m in plain.mentions if m.segment == s}
        satisfied = [
            clause.cost
            for clause in clauses
            if all(
                words & set(lit.terms) if term is None else term in words
                for lit, term in zip(plain.query.literals, clause.terms, strict=True)
            )
        ]
        at = np.flatnonzero(lookup.segments == s)
        ranked = (lookup.bridge_costs[at].tolist() or [FAR])[0]
        assert ranked == (round(min(satisfied) * COST_UNIT) if satisfied else FAR)
