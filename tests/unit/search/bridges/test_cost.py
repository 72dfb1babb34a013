from __future__ import annotations

import math

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.model.query import Bridge
from abstrag.model.term import Family
from abstrag.search.bridges.paths import additive, bottleneck, budget, cost, to_units
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
