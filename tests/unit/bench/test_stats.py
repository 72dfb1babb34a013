import numpy as np
import pytest

from abstrag.errors import NotComputable
from abstrag_bench.stats import (
    PairedDifference,
    difference_of_each,
    differences,
    holm,
    interval_of_each,
    intervals,
    significant,
    two_sided_p,
)


def test_the_interval_of_a_mean_is_where_theory_puts_it() -> None:
    column = np.random.default_rng(0).normal(0.3, 1.0, (400, 1))
    (found,) = intervals(column)
    error = column.std() / 20
    assert found.mean == pytest.approx(column.mean())
    assert found.low == pytest.approx(column.mean() - 1.96 * error, abs=0.01)
    assert found.high == pytest.approx(column.mean() + 1.96 * error, abs=0.01)


def test_the_same_data_give_the_same_figures_every_time() -> None:
    columns = np.random.default_rng(1).normal(size=(50, 3))
    assert differences(columns) == differences(columns)
    assert differences(columns, seed=1) != differences(columns, seed=2)


def test_a_column_does_not_depend_on_those_beside_it() -> None:
    columns = np.random.default_rng(1).normal(size=(50, 3))
    together = differences(columns)
    alone = differences(columns[:, 1:2])[0]
    assert together[1].low == pytest.approx(alone.low)
    assert together[1].p == pytest.approx(alone.p)


def test_equal_systems_differ_by_nothing_at_p_one() -> None:
    (found,) = differences(np.zeros((30, 1)))
    assert (found.mean, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert not found.excludes_zero


def test_p_is_twice_the_share_on_the_other_side_and_never_zero() -> None:
    resampled = np.array([1.0] * 990 + [-1.0] * 10)
    assert two_sided_p(resampled) == pytest.approx(2 * 11 / 1001)
    assert two_sided_p(-resampled) == two_sided_p(resampled)
    assert two_sided_p(np.ones(9999)) == pytest.approx(2 / 10_000)


def test_p_is_uniform_enough_when_there_is_no_difference() -> None:
    generator = np.random.default_rng(3)
    columns = generator.normal(size=(100, 200))
    rejected = sum(d.p < 0.05 for d in differences(columns, resamples=2000))
    assert 2 <= rejected <= 22  # about one in twenty of 200


def test_holm_multiplies_step_by_step_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_significant_takes_both_the_corrected_p_and_the_interval() -> None:
    clear = PairedDifference(0.1, 0.05, 0.15, 50, 0.001)
    assert significant(clear, 0.04)
    assert not significant(clear, 0.06)
    assert not significant(PairedDifference(0.1, -0.01, 0.2, 50, 0.001), 0.04)


def test_cells_over_other_cases_keep_their_own_number() -> None:
    cells = {"a": {"1": 1.0, "2": 0.0}, "b": {"1": 1.0}, "c": {"2": 0.5, "1": 0.5}}
    found = interval_of_each(cells)
    assert list(found) == ["a", "b", "c"]
    assert [one.n for one in found.values()] == [2, 1, 2]
    assert found["c"].mean == 0.5
    assert difference_of_each({"b": {"1": 0.0}})["b"].p == 1.0


def test_of_no_cases_nothing_can_be_said() -> None:
    with pytest.raises(NotComputable):
        intervals(np.zeros((0, 1)))
