"""Many documents over HTTP: searched together, filtered, grouped, listed, found by content."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.record import to_data
from abstrag.server.mcp.toolbox import Toolbox, collection_result
from abstrag.stores.cards import CARD
from abstrag.stores.open import open_store
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.cli.model_server import QUERY_SIDE
from tests.unit.server.running import Client, running

NOTES = {
    "harbour/lock.md": (
        "---\ndate: 2019-04-01\n---\n# The lock of Esbjerg\n\n"
        "The council paid for a new lock. Cargo vessels pass the lock at dawn."
    ),
    "harbour/ferry.md": (
        "---\ndate: 2023-06-05\n---\n# The ferry of Esbjerg\n\n"
        "The ferry waits at the lock until noon. Sailors sleep aboard."
    ),
    "animals/hounds.md": "# Hounds\n\nHounds need long walks. A puppy sleeps twenty hours a day.",
}
QUESTION = "Who passes the lock?"
QUERY = {"query": QUESTION, "judge": False}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    with Workspace(WorkspaceConfig(folder / "store.db")) as workspace:
        for _ in workspace.indexing().index_paths([folder / "harbour", folder / "animals"]):
            pass
    return folder / "store.db"


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[Client]:
    with running(store) as made:
        yield made


def test_hits_of_all_documents_are_grouped_by_document(client: Client) -> None:
    found = client.post("/api/search", QUERY).data
    best = found["hits"][0]
    assert best["hit"]["text"] == "Cargo vessels pass the lock at dawn."
    groups = found["groups"]
    assert groups[0]["document"] == "lock"
    assert (groups[0]["file"], groups[0]["date"]) == ("lock.md", "2019-04-01")
    ranks = [rank for group in groups for rank in group["ranks"]]
    assert sorted(ranks) == list(range(1, len(found["hits"]) + 1))
    for group in groups:
        for rank in group["ranks"]:
            assert found["hits"][rank - 1]["hit"]["document"] == group["document"]


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        ({"title": "esbjerg FERRY"}, {"ferry"}),
        ({"source": "lock.md"}, {"lock"}),
        ({"source": "f*.md"}, {"ferry"}),
        ({"folder": "harbour"}, {"ferry", "lock"}),
        ({"since": "2020"}, {"ferry"}),
        ({"until": "2020", "folder": "harbour"}, {"lock"}),
        ({"genre": "legal"}, set()),
    ],
)
def test_filters_choose_which_documents_are_asked(
    client: Client, filters: dict[str, str], documents: set[str]
) -> None:
    found = client.post("/api/search", {**QUERY, "query": "the lock of Esbjerg", **filters}).data
    assert {one["hit"]["document"] for one in found["hits"]} == documents
    asked = "&".join(f"{name}={value.replace(' ', '%20')}" for name, value in filters.items())
    assert {one["id"] for one in client.get(f"/api/documents?{asked}").data} == documents


def test_no_answer_says_where_on_the_disk_a_file_lies(client: Client, store: Path) -> None:
    passage = {**QUERY, "passage": "Hounds need long walks", "folder": "harbour"}
    for answer in (
        client.get("/api/documents"),
        client.post("/api/search", QUERY),
        client.post("/api/why-not", passage),
        client.post("/api/documents/find", QUERY),
    ):
        assert answer.status == 200
        assert str(store.parent) not in answer.body.decode()


def test_a_passage_that_is_missed_among_all_gets_its_first_reason(client: Client) -> None:
    asked = {**QUERY, "passage": "Hounds need long walks"}
    left_out = client.post("/api/why-not", {**asked, "folder": "harbour"}).data
    assert (left_out["lost"], left_out["document"]) == ("left out by a filter", "hounds")
    assert "animals/hounds.md" in left_out["detail"]
    there = client.post("/api/why-not", {**QUERY, "passage": "Cargo vessels pass the lock"}).data
    assert (there["lost"], there["rank"]) == ("found", 1)


def test_documents_are_found_by_what_they_are_about(client: Client) -> None:
    found = client.post("/api/documents/find", {"query": "dogs that need exercise"}).data
    assert found[0]["document"] == "hounds"
    assert found[0]["file"] == "hounds.md"
    assert {one["source"] for one in found[0]["standings"]} >= {"vectors", "sentences"}


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ("", ["hounds", "ferry", "lock"]),  # Hounds, The ferry, The lock
        ("sort=title&descending=true", ["lock", "ferry", "hounds"]),
        ("sort=date", ["ferry", "lock", "hounds"]),  # the newest first, what has none last
        ("sort=date&descending=false", ["lock", "ferry", "hounds"]),
        ("sort=file", ["ferry", "hounds", "lock"]),
        ("sort=file&limit=1&offset=1", ["hounds"]),
    ],
)
def test_documents_are_listed_in_the_order_that_is_asked_for(
    client: Client, asked: str, order: list[str]
) -> None:
    answer = client.get(f"/api/documents?{asked}")
    assert [one["id"] for one in answer.data] == order
    assert answer.headers["x-total-count"] == "3"


def test_a_listed_document_has_its_file_with_name_and_size(client: Client, store: Path) -> None:
    (lock,) = client.get("/api/documents?source=lock.md").data
    file = store.parent / "harbour" / "lock.md"
    assert (lock["file"], lock["folder"], lock["bytes"]) == (
        "lock.md",
        "harbour",
        file.stat().st_size,
    )
    by_size = client.get("/api/documents?sort=size").data
    sizes = [one["bytes"] for one in by_size]
    assert sizes == sorted(sizes, reverse=True)


def test_a_running_server_prepares_the_search_over_all_by_itself(
    client: Client, store: Path
) -> None:
    deadline = time.monotonic() + 60
    with open_store(store, create=False) as own:
        while len({content for content, _, _ in own.layers_named(CARD)}) < len(NOTES):
            assert time.monotonic() < deadline, "no cards were made"
            time.sleep(0.05)
    assert client.get("/api/health").data["collection"] is True


def _models() -> tuple[Models, ScriptedModel]:
    quoted = {"number": 1, "quote": "pass the lock at dawn"}
    sentence = {"text": "Cargo vessels do.", "citations": [quoted]}
    answered = {"status": "answered", "sentences": [sentence], "missing": []}
    model = ScriptedModel({**QUERY_SIDE, "answer": answered})
    roles = (CallRole.INDEX, CallRole.JUDGE, CallRole.ANSWER)
    return Models(dict.fromkeys(roles, model)), model


def test_with_a_model_http_and_tools_give_what_python_gives(store: Path, tmp_path: Path) -> None:
    with AbstRAG(store, models=_models()[0], policy=tmp_path) as rag:
        wanted = to_data(rag.search_all(QUESTION, k=5))
        answered = to_data(rag.ask_all(QUESTION))
    assert answered["sentences"][0]["citations"] == [1]
    assert answered["citations"][0]["document"] == "lock"
    models, model = _models()
    with running(store, models=models, policy=tmp_path) as client:
        found = client.post("/api/search", {"query": QUESTION, "k": 5}).data
        assert found["hits"] == wanted["hits"]
        told = client.post("/api/ask", {"question": QUESTION, "folder": "harbour"})
        events = [json.loads(one) for one in told.body.decode().split("data: ") if one]
        assert [one["type"] for one in events] == ["citation", "text", "done"]
        assert events[-1]["answer"]["citations"] == answered["citations"]
        assert {request.stage for request in model.requests} == {*QUERY_SIDE, "answer"}
    with Workspace(WorkspaceConfig(store, policy=tmp_path), models=_models()[0]) as workspace:
        tools = Toolbox(workspace)
        assert to_data(tools.search_all(QUESTION)) == to_data(
            collection_result(workspace.collection().search(QUESTION, k=5))
        )
        assert to_data(tools.ask_all(QUESTION)) == answered
        assert tools.ask_all(QUESTION, title="hounds").evidence[0].document == "hounds"


def test_all_documents_are_refined_over_http_and_no_folder_is_told(
    store: Path, tmp_path: Path
) -> None:
    with running(store, policy=tmp_path) as client:
        made = client.post("/api/refine", {"query": QUESTION, "title": "lock"})
    assert made.status == 200
    assert [one["document"] for one in made.data["documents"]] == ["lock"]
    assert made.data["after"]["hits"]
    assert str(store.parent) not in made.body.decode()
