"""Effort: seconds a query, judgements and model calls. Nobody's zero: unknown is not computable."""

from __future__ import annotations

from abstrag.bench.metrics.metric import Better, Metric, lacking
from abstrag.bench.record import CaseRecord


def _seconds(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.seconds is None:
        raise lacking("ms/query", "a timing", record)
    return record.seconds


def _judgements(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.judgements is None:
        raise lacking("Judgements", "a judge", record)
    return float(record.judgements)


def _llm_calls(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.llm_calls is None:
        raise lacking("LLM calls", "a language model", record)
    return float(record.llm_calls)


SECONDS = Metric("ms/query", _seconds, better=Better.LOWER, scale=1000.0)
JUDGEMENTS = Metric("Judgements", _judgements, better=Better.LOWER, scale=1.0)
LLM_CALLS = Metric("LLM calls", _llm_calls, better=Better.LOWER, scale=1.0)
