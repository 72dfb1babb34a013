from __future__ import annotations

from collections.abc import Iterable

import pytest

from abstrag.errors import InputError
from abstrag.model.term import Edge, Family
from abstrag.search.bridges.paths import BridgeGraph
from tests.worlds import edge


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
