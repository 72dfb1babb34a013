"""Preserved: of the cases solved before an accepted update, the share still solved after it."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Metric, lacking
from abstrag.bench.record import CaseRecord


def _preserved(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.preserved is None:
        raise lacking("Preserved", "an accepted update after a solved state", record)
    return float(record.preserved)


PRESERVED = Metric("Preserved", _preserved)
