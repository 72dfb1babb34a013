from __future__ import annotations

from abstrag.search.bridges.paths import Offer, bottleneck, undominated
from abstrag.search.bridges.steiner import cheapest, combinations

PRICES = {1: 1000, 2: 2000}


def offer(private: int, *shared: int, at: int = 0) -> Offer:
    return Offer(None, private, frozenset(shared), at)


def test_an_edge_used_for_two_literals_is_paid_once() -> None:
    found = cheapest([[offer(500, 1)], [offer(700, 1)]], PRICES)
    assert found is not None
    assert found.units == 500 + 700 + 1000


def test_a_dearer_way_pays_off_in_company() -> None:
    apart, common = offer(900, at=0), offer(0, 1, at=1)
    found = cheapest([[apart, common], [apart, common]], PRICES)
    assert found is not None
    assert found.units == 1000
    assert found.offers == (common, common)


def test_a_dearer_way_is_left_alone_where_nobody_shares_it() -> None:
    apart, common = offer(900, at=0), offer(0, 1, at=1)
    found = cheapest([[apart, common], [offer(300)]], PRICES)
    assert found is not None
    assert found.units == 1200
    assert found.offers[0] == apart


def test_the_callers_own_offers_come_back() -> None:
    rows = [[offer(10, 1, at=4), offer(5, 2, at=7)], [offer(3, 2, at=1)]]
    found = cheapest(rows, PRICES)
    assert found is not None
    assert found.offers == (rows[0][1], rows[1][0])
    assert found.units == 5 + 3 + 2000


def test_nothing_is_found_where_a_literal_has_no_offer_or_the_limit_is_too_low() -> None:
    rows = [[offer(500, 1)], [offer(700, 1)]]
    assert cheapest([*rows, []], PRICES) is None
    assert cheapest(rows, PRICES, limit=2199) is None
    assert cheapest(rows, PRICES, limit=2200) is not None


def test_no_literals_cost_nothing() -> None:
    found = cheapest([], PRICES)
    assert found is not None
    assert found.units == 0


def test_under_another_aggregator_the_dearest_bridge_decides() -> None:
    found = cheapest([[offer(500, 2)], [offer(700)]], PRICES, aggregator=bottleneck)
    assert found is not None
    assert found.units == 2000


def test_an_offer_goes_only_when_another_can_replace_it_in_any_company() -> None:
    lone, common, both, waste = offer(900), offer(0, 1), offer(0, 1, 2), offer(1000)
    assert undominated([waste, both, common, lone], PRICES) == [lone, common]


def test_combinations_come_in_order_of_what_they_cost_together() -> None:
    rows = [[offer(0, at=0), offer(100, 1, at=1)], [offer(0, at=0), offer(50, 1, at=1)]]
    made = [(c.units, [o.at for o in c.offers]) for c in combinations(rows, PRICES, limit=9999)]
    assert made == [(0, [0, 0]), (1050, [0, 1]), (1100, [1, 0]), (1150, [1, 1])]


def test_combinations_beyond_the_limit_do_not_come() -> None:
    rows = [[offer(0), offer(100)], [offer(0), offer(100)]]
    assert [c.units for c in combinations(rows, {}, limit=100)] == [0, 100, 100]
