"""Cost, match and relevance: the paper's lemma and what the search relies on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.model.query import Bridge
from abstrag.search.bridges.paths import Aggregator, additive, bottleneck, cost, total
from abstrag.search.relevance import (
    CERTAIN,
    PRESETS,
    Coverage,
    Pooling,
    Preset,
    Signal,
    blend,
    relevance,
)
from tests.worlds import edges

UNIT = st.floats(0.0, 1.0)
POWERS = st.floats(0.0, 5.0)
POOLINGS = st.sampled_from(Pooling)
AGGREGATORS = st.sampled_from((additive, bottleneck))
UNALIGNED = (Signal.COVERAGE, Signal.LEXICAL, Signal.DENSE, Signal.JUDGE)
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
            POOLINGS,
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
    st.lists(st.tuples(UNIT, UNIT), min_size=5, max_size=5),
    st.lists(POWERS, min_size=5, max_size=5),
    POOLINGS,
)
def test_more_of_any_signal_never_lowers_match(
    values: list[tuple[float, float]], weights: list[float], pooling: Pooling
) -> None:
    low, high = blend(
        {signal: np.array(sorted(pair)) for signal, pair in zip(Signal, values, strict=True)},
        _weighted(weights),
        pooling,
    ).tolist()
    assert 0.0 <= low <= high <= 1.0


def _weighted(weights: list[float]) -> dict[Signal, float]:
    """Give the signals their weights, and coverage one where none has any."""
    if not any(weights):
        weights = [1.0, *weights[1:]]
    return dict(zip(Signal, weights, strict=True))


@given(
    st.lists(UNIT, min_size=5, max_size=5),
    st.lists(POWERS, min_size=5, max_size=5),
    POOLINGS,
)
def test_what_a_judge_of_one_would_give_is_the_most_it_can_give(
    values: list[float], weights: list[float], pooling: Pooling
) -> None:
    """Judging by bound stops where this bound says so, and late similarity only adds to less."""
    parts = {signal: np.array([value]) for signal, value in zip(Signal, values, strict=True)}
    weighted = _weighted(weights)
    (bound,) = blend({**parts, Signal.JUDGE: np.ones(1)}, weighted, pooling).tolist()
    (said,) = blend(parts, weighted, pooling).tolist()
    (unread,) = blend(
        {**parts, Signal.JUDGE: np.zeros(1), Signal.DENSE: np.zeros(1)}, weighted, pooling
    ).tolist()
    assert unread <= said <= bound


@given(st.lists(POWERS, min_size=5, max_size=5))
def test_in_odds_a_perfect_segment_and_an_undecided_judge_are_even(weights: list[float]) -> None:
    ones = {signal: np.ones(1) for signal in Signal}
    parts = {**ones, Signal.JUDGE: np.array([0.5])}
    assert blend(parts, _weighted(weights), Pooling.ODDS).tolist() == [0.5]


@given(st.floats(1e-3, 1 - 1e-3), st.lists(UNIT, min_size=3, max_size=3))
def test_in_odds_what_is_lacking_divides_the_judges_odds(said: float, values: list[float]) -> None:
    """Of weight 1: a signal that is not there at all divides them by e."""
    parts = {s: np.array([v]) for s, v in zip(UNALIGNED, [*values, said], strict=True)}
    weights = {Signal.COVERAGE: 1.0, Signal.LEXICAL: 0.5, Signal.DENSE: 2.0, Signal.JUDGE: 1.0}
    lacking = sum(weights[s] * (1 - v) for s, v in zip(weights, values, strict=False))
    odds = said / (1 - said) / np.exp(lacking)
    assert blend(parts, weights, Pooling.ODDS).tolist() == pytest.approx([odds / (1 + odds)])


@given(st.lists(UNIT, min_size=4, max_size=4), st.lists(POWERS, min_size=5, max_size=5))
def test_in_odds_a_certain_judge_leaves_the_others_their_say(
    values: list[float], weights: list[float]
) -> None:
    """Certainty is capped, so that a judge of 0 or 1 is finite and drowns nobody."""
    weighted = _weighted(weights)
    surest = 1 / (1 + np.exp(-CERTAIN))
    parts = {s: np.full(2, v) for s, v in zip(Signal, [*values[:3], 0.0, values[3]], strict=True)}
    parts[Signal.JUDGE] = np.array([0.0, 1.0])
    capped = {**parts, Signal.JUDGE: np.array([1 - surest, surest])}
    found = blend(parts, weighted, Pooling.ODDS)
    assert found == pytest.approx(blend(capped, weighted, Pooling.ODDS))
    assert np.all((found > 0) & (found < 1))


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_perfect_segment_scores_its_utility_as_the_preset_weighs_it(preset: Preset) -> None:
    one, expected = np.ones(1), 0.7**preset.utility_power
    found = relevance(one, one * 0.7, np.zeros(1), preset).tolist()
    assert found == pytest.approx([expected], rel=1e-4)  # a product is made of whole units
