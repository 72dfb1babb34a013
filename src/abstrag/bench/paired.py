"""Bootstrap many cells at once: those over exactly the same cases share their resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from abstrag.bench.stats import (
    BootstrapInterval,
    FloatArray,
    PairedDifference,
    differences,
    intervals,
)

Key = TypeVar("Key")
Cells = Mapping[Key, Mapping[str, float]]  # what → case → value


def interval_of_each(cells: Cells[Key]) -> dict[Key, BootstrapInterval]:
    """Return mean and interval of every cell."""
    made: dict[Key, BootstrapInterval] = {}
    for cases, keys in _by_cases(cells).items():
        made.update(zip(keys, intervals(_columns(cells, keys, cases)), strict=True))
    return {key: made[key] for key in cells}


def difference_of_each(cells: Cells[Key]) -> dict[Key, PairedDifference]:
    """Return mean, interval and p of every cell of paired differences."""
    made: dict[Key, PairedDifference] = {}
    for cases, keys in _by_cases(cells).items():
        made.update(zip(keys, differences(_columns(cells, keys, cases)), strict=True))
    return {key: made[key] for key in cells}


def paired(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """Return ours less theirs on the cases both have."""
    return {case: ours[case] - theirs[case] for case in ours if case in theirs}


def _by_cases(cells: Cells[Key]) -> dict[tuple[str, ...], list[Key]]:
    grouped: dict[tuple[str, ...], list[Key]] = {}
    for key, by_case in cells.items():
        grouped.setdefault(tuple(sorted(by_case)), []).append(key)
    return grouped


def _columns(cells: Cells[Key], keys: Sequence[Key], cases: Sequence[str]) -> FloatArray:
    return np.array([[cells[key][case] for key in keys] for case in cases], dtype=np.float64)
