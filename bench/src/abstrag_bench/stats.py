"""Statistics of paired comparisons: bootstrap intervals, two-sided p-values, Holm's correction.

One set of resamples serves every system and metric over the same cases, so that each replicate
scores all of them on the same draw. Data sets are never pooled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from abstrag.errors import NotComputable
from abstrag.model.record import record

RESAMPLES: Final = 10_000
SEED: Final = 20_240_515
LEVEL: Final = 0.95
ALPHA: Final = 0.05
_CHUNK: Final = 4_000_000  # resampled cases held in memory at a time

FloatArray = npt.NDArray[np.float64]


@record
class BootstrapInterval:
    """A mean over `n` cases and its bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


@record
class PairedDifference:
    """A paired difference, its interval, and the two-sided p that it is none."""

    mean: float
    low: float
    high: float
    n: int
    p: float

    @property
    def excludes_zero(self) -> bool:
        """True when zero lies outside of the interval."""
        return self.low > 0 or self.high < 0


def resampled_means(
    columns: FloatArray, *, resamples: int = RESAMPLES, seed: int = SEED
) -> FloatArray:
    """Return the means of each column over resamples of the rows, `resamples` × columns.

    How often each row is drawn is counted first, so that a resample of every column at once is one
    row of a matrix product.
    """
    n = len(columns)
    if n == 0:
        raise NotComputable("nothing can be resampled from no cases")
    generator = np.random.default_rng(seed)
    step = max(1, _CHUNK // n)
    parts = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = generator.integers(0, n, size=(size, n), dtype=np.int64)
        drawn += n * np.arange(size)[:, np.newaxis]  # each resample counts in bins of its own
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        parts.append(counts.astype(np.float64) @ columns / n)
    return np.concatenate(parts)


def intervals(columns: FloatArray) -> list[BootstrapInterval]:
    """Return mean and interval of each column; a row is a case."""
    low, high = _quantiles(resampled_means(columns))
    return [
        BootstrapInterval(float(m), float(a), float(b), len(columns))
        for m, a, b in zip(columns.mean(axis=0), low, high, strict=True)
    ]


def differences(
    columns: FloatArray, *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[PairedDifference]:
    """Return mean, interval and p of each column of paired differences; a row is a case."""
    means = resampled_means(columns, resamples=resamples, seed=seed)
    low, high = _quantiles(means)
    return [
        PairedDifference(float(m), float(a), float(b), len(columns), two_sided_p(means[:, j]))
        for j, (m, a, b) in enumerate(zip(columns.mean(axis=0), low, high, strict=True))
    ]


def two_sided_p(resampled: FloatArray) -> float:
    """Return twice the smaller share of resampled differences on either side of zero.

    The sample itself is counted as one resample, so that p is never 0: with B resamples nothing
    below 2/(B + 1) can be told.
    """
    size = len(resampled)
    tiny = 1e-12  # a difference that is nothing but rounding lies on both sides
    below, above = int(np.sum(resampled <= tiny)), int(np.sum(resampled >= -tiny))
    return min(1.0, 2 * (min(below, above) + 1) / (size + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm–Bonferroni adjusted p-values, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def significant(difference: PairedDifference, adjusted_p: float) -> bool:
    """True when the adjusted p is below 0.05 and the interval excludes zero."""
    return adjusted_p < ALPHA and difference.excludes_zero


def _quantiles(means: FloatArray) -> tuple[FloatArray, FloatArray]:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


Key = TypeVar("Key")
Found = TypeVar("Found")
Cells = Mapping[Key, Mapping[str, float]]  # what → case → value


def interval_of_each(cells: Cells[Key]) -> dict[Key, BootstrapInterval]:
    """Return mean and interval of every cell."""
    return _of_each(cells, intervals)


def difference_of_each(cells: Cells[Key]) -> dict[Key, PairedDifference]:
    """Return mean, interval and p of every cell of paired differences."""
    return _of_each(cells, differences)


def tested(pairs: Cells[Key]) -> Iterator[tuple[Key, PairedDifference, float]]:
    """Test every cell of paired differences; the p that comes with each is Holm's over them all."""
    made = difference_of_each(pairs)
    adjusted = holm([difference.p for difference in made.values()])
    return zip(made, made.values(), adjusted, strict=True)


def paired(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """Return ours less theirs on the cases both have."""
    return {case: ours[case] - theirs[case] for case in ours if case in theirs}


def _of_each(
    cells: Cells[Key], statistic: Callable[[FloatArray], Sequence[Found]]
) -> dict[Key, Found]:
    """Compute a statistic of every cell; cells over the same cases share their resamples."""
    grouped: dict[tuple[str, ...], list[Key]] = {}
    for key, by_case in cells.items():
        grouped.setdefault(tuple(sorted(by_case)), []).append(key)
    made: dict[Key, Found] = {}
    for cases, keys in grouped.items():
        columns = [[cells[key][case] for key in keys] for case in cases]
        made.update(zip(keys, statistic(np.array(columns, dtype=np.float64)), strict=True))
    return {key: made[key] for key in cells}
