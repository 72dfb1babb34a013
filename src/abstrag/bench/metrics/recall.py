"""R@K: the share of the gold spans among the first K."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Metric
from abstrag.bench.record import CaseRecord


def _recall(record: CaseRecord, k: int) -> float:
    gold = set(record.gold)
    return len(gold & set(record.ranked[:k])) / len(gold)


RECALL = Metric("R", _recall, 10, empty=1.0)
