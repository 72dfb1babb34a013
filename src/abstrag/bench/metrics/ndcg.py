"""nDCG@K with binary gain: what the gold spans' ranks are worth, against the best order."""

from __future__ import annotations

from math import log2

from abstrag.bench.metrics.metric import Metric
from abstrag.bench.record import CaseRecord


def _ndcg(record: CaseRecord, k: int) -> float:
    gold = set(record.gold)
    gain = sum(1 / log2(i + 2) for i, span in enumerate(record.ranked[:k]) if span in gold)
    return gain / sum(1 / log2(i + 2) for i in range(min(k, len(gold))))


NDCG = Metric("nDCG", _ndcg, 10, empty=0.0)
