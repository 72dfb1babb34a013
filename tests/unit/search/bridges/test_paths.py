"""Bridges: what they cost, the graph they make, and the cheapest paths over it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import permutations

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.model.query import Bridge
from abstrag.model.term import Edge, Family
from abstrag.search.bridges.paths import (
    BridgeGraph,
    TermReach,
    additive,
    bottleneck,
    budget,
    cost,
    reach,
    to_units,
)
from tests.worlds import edge

ALIAS = Bridge.over(edge("a", "b", Family.EXPRESSION, distance=0.1))
CLASS = Bridge.over(edge("b", "c", Family.CONCEPT, distance=0.2))
STATED = Bridge.over(edge("c", "d", Family.CONCEPT, free=True))


def test_no_bridges_cost_nothing() -> None:
    assert cost([]) == 0


def test_a_bridge_costs_its_weight_and_its_distance() -> None:
    assert cost([ALIAS]) == 4500
    assert cost([ALIAS, CLASS]) == 4500 + 8500


def test_a_truth_preserving_bridge_is_free() -> None:
    assert cost([ALIAS, STATED]) == cost([ALIAS])


def test_the_same_bridge_is_paid_once() -> None:
    assert cost([ALIAS, CLASS, ALIAS]) == cost([ALIAS, CLASS])


def test_another_aggregator_may_take_the_dearest_bridge() -> None:
    assert cost([ALIAS, CLASS], bottleneck) == 8500


def test_aggregators_work_on_arrays() -> None:
    left, right = np.array([1, 5]), np.array([4, 2])
    assert additive(left, right).tolist() == [5, 7]
    assert bottleneck(left, right).tolist() == [4, 5]


def test_a_budget_is_counted_in_ten_thousandths() -> None:
    assert budget(1.5) == 15_000
    assert to_units(0.1 + 0.2) == 3000


@pytest.mark.parametrize("tau", [-0.1, math.nan, math.inf, 4.01])
def test_a_budget_outside_its_range_is_refused(tau: float) -> None:
    with pytest.raises(InputError, match="budget τ is"):
        budget(tau)


class Offering:
    """An edge source that remembers what it was asked."""

    def __init__(self, *edges: Edge) -> None:
        self.edges = edges
        self.asked: list[str] = []

    def edges_into(self, term: str) -> Iterable[Edge]:
        self.asked.append(term)
        return [e for e in self.edges if term in (e.source, e.target)]


def test_an_implying_edge_leads_from_what_is_asked_to_what_is_said() -> None:
    graph = BridgeGraph([edge("TSMC", "chip supplier")])
    assert [step.term for step in graph.steps("chip supplier")] == ["TSMC"]
    assert graph.steps("TSMC") == ()


def test_an_equivalent_edge_leads_both_ways_and_is_one_edge() -> None:
    graph = BridgeGraph([edge("AI", "artificial intelligence", both_ways=True)])
    (there,), (back,) = graph.steps("artificial intelligence"), graph.steps("AI")
    assert (there.term, back.term) == ("AI", "artificial intelligence")
    assert there.key == back.key


def test_a_free_step_belongs_to_no_family() -> None:
    (paid,) = BridgeGraph([edge("a", "b")]).steps("b")
    (free,) = BridgeGraph([edge("a", "b", free=True)]).steps("b")
    assert paid.family
    assert paid.units == 6500
    assert not free.family
    assert free.units == 0


def test_an_edge_from_a_term_to_itself_leads_nowhere() -> None:
    loop = edge("a", "a", both_ways=True)
    assert BridgeGraph([loop]).steps("a") == ()
    assert BridgeGraph(sources=[Offering(loop)]).steps("a") == ()


def test_a_source_is_asked_once_about_a_term_and_only_when_the_term_comes_up() -> None:
    source = Offering(edge("car", "vehicle"))
    graph = BridgeGraph([edge("bike", "vehicle")], [source])
    assert source.asked == []
    first = graph.steps("vehicle")
    assert [step.term for step in first] == ["bike", "car"]
    assert graph.steps("vehicle") == first
    assert source.asked == ["vehicle"]


def test_an_edge_that_is_at_hand_and_on_offer_is_one_edge() -> None:
    known = edge("car", "vehicle", both_ways=True)
    graph = BridgeGraph([known]).with_sources(Offering(known), Offering(known))
    (there,), (back,) = graph.steps("vehicle"), graph.steps("car")
    assert there.key == back.key


def test_two_offers_of_one_edge_at_its_two_ends_are_one_edge() -> None:
    graph = BridgeGraph(sources=[Offering(edge("car", "auto", both_ways=True))])
    assert graph.steps("car")[0].key == graph.steps("auto")[0].key


def test_edges_at_hand_and_offered_ones_never_share_a_key() -> None:
    graph = BridgeGraph([edge("bike", "vehicle")]).with_sources(Offering(edge("car", "vehicle")))
    assert len({step.key for step in graph.steps("vehicle")}) == 2


def test_a_source_that_offers_an_implying_edge_backwards_is_refused() -> None:
    graph = BridgeGraph(sources=[Offering(edge("TSMC", "chip supplier"))])
    with pytest.raises(InputError, match=r"Offering offered .* does not lead to 'TSMC'"):
        graph.steps("TSMC")


def test_asking_more_sources_leaves_the_graph_as_it_was() -> None:
    graph = BridgeGraph([edge("bike", "vehicle")])
    graph.with_sources(Offering(edge("car", "vehicle"))).steps("vehicle")
    assert [step.term for step in graph.steps("vehicle")] == ["bike"]


def test_the_names_of_a_thing_are_what_is_equivalent_for_sure() -> None:
    graph = BridgeGraph(
        [
            edge("TSMC", "Taiwan Semiconductor", Family.EXPRESSION, both_ways=True, free=True),
            edge("Taiwan Semiconductor", "TSM", Family.EXPRESSION, both_ways=True, free=True),
            edge("TSM", "T.S.M.", Family.EXPRESSION, both_ways=True),
            edge("TSMC", "chip supplier", free=True),
        ]
    )
    assert graph.names_of("TSM") == {"TSMC", "Taiwan Semiconductor", "TSM"}


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
