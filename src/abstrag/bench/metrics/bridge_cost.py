"""Cost/τ: the cost of the accepted clause as a share of the budget."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Better, Metric, lacking
from abstrag.bench.record import CaseRecord


def _normalized(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.bridge_cost is None:
        raise lacking("Cost/τ", "the cost of an accepted clause", record)
    if not record.tau:
        raise lacking("Cost/τ", "a budget above 0", record)
    return record.bridge_cost / record.tau


BRIDGE_COST = Metric("Cost/τ", _normalized, better=Better.LOWER, scale=1.0)
