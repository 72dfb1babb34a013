"""HTTP, tools and Python give one answer: the same hits, numbers and traces, to the last digit."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client as AgentClient

from abstrag.engine.library import Library
from abstrag.model.ranking import Hit
from abstrag.model.record import to_data
from abstrag.model.term import Family
from abstrag.search.relevance import FAST
from abstrag.server.mcp.server import mcp_server
from abstrag.server.mcp.toolbox import Toolbox
from abstrag.stores.sqlite import SqliteStore
from abstrag.workspace.asynchronous import AsyncAbstRAG
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.tour import (
    DEMO_QUERY,
    DEMO_SENTENCE,
    EVIDENCE,
    FAILING,
    PROFITING,
    LabelJudge,
)
from abstrag.workspace.workspace import Workspace
from tests.unit.server.running import Client, running, serving, store_with_demo

WATER = Path(str(files("abstrag.data"))) / "demo" / "water.md"
ASKED = (
    ("chips", DEMO_QUERY),
    ("chips", "Who visited TSMC?"),
    ("chips", "When did prices rise?"),
    ("water", FAILING),
    ("water", PROFITING),
)
UNJUDGED = {"judge": False}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = store_with_demo(tmp_path_factory.mktemp("one") / "store.db")
    with SqliteStore.open(path) as opened:
        Library(opened).index_file(WATER)
    return path


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[Client]:
    with running(store, policy=store.parent / "policy", judged_waiting=64) as made:
        yield made


@pytest.fixture(scope="module")
def rag(store: Path) -> Iterator[AbstRAG]:
    with AbstRAG(store, policy=store.parent / "policy") as made:
        yield made


def search(client: Client, document: str, query: str, **more: Any) -> Any:
    answer = client.post(f"/api/documents/{document}/search", {"query": query, **more})
    assert answer.status == 200, answer.body
    assert answer.data["ms"] >= 0
    return {
        name: value
        for name, value in answer.data.items()
        if name not in ("ms", "weighing", "groups")
    }


def tool(workspace: Workspace, name: str, **arguments: Any) -> Any:
    """Call a tool as an agent does, with the SDK's own client."""

    async def main() -> Any:
        async with AgentClient(mcp_server(Toolbox(workspace))) as agent:
            result = await agent.call_tool(name, arguments)
            assert not result.is_error, result
            return result.structured_content

    return anyio.run(main)


def told(hit: Hit) -> dict[str, Any]:
    """What a tool has to tell of a hit."""
    met = [one for one in hit.trace.literals if one.met]
    bridges = dict.fromkeys(bridge for one in met for bridge in one.bridges)
    return {
        "segment": hit.segment,
        "quote": hit.quote,
        "relevance": hit.relevance,
        "match": hit.match,
        "utility": hit.utility,
        "gap": hit.gap,
        "judgement": hit.judgement,
        "reading": hit.reading,
        "steps": [(b.family.value, b.source, b.target, b.cost) for b in bridges],
        "unmet": [one.literal.label for one in hit.trace.literals if not one.met],
    }


def as_told(found: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    steps = [(s["family"], s["source"], s["target"], s["cost"]) for s in found["steps"]]
    return {**{name: found[name] for name in like}, "steps": steps}


@pytest.mark.parametrize(("document", "query"), ASKED)
def test_a_search_without_options_is_that_of_python(
    client: Client, rag: AbstRAG, document: str, query: str
) -> None:
    found = search(client, document, query)
    assert found["preset"] == "general"
    assert found["hits"][0]["judgement"] is not None
    assert found == to_data(rag.search(query, document=document))


@pytest.mark.parametrize(("document", "query"), ASKED)
@pytest.mark.parametrize(
    "options",
    [{}, UNJUDGED, {"tau": 0.4}, {"preset": "paper", "judge": True}, {"preset": "smooth"}],
    ids=str,
)
def test_the_explanation_of_a_hit_is_the_hit(
    client: Client, document: str, query: str, options: dict[str, Any]
) -> None:
    hits = search(client, document, query, k=5, **options)["hits"]
    assert hits
    for hit in hits:
        body = {"query": query, "segment": hit["segment"], **options}
        assert client.post(f"/api/documents/{document}/explain", body).data == hit


def test_an_edge_that_is_tried_out_counts_in_every_question(client: Client) -> None:
    edge = {"source": "entity:tsmc", "target": "concept:chip price", "family": "concept"}
    tried = {"edges": [edge], **UNJUDGED}
    query, at = "Who sets chip prices?", "/api/documents/chips"
    found = search(client, "chips", query, k=20, **tried)
    assert found != search(client, "chips", query, k=20, **UNJUDGED)
    for hit in found["hits"]:
        body = {"query": query, "segment": hit["segment"], **tried}
        assert client.post(f"{at}/explain", body).data == hit
    swept = client.post(f"{at}/sweep", {"query": query, "k": 20, "taus": [1.5], **tried}).data
    assert scores(swept["rankings"][0]) == scores(found["hits"])
    ours = client.post(f"{at}/compare", {"query": query, "k": 20, **tried}).data["systems"]
    assert [one["score"] for one in ours["abstrag"]] == [h["relevance"] for h in found["hits"]]
    plain = client.post(f"{at}/budget", {"query": query}).data
    assert client.post(f"{at}/budget", {"query": query, **tried}).data != plain


def scores(hits: list[dict[str, Any]]) -> list[Any]:
    names = ("segment", "relevance", "match", "utility", "gap", "judgement")
    return [tuple(hit[name] for name in names) for hit in hits]


@pytest.mark.parametrize("options", [{}, UNJUDGED], ids=str)
def test_a_sweep_and_why_not_agree_with_the_search(client: Client, options: Any) -> None:
    at, asked = "/api/documents/chips", {"query": DEMO_QUERY, "k": 20, **options}
    taus = [0.0, 0.3, 0.5, 1.0, 1.5, 2.2, 4.0]
    swept = client.post(f"{at}/sweep", {**asked, "taus": taus}).data["rankings"]
    for tau, rows in zip(taus, swept, strict=True):
        assert scores(rows) == scores(search(client, "chips", tau=tau, **asked)["hits"])
    for rank, hit in enumerate(search(client, "chips", **asked)["hits"], 1):
        body = {**asked, "k": 1, "segment": hit["segment"]}
        assert client.post(f"{at}/why-not", body).data["rank"] == rank


@pytest.mark.parametrize(("document", "query"), ASKED)
@pytest.mark.parametrize("options", [{}, UNJUDGED], ids=str)
def test_tools_tell_the_numbers_of_python(
    store: Path, rag: AbstRAG, document: str, query: str, options: dict[str, Any]
) -> None:
    chosen = FAST if options else rag.workspace.defaults.preset
    with AbstRAG(store, policy=store.parent / "policy", preset=chosen) as same:
        hits = same.search(query, k=5, document=document).hits
        place = {"document": document, "query": query, **options}
        found = tool(same.workspace, "search", **place)
        assert (found["preset"], found["tau"]) == (chosen.name, 1.5)
        expected = [told(hit) for hit in hits]
        assert [as_told(one, expected[0]) for one in found["hits"]] == expected
        for one, hit in zip(found["hits"], hits, strict=True):
            explained = tool(same.workspace, "explain", segment=hit.segment, **place)
            assert explained["found"] == one
            assert (explained["match"], explained["utility"]) == (hit.match, hit.utility)
            weights = [literal.literal.weight for literal in hit.trace.literals]
            assert [literal["weight"] for literal in explained["literals"]] == weights


def test_a_patch_holds_whoever_kept_it(tmp_path: Path) -> None:
    judge, policy, path = LabelJudge(EVIDENCE), tmp_path / "policy", tmp_path / "store.db"
    with SqliteStore.open(path) as opened:
        Library(opened).index_file(WATER)
    with (
        running(path, judge=judge, policy=policy) as client,
        Workspace(WorkspaceConfig(path, policy=policy), judge=judge) as tools,
        AbstRAG(path, policy=policy, judge=judge, preset=FAST) as rag,
    ):

        def everywhere() -> tuple[Any, Any, Any]:
            over_http = search(client, "water", FAILING, k=5, **UNJUDGED)
            asked = {"document": "water", "query": FAILING, **UNJUDGED}
            by_tool = tool(tools, "search", **asked)["hits"]
            return over_http, by_tool, to_data(rag.search(FAILING, k=5, document="water"))

        before = everywhere()
        assert before[0] == before[2]
        over_http = client.post("/api/documents/water/refine", {"query": FAILING, **UNJUDGED}).data
        assert over_http["accepted"] is True
        (patch,) = [kept.id for kept in rag.patches(document="water")]
        after = everywhere()
        assert after[0] == after[2]
        assert all(one != other for one, other in zip(after, before, strict=True))
        rag.revert(patch)
        assert everywhere() == before
        assert rag.refine(FAILING, document="water").accepted
        assert everywhere() == after
        assert client.post("/api/policy/revert", {"id": patch}).status == 200
        assert everywhere() == before


def test_an_edit_by_hand_holds_whoever_made_it(tmp_path: Path) -> None:
    path = store_with_demo(tmp_path / "store.db")
    edge = {"source": "entity:tsmc", "target": "concept:chip price", "family": "concept"}
    query = "Who sets chip prices?"
    with running(path) as client, AbstRAG(path) as rag:

        def both() -> Any:
            found = search(client, "chips", query)
            assert found == to_data(rag.search(query, document="chips"))
            return found

        before = both()
        assert client.post("/api/documents/chips/edges", edge).status == 201
        added = both()
        assert added != before
        (made,) = rag.workspace.edits.read("chips").edges
        rag.hide_edge(made, document="chips")
        assert both() == before
        rag.add_edge("entity:tsmc", "concept:chip price", family=Family.CONCEPT, document="chips")
        assert both() == added


def test_threads_and_event_loops_at_once_get_what_one_gets_alone(
    store: Path, client: Client, rag: AbstRAG
) -> None:
    alone = {place: to_data(rag.search(place[1], k=4, document=place[0])) for place in ASKED}

    async def over_http(http: httpx2.AsyncClient, place: tuple[str, str]) -> None:
        address = f"http://127.0.0.1:{client.port}/api/documents/{place[0]}/search"
        response = await http.post(address, json={"query": place[1], "k": 4}, timeout=60)
        found = response.json()
        assert found.pop("ms") >= 0
        for beside in ("weighing", "groups"):
            found.pop(beside, None)
        assert found == alone[place]

    async def in_python(shared: AsyncAbstRAG, place: tuple[str, str]) -> None:
        found = await shared.search(place[1], k=4, document=place[0])
        assert to_data(found) == alone[place]

    async def loop() -> None:
        async with (
            httpx2.AsyncClient() as http,
            AsyncAbstRAG(AbstRAG(store, policy=store.parent / "policy")) as shared,
        ):
            await asyncio.gather(
                *(over_http(http, place) for place in ASKED * 2),
                *(in_python(shared, place) for place in ASKED * 2),
            )

    def ask(place: tuple[str, str]) -> bool:
        return bool(search(client, *place, k=4) == alone[place])

    with ThreadPoolExecutor(9) as pool:
        running_loop = pool.submit(asyncio.run, loop())
        assert all(pool.map(ask, ASKED * 8))
        running_loop.result(60)


def test_a_hundred_requests_open_the_store_once(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    original = SqliteStore.open

    def counted(path: str | Path, *, create: bool = True) -> SqliteStore:
        opened.append(path)
        return original(path, create=create)

    monkeypatch.setattr(SqliteStore, "open", counted)
    at = "/api/documents/chips"
    config = WorkspaceConfig(store, policy=tmp_path / "policy")
    with Workspace(config) as workspace, serving(workspace) as client:
        for number in range(16):
            asked: dict[str, Any] = {"query": f"Who visited TSMC in {2010 + number}?", **UNJUDGED}
            segment = search(client, "chips", k=1, **asked)["hits"][0]["segment"]
            for path, more in (
                ("explain", {"segment": segment}),
                ("why-not", {"segment": segment}),
                ("budget", {}),
                ("sweep", {"taus": [0.5]}),
            ):
                assert client.post(f"{at}/{path}", {**asked, **more}).status == 200
            assert client.get("/api/documents").status == 200
            assert client.get(f"{at}/map").status == 200
        tool(workspace, "search", document="chips", query=DEMO_QUERY)
        assert client.post(f"{at}/refine", {"query": DEMO_QUERY}).status == 200
        assert client.post(f"{at}/ask", {"question": DEMO_QUERY}).status == 200
    assert opened == [store]


def test_a_document_named_like_a_file_is_not_read_from_it(
    client: Client, rag: AbstRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nThe mayor of Basel hid the key.\n")
    (tmp_path / "chips").write_text("Nobody visited anybody.\n")
    monkeypatch.chdir(tmp_path)
    refused = client.post("/api/documents/secret.md/search", {"query": "Who hid the key?"})
    assert (refused.status, refused.data["kind"]) == (404, "UnknownDocument")
    found = search(client, "chips", "Who visited TSMC?", k=1)
    assert found["hits"][0]["quote"] == DEMO_SENTENCE
    assert {info.id for info in rag.documents()} == {"chips", "water"}
