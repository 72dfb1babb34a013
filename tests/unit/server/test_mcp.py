"""The MCP server as the official client meets it, over a pipe and over HTTP."""

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE, demo_document
from abstrag.workspace.workspace import Workspace
from tests.unit.server.running import Client as HttpClient
from tests.unit.server.running import store_with_demo

COMMAND = "from abstrag.cli.mcp import mcp_command; mcp_command()"
READING = {
    "ask",
    "ask_all",
    "documents",
    "explain",
    "find_documents",
    "search",
    "search_all",
    "search_set",
    "search_set_all",
    "why_not",
}
TOKEN = "open-sesame"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_with_demo(tmp_path_factory.mktemp("mcp") / "store.db")


def talk(transport: Any, work: Callable[[Client], Awaitable[None]]) -> None:
    """Connect the SDK's client, and let it work within a time."""

    async def main() -> None:
        with anyio.fail_after(90):
            async with Client(transport) as client:
                await work(client)

    anyio.run(main)


def over_stdio(store: Path, *options: str) -> Any:
    return stdio_client(
        StdioServerParameters(
            command=sys.executable,
            args=["-c", COMMAND, "--store", str(store), *options],
            env=dict(os.environ),
        )
    )


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that must succeed, and return what it returns."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that must fail, and return what it says."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


async def every_tool_that_reads(client: Client) -> None:
    listing = await call(client, "documents")
    assert [one["id"] for one in listing["documents"]] == ["chips"]
    text = demo_document().text
    found = await call(client, "search", document="chips", query=DEMO_QUERY, k=2)
    assert len(found["hits"]) == 2
    for hit in found["hits"]:
        assert text[hit["span"]["start"] : hit["span"]["end"]] == hit["quote"]
        assert hit["reading"]
        assert hit["headers"] == []
    visit = next(hit for hit in found["hits"] if hit["text"] == DEMO_SENTENCE)
    assert {"event:visit"} <= {step["source"] for step in visit["steps"]}
    told = await call(
        client, "explain", document="chips", query=DEMO_QUERY, segment=visit["segment"]
    )
    assert told["found"]["quote"] == visit["quote"]
    assert {one["kind"] for one in told["literals"]} >= {"event", "concept", "time"}
    missed = await call(
        client,
        "why_not",
        document="chips",
        query=DEMO_QUERY,
        passage="Neither side said what was discussed",
    )
    assert missed["cause"]
    assert missed["segment"]
    answer = await call(client, "ask", document="chips", question="Who visited TSMC?")
    for citation in answer["citations"]:
        span = citation["span"]
        assert text[span["start"] : span["end"]] == citation["quote"]


async def errors_are_sentences(client: Client) -> None:
    said = await refused(client, "search", document="nothing", query="x")
    assert "the store holds no document 'nothing' (hint: the store holds 'chips')" in said
    assert "k is 0 (hint: " in await refused(client, "search", document="chips", query="x", k=0)
    assert "s999" in await refused(
        client, "explain", document="chips", query="chip", segment="s999"
    )


def test_by_default_an_agent_can_read_and_nothing_else(store: Path) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READING
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.description
            assert tool.output_schema
        await every_tool_that_reads(client)
        await errors_are_sentences(client)
        assert "index" in await refused(client, "index", path="x.md")

    talk(over_stdio(store), work)


async def a_collection(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    async def checked(tool: str, **arguments: Any) -> Any:
        told = await call(client, tool, **arguments)
        schema = tools[tool].output_schema
        assert schema is not None
        Draft202012Validator(schema).validate(told)
        return told

    about = await checked("find_documents", query="dogs that need exercise", k=1)
    (best,) = about["documents"]
    assert (best["document"], best["file"]) == ("hounds", "hounds.md")
    assert "vectors" in best["why"]
    listed = await checked("documents", title="hounds", sort="date")
    assert (listed["total"], [one["id"] for one in listed["documents"]]) == (1, ["hounds"])
    page = await checked("documents", limit=1, offset=1)
    assert (page["total"], len(page["documents"])) == (2, 1)
    found = await checked("search_all", query="Who needs walks?", k=3)
    hit = found["hits"][0]
    assert (hit["document"], hit["found"]["quote"]) == ("hounds", "Hounds need long walks.")
    assert found["by_document"][0]["document"] == "hounds"
    assert 1 in found["by_document"][0]["ranks"]
    only = await checked("search_all", query="Who needs walks?", title="lock")
    assert {one["document"] for one in only["hits"]} <= {"lock"}
    missed = await checked("why_not", query="ships", passage="Hounds need long walks", k=1)
    assert (missed["document"], bool(missed["detail"])) == ("hounds", True)
    cited = await checked("ask", document=hit["document"], question="What do hounds need?")
    assert any(one["quote"] == "Hounds need long walks." for one in cited["citations"])


def test_an_agent_finds_searches_and_cites_in_a_collection(tmp_path: Path) -> None:
    texts = {
        "hounds": "# Hounds\n\nHounds need long walks. A puppy sleeps twenty hours a day.",
        "lock": "# The lock\n\nCargo vessels pass the lock at dawn.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    with Workspace(WorkspaceConfig(tmp_path / "store.db")) as workspace:
        for _ in workspace.indexing().index_paths([tmp_path / f"{name}.md" for name in texts]):
            pass
    talk(over_stdio(tmp_path / "store.db"), a_collection)


def test_an_agent_may_pass_on_what_a_person_says_where_that_is_allowed(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))

    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING | {"feedback"}
        assert tools["feedback"].annotations is not None
        assert tools["feedback"].annotations.read_only_hint is False
        said = {"document": "chips", "query": DEMO_QUERY, "good": ["s1"]}
        noted = await call(client, "feedback", **said, wrong_steps=["collaboration=visit"])
        assert tools["feedback"].output_schema is not None
        Draft202012Validator(tools["feedback"].output_schema).validate(noted)
        assert noted["feedback"]["good"] == ["s1"]
        assert noted["patches"][0]["delta"]["said"] == "visit"
        assert "is no step" in await refused(client, "feedback", **said, right_steps=["visit"])

    talk(over_stdio(store, "--allow-feedback"), work)


def test_an_agent_may_index_inside_a_folder_that_is_allowed(tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    for folder, text in ((allowed, "Basel built a bridge."), (outside, "The secret of Basel.")):
        folder.mkdir()
        (folder / "note.md").write_text(f"# Note\n\n{text}\n")
    (allowed / "way-out").symlink_to(outside)

    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING | {"index"}
        assert tools["index"].annotations is not None
        assert tools["index"].annotations.read_only_hint is False
        made = await call(client, "index", path="note.md")
        assert (made["document"], made["status"]) == ("note", "indexed")
        found = await call(client, "search", document="note", query="Who built a bridge?")
        assert found["hits"][0]["quote"] == "Basel built a bridge."
        for path in (
            str(outside / "note.md"),
            "../outside/note.md",
            "way-out/note.md",
            "/etc/passwd",
            "missing.md",
        ):
            assert "may be indexed" in await refused(client, "index", path=path)

    talk(over_stdio(tmp_path / "store.db", "--allow-index", str(allowed)), work)


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    place = ("--store", str(store))
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "--http", "--port", "0", "--token", TOKEN, *place],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("mcp at http://127.0.0.1:")
        yield line.split()[2]
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stdout.close()


def test_the_same_tools_are_there_over_http(address: str) -> None:
    async def main() -> None:
        with anyio.fail_after(90):
            async with (
                httpx2.AsyncClient(
                    headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
                ) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                tools = (await client.list_tools()).tools
                assert {tool.name for tool in tools} == READING
                await every_tool_that_reads(client)
                await errors_are_sentences(client)

    anyio.run(main)


def test_over_http_the_guard_stands_before_the_tools(address: str) -> None:
    http = HttpClient(int(address.split(":")[2].split("/")[0]))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    token = {"Authorization": f"Bearer {TOKEN}"}
    assert http.post("/mcp", body).status == 401
    assert http.post("/mcp", body, Authorization="Bearer wrong").status == 401
    assert http.post("/mcp", body, Host="evil.example", **token).status == 403
    assert http.post("/mcp", body, Origin="https://evil.example", **token).status == 403
