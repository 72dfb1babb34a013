from __future__ import annotations

import math

import numpy as np
import pytest

from abstrag.errors import InputError, NotComputable
from abstrag.model.record import from_json, to_json
from abstrag.search.relevance import (
    AGGREGATIONS,
    ALIGNED,
    GENERAL,
    PAPER,
    PAPER_HARD,
    Pooling,
    Preset,
    Signal,
    blend,
    log_sum_exp,
    relevance,
    top_1,
    top_k_mean,
)


def one(value: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([value])


def test_the_papers_relevance_is_the_product_of_the_three_factors() -> None:
    assert relevance(one(0.5), one(0.8), one(1.1), PAPER)[0] == pytest.approx(
        0.5 * 0.8 * math.exp(-1.1)
    )


def test_exponents_weigh_the_factors() -> None:
    preset = Preset("own", match_power=2.0, utility_power=0.0, gap_rate=0.5)
    assert relevance(one(0.5), one(0.8), one(1.0), preset)[0] == pytest.approx(
        0.25 * math.exp(-0.5)
    )


def test_the_papers_presets_have_the_hard_gap() -> None:
    assert PAPER.hard_gap
    assert PAPER_HARD.hard_gap


@pytest.mark.parametrize("field", ["match_power", "utility_power", "gap_rate", "judge_weight"])
@pytest.mark.parametrize("value", [-0.1, math.nan])
def test_a_preset_that_could_break_dominance_is_refused(field: str, value: float) -> None:
    with pytest.raises(InputError, match=f"preset 'bad' has {field}"):
        Preset("bad", **{field: value})  # type: ignore[arg-type]


def test_a_preset_without_any_signal_is_refused() -> None:
    with pytest.raises(InputError, match="gives no part of Match a weight"):
        Preset("empty", coverage_weight=0.0)


def test_a_preset_is_read_back_as_it_was_written() -> None:
    preset = Preset("tuned", gap_rate=0.3, lexical_weight=0.5, pooling=Pooling.ODDS)
    assert from_json(Preset, to_json(preset)) == preset


@pytest.mark.parametrize(
    "factors", [(1.5, 1.0, 0.0), (-0.1, 1.0, 0.0), (0.5, -1.0, 0.0), (0.5, 1.0, -1.0)]
)
def test_factors_outside_their_range_are_refused(factors: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="Match lies in"):
        relevance(one(factors[0]), one(factors[1]), one(factors[2]))


def test_a_blend_is_the_weighted_mean() -> None:
    parts = {Signal.COVERAGE: one(1.0), Signal.LEXICAL: one(0.5), Signal.DENSE: one(0.9)}
    mixed = blend(parts, {Signal.COVERAGE: 3.0, Signal.LEXICAL: 1.0, Signal.DENSE: 0.0})
    assert mixed[0] == pytest.approx(3.5 / 4)


def test_in_odds_the_judge_is_held_to_what_the_others_lack() -> None:
    """Log-odds of Match = 2 · log(0.8 / 0.2) − 3 · (1 − 0.5) − 1 · (1 − 0.25)."""
    parts = {Signal.COVERAGE: one(0.5), Signal.DENSE: one(0.25), Signal.JUDGE: one(0.8)}
    weights = {Signal.COVERAGE: 3.0, Signal.DENSE: 1.0, Signal.JUDGE: 2.0}
    odds = 4.0**2 * math.exp(-2.25)
    assert blend(parts, weights, Pooling.ODDS)[0] == pytest.approx(odds / (1 + odds))


def test_in_odds_what_tells_two_segments_apart_counts_however_sure_the_judge_is() -> None:
    """A mean leaves a difference of coverage as it is; odds stay apart by the same factor."""
    parts = {Signal.COVERAGE: np.array([1.0, 0.0]), Signal.JUDGE: np.zeros(2)}
    for said in (0.02, 0.5, 0.98, 1.0):
        parts[Signal.JUDGE] = np.array([said, said])
        more, less = blend(parts, {Signal.COVERAGE: 1.5, Signal.JUDGE: 1.0}, Pooling.ODDS).tolist()
        assert (more / (1 - more)) / (less / (1 - less)) == pytest.approx(math.exp(1.5))


@pytest.mark.parametrize("pooling", Pooling)
def test_a_signal_with_a_weight_that_nobody_provides_is_an_error(pooling: Pooling) -> None:
    with pytest.raises(InputError, match="'dense' a weight of 1, but nothing provides it"):
        blend({Signal.COVERAGE: one(1.0)}, {Signal.COVERAGE: 1.0, Signal.DENSE: 1.0}, pooling)


@pytest.mark.parametrize("pooling", Pooling)
def test_a_negative_weight_is_an_error(pooling: Pooling) -> None:
    with pytest.raises(InputError, match="cannot be negative"):
        blend({Signal.COVERAGE: one(1.0)}, {Signal.COVERAGE: -1.0}, pooling)


@pytest.mark.parametrize("pooling", Pooling)
def test_a_blend_of_nothing_is_an_error(pooling: Pooling) -> None:
    with pytest.raises(InputError, match="no signal has a weight"):
        blend({Signal.COVERAGE: one(1.0)}, {Signal.COVERAGE: 0.0}, pooling)


def test_what_picks_for_the_judge_is_the_preset_without_it() -> None:
    assert GENERAL.unjudged.weights == ALIGNED.weights
    assert (GENERAL.unjudged.judged, GENERAL.unjudged.pooling) == (None, GENERAL.pooling)


@pytest.mark.parametrize("dense", [0.0, 2.0])
def test_where_only_the_judge_has_a_say_coverage_picks_for_it(dense: float) -> None:
    models = Preset(
        "models",
        pooling=Pooling.ODDS,
        coverage_weight=0.0,
        dense_weight=dense,
        judge_weight=1.0,
        judged=8,
    )
    counted = [Signal.DENSE] if dense else [Signal.COVERAGE]
    assert [s for s, weight in models.unjudged.weights.items() if weight] == counted


def test_documents_are_scored_by_their_best_segments() -> None:
    scores = [0.1, 0.9, 0.5, 0.3, 0.2, 0.4, 0.0]
    assert top_1(scores) == 0.9
    assert top_k_mean(scores) == pytest.approx((0.9 + 0.5 + 0.4 + 0.3 + 0.2) / 5)
    assert top_k_mean(scores, k=2) == pytest.approx(0.7)
    assert top_k_mean([0.4]) == 0.4
    assert log_sum_exp(scores) == pytest.approx(math.log(sum(math.exp(s) for s in scores)))


@pytest.mark.parametrize("name", sorted(AGGREGATIONS))
def test_a_document_without_segments_has_no_score(name: str) -> None:
    with pytest.raises(NotComputable):
        AGGREGATIONS[name]([])
