"""OverExp@K: 1 when a span that is no gold is among the first K only because of a patch.

It must not have been there before the patches, and its bridges must be ones that a patch added.
"""

from __future__ import annotations

from abstrag.bench.metrics.metric import Better, Metric, lacking
from abstrag.bench.record import CaseRecord


def _over_expansion(record: CaseRecord, k: int) -> float:
    if record.ranked_before is None or record.patched is None:
        raise lacking("OverExp", "the ranking before any patch", record)
    entered = set(record.ranked[:k]) - set(record.ranked_before[:k]) - set(record.gold)
    return float(bool(entered & set(record.patched)))


OVER_EXPANSION = Metric("OverExp", _over_expansion, 10, better=Better.LOWER)
