"""An updated index answers as one built from everything at once."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.model.term import Edge, Mention, Term, TermKind
from abstrag.search.costed_index import CostedIndex, Postings
from abstrag.search.lookup import Lookup, gaps
from abstrag.search.trace import trace
from tests.worlds import TERMS, World, budgets, edge, edges, literal, query, worlds

MENTIONS = st.lists(
    st.builds(Mention, st.sampled_from(TERMS), st.integers(0, 3), st.just(2), st.just(3)),
    max_size=4,
)


def assert_same(one: CostedIndex, other: CostedIndex, world: World, tau: float) -> None:
    """Compare everything a search can ask of two indexes."""
    left, right = (Lookup(index, world.query, tau=tau) for index in (one, other))
    assert left.segments.tolist() == right.segments.tolist()
    assert left.distances.tolist() == right.distances.tolist()
    assert left.bridge_costs.tolist() == right.bridge_costs.tolist()
    for term in TERMS:
        assert (term in one) == (term in other)
        for asked in world.query.literals:
            for a, b in zip(one.told(term, asked), other.told(term, asked), strict=True):
                assert a.tolist() == b.tolist()
    for segment in range(max(world.segments, 4)):
        assert one.mentions_of(segment) == other.mentions_of(segment)
        assert one.terms_of(segment) == other.terms_of(segment)
    for segment in range(world.segments):
        told = [trace(found, gaps(found, hard=False), segment) for found in (left, right)]
        assert told[0].gap == told[1].gap
        assert told[0].bridge_cost == told[1].bridge_cost
        assert [t.met for t in told[0].literals] == [t.met for t in told[1].literals]
        assert [t.distance for t in told[0].literals] == [t.distance for t in told[1].literals]


@settings(max_examples=150, deadline=None)
@given(worlds(), st.lists(edges(), max_size=4), MENTIONS, budgets())
def test_an_update_is_the_same_as_a_rebuild(
    world: World, more: list[Edge], said: list[Mention], tau: float
) -> None:
    updated = world.index().updated(mentions=said, edges=more)
    whole = replace(world.plus(more), mentions=(*world.mentions, *said))
    assert_same(updated, whole.index(), world, tau)


@settings(max_examples=60, deadline=None)
@given(worlds(), st.lists(edges(), max_size=3), MENTIONS, MENTIONS, budgets())
def test_updates_add_up(
    world: World, more: list[Edge], first: list[Mention], second: list[Mention], tau: float
) -> None:
    in_turn = world.index().updated(mentions=first, edges=more[:1])
    in_turn = in_turn.updated(mentions=second, edges=more[1:])
    at_once = world.index().updated(mentions=[*first, *second], edges=more)
    assert_same(in_turn, at_once, world, tau)


@settings(max_examples=60, deadline=None)
@given(worlds(), st.data(), budgets())
def test_other_edges_are_the_same_as_a_rebuild(
    world: World, data: st.DataObject, tau: float
) -> None:
    kept = tuple(e for e in world.edges if data.draw(st.booleans()))
    assert_same(world.index().with_edges(kept), replace(world, edges=kept).index(), world, tau)


def test_an_update_leaves_the_index_it_came_from_alone() -> None:
    old = CostedIndex([Mention("concept:b", 0, 0, 1)])
    new = old.updated(
        mentions=[Mention("concept:c", 1, 0, 1)],
        edges=[edge("concept:c", "concept:a")],
        terms=[Term("concept:c", TermKind.CONCEPT, "see")],
    )
    asked = query(literal("concept:a"))
    assert Lookup(old, asked).segments.tolist() == []
    assert Lookup(new, asked).segments.tolist() == [1]
    assert "concept:c" not in old
    assert "concept:c" not in old.labels
    assert new.labels["concept:c"] == "see"


def test_only_the_postings_of_the_patched_term_are_made_anew() -> None:
    old = Postings(["a", "b", "a"], [0, 1, 2])
    new = old.updated({"b": [3, 1], "c": [0]})
    assert new.segments("b").tolist() == [1, 3]
    assert new.segments("c").tolist() == [0]
    assert np.shares_memory(new.segments("a"), old.segments("a"))
    assert old.segments("b").tolist() == [1]
    assert "c" not in old
