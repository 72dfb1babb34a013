"""What holds for the gap in every world, with every budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.config import COST_UNIT, KAPPA, MAX_GAP, TAU_MAX
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation
from abstrag.search.bridges.paths import BridgeGraph, reach
from abstrag.search.lookup import Gaps, Lookup, gaps
from abstrag.search.query.expand import expand
from abstrag.search.trace import trace
from tests.worlds import TERMS, World, budgets, edges, worlds

Table = list[tuple[float, float]]  # Gap and share of literals met, for each segment


def measure(world: World, tau: float, *, hard: bool = False) -> Gaps:
    return gaps(Lookup(world.index(), world.query, tau=tau), hard=hard)


def table(world: World, tau: float, *, hard: bool = False) -> Table:
    found = measure(world, tau, hard=hard)
    rows: Table = [(found.rest_gap, found.rest_share)] * world.segments
    for s, gap, share in zip(found.segments.tolist(), found.gap, found.share, strict=True):
        rows[s] = (float(gap), float(share))
    return rows


@given(worlds(), budgets(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_gap_lies_between_nothing_and_the_cap(world: World, tau: float, hard: bool) -> None:
    for gap, share in table(world, tau, hard=hard):
        assert 0.0 <= gap <= MAX_GAP
        assert 0.0 <= share <= 1.0


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_gap_is_the_bridge_cost_where_that_is_small_and_affordable(
    world: World, tau: float
) -> None:
    lookup = Lookup(world.index(), world.query, tau=tau)
    found = gaps(lookup)
    for s in range(world.segments):
        shown = trace(lookup, found, s)
        if shown.bridge_cost is not None and shown.bridge_cost <= min(tau, KAPPA):
            assert shown.gap == shown.bridge_cost
        if not any(literal.met for literal in shown.literals):
            assert shown.gap == MAX_GAP


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_gap_is_the_lesser_of_bridge_cost_and_smooth_part(world: World, tau: float) -> None:
    """The formula, written out for one segment at a time."""
    lookup = Lookup(world.index(), world.query, tau=tau)
    found = gaps(lookup)
    for s in range(world.segments):
        shown = trace(lookup, found, s)
        soft = sum(
            each.literal.weight
            * (each.distance / 4 if each.met and each.distance else 1 - each.met)
            for each in shown.literals
        )
        smooth = KAPPA + (MAX_GAP - KAPPA) * soft
        affordable = shown.bridge_cost is not None and shown.bridge_cost <= tau
        expected = min(smooth, shown.bridge_cost or 0.0) if affordable else smooth
        assert np.isclose(shown.gap, expected)
        assert np.isclose(shown.share, sum(t.literal.weight for t in shown.literals if t.met))


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_the_hard_gap_is_the_bridge_cost_or_the_cap(world: World, tau: float) -> None:
    lookup = Lookup(world.index(), world.query, tau=tau)
    found = gaps(lookup, hard=True)
    for s in range(world.segments):
        shown = trace(lookup, found, s)
        assert shown.gap == (shown.bridge_cost if shown.reachable else MAX_GAP)


@given(worlds(), budgets(), budgets(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_larger_budget_raises_no_gap_and_loses_no_literal(
    world: World, one: float, other: float, hard: bool
) -> None:
    small = table(world, min(one, other), hard=hard)
    large = table(world, max(one, other), hard=hard)
    for before, after in zip(small, large, strict=True):
        assert after[0] <= before[0]
        assert after[1] >= before[1]


@given(worlds(), st.lists(edges(), min_size=1, max_size=3), budgets(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_new_edge_raises_no_gap_and_loses_no_literal(
    world: World, new: list[Edge], tau: float, hard: bool
) -> None:
    before = table(world, tau, hard=hard)
    after = table(world.plus(new), tau, hard=hard)
    for old, now in zip(before, after, strict=True):
        assert now[0] <= old[0]
        assert now[1] >= old[1]


@given(worlds(), st.sampled_from(TERMS), st.randoms(use_true_random=False), budgets())
@settings(max_examples=100, deadline=None)
def test_calling_a_thing_by_two_names_changes_no_gap(
    world: World, name: str, random: object, tau: float
) -> None:
    """Proposition 3.1: a truth-preserving merge is free, whoever uses which name."""
    twin = f"{name} alias"
    pick = random.choice  # type: ignore[attr-defined]

    def either(term: str | None) -> str | None:
        return pick((name, twin)) if term == name else term

    # one segment calls the thing by one name throughout, so that an event keeps its frame
    called = [pick((name, twin)) for _ in range(world.segments)]
    merge = Edge(
        name,
        twin,
        Relation.EQUIVALENT,
        pick(list(Family)),
        "merge",
        0.35,
        0.2,
        truth_preserving=True,
        confidence=1.0,
        licence=Licence(LicenceKind.TEXT, "also known as"),
    )
    split = World(
        query=replace(
            world.query,
            literals=tuple(
                replace(lit, terms=tuple(either(t) or t for t in lit.terms))
                for lit in world.query.literals
            ),
        ),
        edges=(
            *(
                replace(e, source=either(e.source) or "", target=either(e.target) or "")
                for e in world.edges
            ),
            merge,
        ),
        mentions=tuple(
            replace(m, term=called[m.segment]) if m.term == name else m for m in world.mentions
        ),
        frames=tuple(
            replace(f, event=called[f.segment]) if f.event == name else f for f in world.frames
        ),
        contexts=tuple(
            replace(c, scope=tuple(replace(v, term=either(v.term)) for v in c.scope))
            for c in world.contexts
        ),
    )
    assert table(split, tau) == table(world, tau)


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_saying_a_free_edge_twice_changes_nothing(world: World, tau: float) -> None:
    free = [replace(e, operator="again") for e in world.edges if e.truth_preserving]
    assert table(world.plus(free), tau) == table(world, tau)


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_an_implying_edge_never_works_backwards(world: World, tau: float) -> None:
    """Walk every trace from the literal to the evidence: against an arrow, or along a ≡."""
    lookup = Lookup(world.index(), world.query, tau=tau)
    found = gaps(lookup)
    for s in range(world.segments):
        for shown in trace(lookup, found, s).literals:
            places = set(shown.literal.terms)
            for bridge in (b for b in shown.bridges if b.segment is None):
                arrived = {bridge.source} if bridge.target in places else set()
                if bridge.relation is Relation.EQUIVALENT and bridge.source in places:
                    arrived.add(bridge.target)
                assert arrived
                places = arrived
            assert shown.via is None or shown.via in places


@given(edges(), budgets())
@settings(max_examples=100, deadline=None)
def test_a_query_for_the_source_does_not_find_the_target_of_an_implying_edge(
    edge: Edge, tau: float
) -> None:
    """TSMC is a chip supplier; who asks for TSMC does not want any chip supplier."""
    one_way = replace(edge, relation=Relation.IMPLIES)
    assert BridgeGraph([one_way]).steps(edge.source) == ()
    found = reach(BridgeGraph([one_way]), [edge.source], limit=round(tau * COST_UNIT))
    assert set(found.labels) == {edge.source}


@given(worlds(most_literals=2), budgets())
@settings(max_examples=100, deadline=None)
def test_the_first_clause_is_the_query_itself_and_costs_ascend(world: World, tau: float) -> None:
    made = list(expand(world.query, world.index().graph, tau=tau))
    assert made[0].terms == (None,) * len(world.query.literals)
    assert (made[0].cost, made[0].bridges) == (0.0, ())
    costs = [clause.cost for clause in made]
    assert costs == sorted(costs)
    assert costs[-1] <= tau


@given(worlds(most_literals=2), st.lists(edges(), max_size=2), budgets(), budgets())
@settings(max_examples=100, deadline=None)
def test_neither_a_larger_budget_nor_a_new_edge_loses_a_clause(
    world: World, new: list[Edge], one: float, other: float
) -> None:
    def clauses(of: World, tau: float) -> dict[tuple[str | None, ...], float]:
        return {c.terms: c.cost for c in expand(of.query, of.index().graph, tau=tau)}

    before = clauses(world, min(one, other))
    assert before.items() <= clauses(world, max(one, other)).items()
    richer = clauses(world.plus(new), min(one, other))
    assert all(richer[terms] <= cost for terms, cost in before.items())


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_a_trace_tells_the_numbers_that_ranked(world: World, tau: float) -> None:
    lookup = Lookup(world.index(), world.query, tau=tau)
    found = gaps(lookup)
    for at, s in enumerate(found.segments.tolist()):
        shown = trace(lookup, found, s)
        assert (shown.gap, shown.soft, shown.share) == (
            found.gap[at],
            found.soft[at],
            found.share[at],
        )
        for row, literal in zip(lookup.distances[:, at], shown.literals, strict=True):
            assert literal.met == (row <= lookup.near.limit)
            if literal.met:
                assert literal.distance == row / COST_UNIT
                assert sum(b.units for b in literal.bridges) == row
            elif literal.distance is not None:
                assert tau < literal.distance
        if shown.over_budget_by is not None:
            assert shown.bridge_cost is not None
            assert np.isclose(shown.over_budget_by, shown.bridge_cost - tau)
            assert all(literal.met for literal in shown.literals)


@given(worlds(), budgets())
@settings(max_examples=100, deadline=None)
def test_the_budget_only_decides_what_is_affordable(world: World, tau: float) -> None:
    """What is found within τ costs the same as at the largest budget."""
    small = Lookup(world.index(), world.query, tau=tau)
    large = Lookup(world.index(), world.query, tau=TAU_MAX)
    for s, cost in zip(small.segments.tolist(), small.bridge_costs, strict=True):
        at = int(np.searchsorted(large.segments, s))
        if cost <= small.near.limit:
            assert large.bridge_costs[at] == cost
