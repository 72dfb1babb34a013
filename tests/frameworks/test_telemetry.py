"""Spans as OpenTelemetry's own SDK records them."""

from pathlib import Path
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from abstrag.errors import ModelError
from abstrag.llm.settings import Price
from tests.frameworks.ferries import QUERY, ferry_store
from tests.unit.llm.faulty import says, serving, status
from tests.unit.llm.makers import asking, request

EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> None:
    """Set up the SDK, which a process can do once."""
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(made)


@pytest.fixture(autouse=True)
def _forget() -> None:
    EXPORTER.clear()


def spans(name: str) -> list[Any]:
    return [each for each in EXPORTER.get_finished_spans() if each.name == name]


def test_indexing_searching_and_judging_are_recorded_without_any_words() -> None:
    with ferry_store() as rag:
        rag.search(QUERY, k=2, document="ferries")
        rag.search_all(QUERY, k=1)
    assert [each.attributes["abstrag.document"] for each in spans("abstrag.index")] == [
        "ferries",
        "weather",
    ]
    (search,) = spans("abstrag.search")
    assert search.attributes["abstrag.k"] == search.attributes["abstrag.hits"] == 2
    judge = spans("abstrag.judge")[0]
    assert judge.parent.span_id == search.context.span_id
    assert judge.attributes["abstrag.segments"] > 0
    assert spans("abstrag.search_all")[0].attributes["abstrag.documents"] == 2
    assert "shipyard" not in " ".join(each.to_json() for each in EXPORTER.get_finished_spans())


def test_a_model_call_says_tokens_and_cost_by_the_conventions(tmp_path: Path) -> None:
    price = Price(input=1.0, output=2.0)
    with serving(says({"n": 3})) as server, asking(server.url, tmp_path, price=price) as model:
        reply = model.complete(request())
        model.complete(request())  # found in the log
    (call,) = spans("chat tester")
    assert call.kind is trace.SpanKind.CLIENT
    told = call.attributes
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == "tester"
    assert told["gen_ai.usage.input_tokens"] == reply.tokens_in > 0
    assert told["gen_ai.usage.output_tokens"] == reply.tokens_out > 0
    assert told["abstrag.cost_usd"] == reply.cost > 0
    assert told["server.address"] == "127.0.0.1"


def test_a_call_that_fails_is_recorded_as_failed(tmp_path: Path) -> None:
    with (
        serving(status(401, "no")) as server,
        asking(server.url, tmp_path) as model,
        pytest.raises(ModelError),
    ):
        model.complete(request())
    (call,) = spans("chat tester")
    assert call.status.status_code is trace.StatusCode.ERROR


def test_metrics_say_how_long_work_took_and_how_many_tokens_it_used(tmp_path: Path) -> None:
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    with ferry_store() as rag:
        rag.search(QUERY, k=2, document="ferries")
    with serving(says({"n": 3})) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request())
    data = reader.get_metrics_data()
    assert data is not None
    (scope,) = [one for each in data.resource_metrics for one in each.scope_metrics if one.metrics]
    found = {one.name: one.data.data_points for one in scope.metrics}
    assert scope.scope.name == "abstrag"
    work = {point.attributes["abstrag.operation"] for point in found["abstrag.operation.duration"]}
    assert {"abstrag.index", "abstrag.search", "chat"} <= work
    used = {p.attributes["gen_ai.token.type"]: p.sum for p in found["gen_ai.client.token.usage"]}
    assert used == {"input": reply.tokens_in, "output": reply.tokens_out}
