"""Refinement over HTTP: a patch is found, holds for later searches, and can be taken back."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.library import Library
from abstrag.stores.sqlite import SqliteStore
from abstrag.workspace.tour import EVIDENCE, FAILING, PROFITING, LabelJudge
from tests.unit.server.running import (
    Client,
    running,
    store_with_demo,
    without_shipped_judge,
)

AT = "/api/documents/water"
UNJUDGED = {"judge": False}  # a judge that knows the answers leaves nothing to mend
REPORT = Path(str(files("abstrag.data"))) / "demo" / "water.md"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with SqliteStore.open(tmp_path / "store.db") as store:
        Library(store).index_file(REPORT)
    judge = LabelJudge(EVIDENCE)
    with running(tmp_path / "store.db", judge=judge, policy=tmp_path / "policy") as made:
        yield made


def found(client: Client, query: str) -> Any:
    answer = client.post(f"{AT}/search", {"query": query, "k": 10, **UNJUDGED}).data
    answer.pop("ms")
    answer.pop("weighing")
    return answer


def rank(client: Client, query: str) -> int | None:
    texts = [hit["text"] for hit in found(client, query)["hits"]]
    return texts.index(EVIDENCE[query]) + 1 if EVIDENCE[query] in texts else None


def test_what_is_accepted_holds_for_every_question_until_it_is_taken_back(client: Client) -> None:
    before, rank_before = found(client, FAILING), rank(client, FAILING)
    other_before = rank(client, PROFITING)
    gap_before = client.post(f"{AT}/budget", {"query": FAILING}).data
    made = client.post(f"{AT}/refine", {"query": FAILING, **UNJUDGED}).data
    assert made["accepted"] is True
    assert made["steps"][0]["attempts"]
    assert made["before"]["hits"] == before["hits"]
    assert len(made["patches"]) == 1
    after = found(client, FAILING)
    assert after["hits"] == made["after"]["hits"]
    assert (rank(client, FAILING) or 99) < (rank_before or 99)
    assert (rank(client, PROFITING) or 99) <= (other_before or 99)
    # explain and budget see the same patched document as search
    best = after["hits"][0]
    asked = {"query": FAILING, "segment": best["segment"], **UNJUDGED}
    assert client.post(f"{AT}/explain", asked).data == best
    assert client.post(f"{AT}/budget", {"query": FAILING}).data != gap_before
    log = client.get("/api/policy/log").data
    kept = [e["payload"] for e in log if e["validation_status"] == "accepted"]
    (patch,) = [one["id"] for one in kept if one["action"] == "apply"]
    reverted = client.post("/api/policy/revert", {"id": patch})
    assert (reverted.status, reverted.data["payload"]["action"]) == (200, "revert")
    assert found(client, FAILING) == before
    assert client.post("/api/policy/revert", {"id": patch}).status == 409


def test_without_a_judge_nothing_is_refined_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_shipped_judge(monkeypatch)
    store = store_with_demo(tmp_path / "store.db")
    with running(store, policy=tmp_path / "policy") as client:
        assert client.get("/api/health").data["judge"] is False
        asked = {"query": "chip suppliers", **UNJUDGED}
        refused = client.post("/api/documents/chips/refine", asked)
        assert refused.data["kind"] == "ResourceMissing"
        assert refused.data["hint"]
        assert client.get("/api/policy/log").data == []
        assert client.post("/api/documents/chips/search", asked).status == 200


def test_a_step_called_wrong_is_priced_for_every_later_search(client: Client) -> None:
    said = {"query": FAILING, "good": ["s29"], "wrong": [{"asked": "sewage", "said": "water"}]}
    noted = client.post(f"{AT}/feedback", said).data
    assert noted["feedback"]["good"] == ["s29"]
    assert noted["patches"][0]["delta"]["at_least"] == 4.0
    logged = client.get("/api/policy/log").data
    assert [entry["payload"]["action"] for entry in logged] == [
        "feedback",
        "apply",
        "precedent",
    ]
    assert client.post("/api/policy/revert", {"id": logged[1]["payload"]["id"]}).status == 200
