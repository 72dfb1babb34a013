"""MRR@K: one over the rank of the first gold span, 0 when none is among the first K."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Metric
from abstrag.bench.record import CaseRecord


def _mrr(record: CaseRecord, k: int) -> float:
    gold = set(record.gold)
    return next((1 / (i + 1) for i, span in enumerate(record.ranked[:k]) if span in gold), 0.0)


MRR = Metric("MRR", _mrr, 10, empty=0.0)
