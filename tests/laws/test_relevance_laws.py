"""Cost, match and relevance: the paper's lemma and what the search relies on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.bridges.cost import Aggregator, additive, bottleneck, cost, total
from abstrag.model.query import Bridge
from abstrag.rank.match import Coverage, Signal, blend
from abstrag.rank.relevance import PRESETS, Preset, relevance
from abstrag.testing.strategies import edges

UNIT = st.floats(0.0, 1.0)
POWERS = st.floats(0.0, 5.0)
AGGREGATORS = st.sampled_from((additive, bottleneck))
BRIDGES = edges().map(Bridge.over)


@st.composite
def presets(draw: st.DrawFn) -> Preset:
    return draw(
        st.sampled_from(list(PRESETS.values()))
        | st.builds(
            Preset,
            st.just("drawn"),
            POWERS,
            POWERS,
            POWERS,
            st.booleans(),
            st.sampled_from(Coverage),
        )
    )


@given(
    presets(),
    st.tuples(UNIT, UNIT),
    st.tuples(st.floats(0, 3), st.floats(0, 3)),
    st.tuples(st.floats(0, 4), st.floats(0, 4)),
)
@settings(max_examples=200)
def test_no_worse_on_all_three_factors_is_never_ranked_lower(
    preset: Preset,
    match: tuple[float, float],
    utility: tuple[float, float],
    gap: tuple[float, float],
) -> None:
    """Lemma 3.2, for every preset and in floats."""
    worse, better = relevance(
        np.sort(match), np.sort(utility), np.sort(gap)[::-1].copy(), preset
    ).tolist()
    assert better >= worse


@given(presets(), UNIT, st.floats(0, 4), st.integers(1, 40))
def test_a_hair_more_gap_never_helps(preset: Preset, match: float, gap: float, hairs: int) -> None:
    wider = gap
    for _ in range(hairs):
        wider = float(np.nextafter(wider, 9.0))
    near, far = relevance(
        np.array([match, match]), np.ones(2), np.array([gap, wider]), preset
    ).tolist()
    assert near >= far


@given(st.sets(BRIDGES, max_size=5), BRIDGES, AGGREGATORS)
def test_one_more_bridge_is_never_cheaper_and_none_is_free(
    some: set[Bridge], one_more: Bridge, add: Aggregator
) -> None:
    assert cost([], add) == 0
    assert cost(some, add) >= 0
    assert cost(some | {one_more}, add) >= cost(some, add)
    assert cost([*some, *some], add) == cost(some, add)


@given(st.lists(st.integers(0, 50_000), max_size=6), st.randoms(use_true_random=False), AGGREGATORS)
def test_order_and_grouping_of_costs_do_not_matter(
    units: list[int], random: object, add: Aggregator
) -> None:
    shuffled = list(units)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    half = len(units) // 2
    assert total(shuffled, add) == total(units, add)
    assert add(total(units[:half], add), total(units[half:], add)) == total(units, add)
    assert add(total(units, add), 0) == total(units, add)


@given(
    st.lists(st.tuples(UNIT, UNIT), min_size=4, max_size=4),
    st.lists(POWERS, min_size=4, max_size=4),
)
def test_more_of_any_signal_never_lowers_match(
    values: list[tuple[float, float]], weights: list[float]
) -> None:
    if not any(weights):
        weights = [1.0, *weights[1:]]
    names = dict(zip(Signal, weights, strict=True))
    low, high = blend(
        {signal: np.array(sorted(pair)) for signal, pair in zip(Signal, values, strict=True)},
        names,
    ).tolist()
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_perfect_segment_scores_its_utility_as_the_preset_weighs_it(preset: Preset) -> None:
    one, expected = np.ones(1), 0.7**preset.utility_power
    assert relevance(one, one * 0.7, np.zeros(1), preset).tolist() == pytest.approx([expected])
