"""Suff@K: 1 when all gold spans are among the first K, else 0; nothing retrieved is 0."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Metric
from abstrag.bench.record import CaseRecord


def _suff(record: CaseRecord, k: int) -> float:
    return float(set(record.gold) <= set(record.ranked[:k]))


SUFF = Metric("Suff", _suff, 10, empty=1.0)
