"""What a server counts, and how it logs."""

import io
import json
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.server.metrics import CONTENT_TYPE, JsonLines, Metrics
from tests.unit.server.running import Client, running, store_with_demo

LINE = re.compile(r'^[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)*\})? (\d+(\.\d+)?([eE][+-]?\d+)?)$')
SECRET = "Which sesame does Ali open?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_with_demo(tmp_path_factory.mktemp("metrics") / "store.db")


@pytest.fixture
def client(store: Path) -> Iterator[Client]:
    with running(store) as made:
        yield made


def values(client: Client) -> dict[str, float]:
    told = client.get("/metrics")
    assert told.status == 200
    assert told.headers["content-type"] == CONTENT_TYPE
    found = {}
    for line in told.body.decode().splitlines():
        if line.startswith("#"):
            assert re.match(r"# (HELP|TYPE) abstrag_", line)
            continue
        assert LINE.match(line), line
        name, _, value = line.rpartition(" ")
        found[name] = float(value)
    return found


def test_requests_and_the_work_behind_them_are_counted(client: Client) -> None:
    body = {"query": "Who visited TSMC?", "judge": False}
    for _ in range(2):
        assert client.post("/api/documents/chips/search", body).status == 200
    assert client.get("/api/documents/nothing").status == 404
    assert client.get("/wp-login.php").status == 404
    found = values(client)
    search = "/api/documents/{document}/search"
    assert found[f'abstrag_http_requests_total{{method="POST",route="{search}",status="200"}}'] == 2
    shown = "/api/documents/{document}"
    assert found[f'abstrag_http_requests_total{{method="GET",route="{shown}",status="404"}}'] == 1
    assert found['abstrag_http_requests_total{method="GET",route="other",status="404"}'] == 1
    assert found['abstrag_operation_seconds_count{operation="abstrag.search"}'] == 2
    assert found[f'abstrag_http_request_seconds_bucket{{route="{search}",le="+Inf"}}'] == 2
    assert found["abstrag_documents"] == 1
    assert found['abstrag_requests_inside{kind="judged"}'] == 0


def test_a_file_that_was_indexed_is_a_job_that_is_done(client: Client) -> None:
    done = 'abstrag_jobs_total{state="done"}'
    before = values(client).get(done, 0)
    made = client.indexed("note.txt", b"A short note about the weather in Bern.")
    assert made["state"] == "done"
    assert values(client)[done] == before + 1
    client.call("DELETE", f"/api/documents/{made['document']}")


def test_buckets_add_up_and_labels_are_escaped() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.3, 500.0):
        metrics.request("GET", '/a"b\\', 200, seconds)
    text = metrics.text({})
    labels = r'route="/a\"b\\"'
    assert f'abstrag_http_request_seconds_bucket{{{labels},le="0.005"}} 1\n' in text
    assert f'abstrag_http_request_seconds_bucket{{{labels},le="0.5"}} 2\n' in text
    assert f'abstrag_http_request_seconds_bucket{{{labels},le="+Inf"}} 3\n' in text
    assert f"abstrag_http_request_seconds_sum{{{labels}}} 500.301000\n" in text


def test_metrics_need_the_token_where_there_is_one(store: Path) -> None:
    with running(store, token="open-sesame") as guarded:
        assert guarded.get("/metrics").status == 401
        assert guarded.get("/metrics", Authorization="Bearer open-sesame").status == 200


def test_a_request_is_logged_as_json_with_the_number_of_its_answer(client: Client) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    log = logging.getLogger("abstrag.access")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        answer = client.post("/api/documents/chips/search", {"query": SECRET, "judge": False})
        deadline = time.monotonic() + 20
        while not stream.getvalue():  # the line is written when the answer has left
            assert time.monotonic() < deadline, "nothing was logged"
            time.sleep(0.02)
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    (told,) = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert told["request"] == answer.headers["x-request-id"]
    assert (told["method"], told["status"], told["level"]) == ("POST", answer.status, "info")
    assert told["route"] == "/api/documents/{document}/search"
    assert told["ms"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", told["time"])
    assert SECRET not in stream.getvalue()
