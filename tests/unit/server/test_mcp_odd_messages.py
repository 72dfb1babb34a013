"""Lines that are no JSON-RPC are answered, and the server goes on, over a pipe and over HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.server.mcp.server import http_app
from abstrag.server.mcp.toolbox import Toolbox
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.server.running import Client, listening, store_with_demo

COMMAND = "from abstrag.cli.mcp import mcp_command; mcp_command()"
HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ODD = [
    (b"{not json", None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', None, -32700),
    (b"\xff\xfe\x00", None, -32700),
    (b"[]", None, -32600),
    (b"null", None, -32600),
    (b'[{"jsonrpc": "2.0", "id": 13, "method": "ping"}]', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 8}', 8, -32600),
    (b'{"jsonrpc": "1.0", "id": 9, "method": "tools/list"}', 9, -32600),
    (b'{"jsonrpc": "2.0", "id": "ten", "method": "tools/call", "params": [1]}', "ten", -32600),
    (b'{"jsonrpc": "2.0", "id": 11, "method": 5}', 11, -32600),
    (b'{"jsonrpc": "2.0", "id": 12, "method": "nothing/known"}', 12, -32601),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_with_demo(tmp_path_factory.mktemp("odd") / "store.db")


@pytest.fixture(scope="module")
def pipe(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "--store", str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    ) as process:
        assert said(process, json.dumps(HELLO).encode())["id"] == "hello"
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


def said(process: subprocess.Popen[bytes], line: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


@pytest.mark.parametrize(("line", "request_id", "code"), ODD)
def test_a_line_that_is_no_request_is_answered_with_an_error(
    pipe: subprocess.Popen[bytes], line: bytes, request_id: object, code: int
) -> None:
    answer = said(pipe, line)
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)
    alive = said(pipe, b'{"jsonrpc": "2.0", "id": 99, "method": "ping"}')
    assert (alive["id"], alive["result"]) == (99, {})


@pytest.fixture(scope="module")
def over_http(store: Path) -> Iterator[Client]:
    with Workspace(WorkspaceConfig(store)) as workspace:
        toolbox = Toolbox(workspace)
        with listening(lambda settings: http_app(toolbox, settings)) as client:
            yield client


@pytest.mark.parametrize(("line", "_id", "_code"), ODD)
def test_over_http_it_is_an_error_of_the_client(
    over_http: Client, line: bytes, _id: object, _code: int
) -> None:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    answer = over_http.call("POST", "/mcp", body=line, headers=headers)
    refused = answer.status == 200 and "error" in answer.data  # of a method that nobody knows
    assert refused or 400 <= answer.status < 500
    assert json.loads(answer.body)
