from __future__ import annotations

from itertools import permutations

from abstrag.model.term import Edge, Family
from abstrag.search.bridges.paths import BridgeGraph, TermReach, reach
from tests.worlds import edge


def found(edges: list[Edge], start: str, *, limit: int = 40_000) -> TermReach:
    return reach(BridgeGraph(edges), [start], limit=limit)


def units(within: TermReach, term: str) -> int | None:
    label = within.best(term)
    return None if label is None else label.units


def test_a_path_takes_one_step_of_a_family_and_no_second() -> None:
    within = found([edge("dog", "mammal"), edge("mammal", "animal")], "animal")
    assert units(within, "mammal") == 6500
    assert units(within, "dog") is None


def test_steps_of_different_families_follow_each_other() -> None:
    chain = [
        edge("visit", "meeting", Family.EVENT),
        edge("meeting", "talks", Family.CONCEPT),
        edge("talks", "negotiation", Family.EXPRESSION),
    ]
    assert units(found(chain, "negotiation"), "visit") == 3500 + 6500 + 9000


def test_a_free_step_uses_up_no_family() -> None:
    chain = [
        edge("dog", "mammal", free=True),
        edge("mammal", "animal"),
        edge("animal", "being", free=True),
    ]
    assert units(found(chain, "being"), "dog") == 6500


def test_nothing_beyond_the_limit_is_reached_and_what_is_on_it_is() -> None:
    chain = [edge("dog", "mammal")]
    assert units(found(chain, "mammal", limit=6500), "dog") == 6500
    assert units(found(chain, "mammal", limit=6499), "dog") is None


def test_the_dearer_way_is_kept_where_the_cheaper_one_has_used_up_a_family() -> None:
    """To the hub by alias is cheaper; but only who came by concept may leave it by alias."""
    edges = [
        edge("hub", "start", Family.EXPRESSION),
        edge("hub", "start", Family.CONCEPT),
        edge("end", "hub", Family.EXPRESSION),
    ]
    within = found(edges, "start")
    assert units(within, "hub") == 3500
    assert units(within, "end") == 6500 + 3500
    assert [e.family for e in within.labels["end"][0].edges()] == [
        Family.CONCEPT,
        Family.EXPRESSION,
    ]


def test_a_path_reads_from_the_literal_outwards() -> None:
    one, two = edge("b", "a", Family.CONCEPT), edge("c", "b", Family.EXPRESSION)
    label = found([one, two], "a").best("c")
    assert label is not None
    assert label.edges() == (one, two)


def test_of_equal_paths_the_same_one_is_found_whatever_the_order_of_edges() -> None:
    edges = [
        edge("left", "start", Family.EXPRESSION),
        edge("right", "start", Family.EXPRESSION),
        edge("end", "left", Family.CONCEPT),
        edge("end", "right", Family.CONCEPT),
    ]
    paths = set()
    for order in permutations(edges):
        label = found(list(order), "start").best("end")
        assert label is not None
        paths.add(label.edges())
    assert len(paths) == 1


def test_every_paid_edge_on_the_way_is_priced_and_no_other() -> None:
    edges = [
        edge("b", "a", Family.CONCEPT),
        edge("c", "b", Family.EXPRESSION),
        edge("d", "c", Family.CONCEPT),  # a second concept step
        edge("e", "a", free=True),
        edge("z", "y", Family.EVENT),
    ]
    assert sorted(found(edges, "a").crossed.values()) == [3500, 6500]


def test_several_start_terms_are_all_at_no_cost() -> None:
    within = reach(BridgeGraph([edge("b", "a")]), ["a", "x", "a"], limit=0)
    assert {term: units(within, term) for term in within.labels} == {"a": 0, "x": 0}
