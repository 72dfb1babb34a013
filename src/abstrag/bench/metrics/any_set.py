"""AnySuff@K: 1 when one alternative gold set is wholly among the first K, else 0."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Metric
from abstrag.bench.record import CaseRecord


def _any_set(record: CaseRecord, k: int) -> float:
    top = set(record.ranked[:k])
    return float(any(top.issuperset(one) for one in record.gold_sets or (record.gold,)))


ANY_SET = Metric("AnySuff", _any_set, 10, empty=1.0)
