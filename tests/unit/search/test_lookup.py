"""Gap: what a whole query costs, in full and in part."""

from __future__ import annotations

import pytest

from abstrag.model.query import Query
from abstrag.model.term import Family, Mention
from abstrag.search.costed_index import CostedIndex
from abstrag.search.lookup import Lookup, gaps
from abstrag.search.trace import trace
from tests.worlds import edge, literal, query

A, B, C = (literal(f"concept:{name}") for name in "abc")


def lookup(*present: str, tau: float = 1.5) -> Lookup:
    index = CostedIndex(
        [Mention(f"concept:{term}", 0, 0, 1) for term in present],
        edges=[
            edge("concept:a2", "concept:a", Family.CONCEPT, distance=0.15),  # 0.80
            edge("concept:b2", "concept:b", Family.EVENT, distance=0.30),  # 1.20
        ],
    )
    return Lookup(index, query(A, B, C, weights=(0.5, 0.3, 0.2)), tau=tau)


def test_a_query_met_in_full_has_the_gap_of_its_bridges() -> None:
    found = gaps(lookup("a2", "b", "c"))
    assert found.gap.tolist() == [0.8]
    assert found.soft[0] == pytest.approx(0.5 * 0.2)


def test_a_query_met_in_part_has_the_smooth_gap() -> None:
    found = gaps(lookup("a2", "c"))
    soft = 0.5 * 0.8 / 4 + 0.3 + 0
    assert found.share[0] == pytest.approx(0.7)
    assert found.soft[0] == pytest.approx(soft)
    assert found.gap[0] == pytest.approx(1.5 + 2.5 * soft)


def test_a_literal_over_the_budget_counts_as_unmet() -> None:
    found = gaps(lookup("a", "b2", "c", tau=1.1))
    assert found.share[0] == pytest.approx(0.7)
    assert found.soft[0] == pytest.approx(0.3)


def test_over_budget_together_is_smooth_but_not_reachable() -> None:
    over = lookup("a2", "b2", "c")
    found = gaps(over)
    assert not found.reachable[0]
    assert found.share[0] == 1.0
    assert found.gap[0] == pytest.approx(1.5 + 2.5 * (0.5 * 0.2 + 0.3 * 0.3))
    assert trace(over, found, 0).over_budget_by == pytest.approx(0.5)


def test_a_dear_reachable_query_may_have_less_gap_than_its_bridges_cost() -> None:
    found = gaps(lookup("a2", "b2", "c", tau=2.0))
    assert found.reachable[0]
    assert found.gap[0] == pytest.approx(1.5 + 2.5 * (0.5 * 0.2 + 0.3 * 0.3))
    assert gaps(lookup("a2", "b2", "c", tau=2.0), hard=True).gap.tolist() == [2.0]


def test_the_hard_gap_of_what_is_not_reachable_is_the_cap() -> None:
    assert gaps(lookup("a", "b"), hard=True).gap.tolist() == [4.0]


def test_a_literal_out_of_the_budget_shows_how_far_away_it_is() -> None:
    short = lookup("b2", tau=1.0)
    first, second, third = trace(short, gaps(short), 0).literals
    assert (first.met, first.distance) == (False, None)
    assert (second.met, second.distance, second.via) == (False, 1.2, "concept:b2")
    assert third.distance is None


def test_a_query_that_asks_nothing_is_met_by_everything() -> None:
    found = gaps(Lookup(CostedIndex([Mention("concept:a", 0, 0, 1)]), Query("", ())))
    assert (found.rest_gap, found.rest_share) == (0.0, 1.0)
    assert found.segments.tolist() == []
