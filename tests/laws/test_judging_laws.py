"""Judging by bound finds what judging everything finds, beside other similarities as well."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.judging import judge_by_bound
from abstrag.search.relevance import Candidates, Pooling, Preset, Signal, blend, relevance
from abstrag.search.scoring import STATED

COARSE = st.integers(0, 4).map(lambda n: n / 4)  # coarse, so that ties are common
CANDIDATE = st.tuples(COARSE, COARSE, st.integers(0, 4), COARSE)  # match, utility, gap, verdict
ROW = st.tuples(CANDIDATE, COARSE, st.booleans())  # and dense similarity, and whether it is stated
SIMILAR = st.builds(
    Preset,
    st.just("similar"),
    *[st.sampled_from((0.0, 0.5, 1.0, 2.0))] * 3,
    pooling=st.just(Pooling.ODDS),
    coverage_weight=st.sampled_from((0.0, 1.0)),
    dense_weight=st.sampled_from((0.5, 2.0)),
    judge_weight=st.sampled_from((0.5, 1.0, 3.0)),
)


@given(
    st.lists(CANDIDATE, max_size=25),
    st.integers(1, 6),
    st.integers(1, 4),
    st.builds(
        Preset,
        st.just("drawn"),
        *[st.sampled_from((0.0, 0.5, 1.0, 2.0))] * 3,
        coverage_weight=st.sampled_from((0.0, 1.0)),
        judge_weight=st.sampled_from((0.5, 1.0, 3.0)),
        pooling=st.sampled_from(Pooling),
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=200)
def test_the_top_k_is_that_of_judging_everything(
    candidates: list[tuple[float, float, int, float]],
    k: int,
    batch: int,
    preset: Preset,
    random: object,
) -> None:
    rows = np.arange(len(candidates))
    match, utility, gap, verdict = (
        np.array([c[i] for c in candidates], dtype=np.float64) for i in range(4)
    )
    positions = rows.copy()
    random.shuffle(positions)  # type: ignore[attr-defined]
    asked: list[int] = []

    def judge(some: IntArray) -> list[float]:
        asked.extend(some.tolist())
        return [float(verdict[row]) for row in some]

    def score(some: IntArray, said: FloatArray) -> FloatArray:
        parts = {Signal.COVERAGE: match[some], Signal.JUDGE: said}
        mixed = blend(parts, preset.weights, preset.pooling)
        return relevance(mixed, utility[some], gap[some], preset)

    found = judge_by_bound(
        positions, score(rows, np.ones(len(rows))), judge, score, k=k, batch=batch
    )
    everything = score(rows, verdict)
    expected = sorted(rows.tolist(), key=lambda row: (-everything[row], positions[row]))[:k]
    assert list(found.order) == expected
    assert list(found.scores) == [everything[row] for row in expected]
    assert list(found.judgements) == [verdict[row] for row in expected]
    assert len(asked) == len(set(asked)) == found.made
    assert found.made + found.avoided == len(candidates)


@given(st.lists(COARSE, min_size=8, max_size=30), st.integers(1, 4))
@settings(max_examples=100)
def test_a_candidate_whose_bound_is_beaten_is_not_judged(values: list[float], k: int) -> None:
    bounds = np.array(values)
    found = judge_by_bound(
        np.arange(len(values)),
        bounds,
        lambda some: [1.0] * len(some),
        lambda some, said: bounds[some] * said,
        k=k,
    )
    kth = sorted(values, reverse=True)[k - 1]
    assert found.made == sum(value >= kth for value in values)


class Laid:
    """Candidates with a similarity besides coverage."""

    def __init__(self, drawn: list[tuple[tuple[float, float, int, float], float, bool]]) -> None:
        match, utility, gap, verdict = (
            np.array([candidate[i] for candidate, _, _ in drawn], dtype=np.float64)
            for i in range(4)
        )
        self.verdict = verdict
        near = np.array([dense for _, dense, _ in drawn], dtype=np.float64)
        self.candidates = Candidates(
            positions=np.arange(len(drawn)) + 7,  # not the rows
            signals={Signal.COVERAGE: match, Signal.DENSE: near},
            utility=utility,
            gap=gap,
            stated=np.array([STATED if stated else 0.0 for _, _, stated in drawn]),
        )

    def judge(self, some: IntArray) -> list[float]:
        return [float(self.verdict[row]) for row in some]


@given(st.lists(ROW, max_size=25), st.integers(1, 6), st.integers(1, 4), SIMILAR)
@settings(max_examples=200)
def test_with_similarities_the_top_k_is_still_that_of_judging_everything(
    drawn: list[tuple[tuple[float, float, int, float], float, bool]],
    k: int,
    batch: int,
    preset: Preset,
) -> None:
    laid = Laid(drawn)
    rows = np.arange(len(drawn))

    def score(some: IntArray, said: FloatArray) -> FloatArray:
        return laid.candidates.score(preset, said, some)

    bounds = score(rows, np.ones(len(rows)))
    everything = score(rows, laid.verdict)
    assert np.all(everything <= bounds)
    found = judge_by_bound(laid.candidates.positions, bounds, laid.judge, score, k=k, batch=batch)
    expected = sorted(rows.tolist(), key=lambda row: (-everything[row], row))[:k]
    assert list(found.order) == expected
    assert list(found.scores) == [everything[row] for row in expected]
    assert list(found.judgements) == [laid.verdict[row] for row in expected]
