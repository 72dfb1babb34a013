"""Mutants of requests: raw HTTP to the studio and to MCP, and lines to MCP over a pipe.

A request may be refused in any way that HTTP and JSON-RPC have for it. A find is an answer of 500,
something in the log that nobody foresaw, a request that gets no answer, or a server that is gone.
"""

import json
import logging
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from abstrag.server.mcp.server import http_app
from abstrag.server.mcp.toolbox import Toolbox
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.fuzz.mutate import mutant
from tests.unit.server.running import Client, listening, running, store_with_demo

IMPATIENCE_S = 0.3  # of the studio, for what a mutant says it sends and does not
ANSWER_S = 20.0  # for one answer, on a machine that does other things
_COMMAND = "from abstrag.cli.mcp import mcp_command; mcp_command()"
_ASKED = {"query": "Who visited TSMC?", "k": 3, "judge": False, "preset": "fast"}


def _request(method: str, path: str, body: object = None, kind: str = "application/json") -> bytes:
    sent = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    head += "Accept: application/json, text/event-stream\r\n"
    if body is not None:
        head += f"Content-Type: {kind}\r\nContent-Length: {len(sent)}\r\n"
    return head.encode() + b"\r\n" + sent


def _rpc(method: str, request: object = 1, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request, "method": method, "params": params}


_AT = "/api/documents/chips"
REQUESTS: Sequence[bytes] = (
    _request("GET", "/api/health"),
    _request("GET", "/api/documents"),
    _request("GET", _AT),
    _request("GET", f"{_AT}/map?term=event%3Avisit&depth=2"),
    _request("GET", f"{_AT}/terms/event:visit"),
    _request("GET", f"{_AT}/pages/1.png"),
    _request("GET", f"{_AT}/pages/1/boxes?start=0&end=9"),
    _request("GET", "/api/jobs/0123456789abcdef"),
    _request("GET", "/api/policy/log"),
    _request("GET", "/static/app.js"),
    _request("POST", f"{_AT}/search", _ASKED),
    _request("POST", f"{_AT}/explain", {**_ASKED, "segment": "s1"}),
    _request("POST", f"{_AT}/budget", {"query": "Who visited TSMC?", "judge": False}),
    _request("POST", "/api/search", {"query": "Who?", "k": 2, "judge": False}),
    _request("POST", f"{_AT}/edges", {"source": "visit", "target": "meet", "family": "concept"}),
    _request("POST", "/api/policy/revert", {"entry": "1"}),
    _request("DELETE", f"{_AT}/edges/e1"),
    _request("POST", "/api/documents?name=a.md", b"# A\n\nThe port.", "application/octet-stream"),
)
CALLS: Sequence[dict[str, object]] = (
    _rpc("ping"),
    _rpc("tools/list"),
    _rpc("tools/call", "a", name="documents", arguments={}),
    _rpc("tools/call", 2, name="search", arguments={"document": "chips", **_ASKED}),
    _rpc("tools/call", 3, name="explain", arguments={"document": "chips", "query": "Who?"}),
    _rpc("resources/list"),
    _rpc("prompts/get", name="x"),
)


@dataclass
class Watch(logging.Handler):
    """Counts what became of requests, and hears what the server logs."""

    answered: dict[int, int] = field(default_factory=dict)
    finds: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.ERROR)

    def __hash__(self) -> int:  # as every handler has
        return id(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take an error of the server for a find; the SDK of MCP also logs what it refuses."""
        if record.name.split(".")[0] != "mcp":
            self.finds.append(f"logged: {record.getMessage()[:300]}")

    @contextmanager
    def listening(self) -> Iterator["Watch"]:
        """Hear what is logged in a block."""
        root = logging.getLogger()
        root.addHandler(self)
        try:
            yield self
        finally:
            root.removeHandler(self)


def http_mutants(client: Client, watch: Watch, seeds: Sequence[int]) -> None:
    """Send mutants of requests to a studio, one on each connection."""
    for seed in seeds:
        request = REQUESTS[seed % len(REQUESTS)]
        _send(client, mutant(request, "http", seed, REQUESTS), watch, f"http {seed}")
        if seed % 20 == 0 and not client.alive():
            watch.finds.append(f"http {seed}: the server is gone")


def mcp_http_mutants(client: Client, watch: Watch, seeds: Sequence[int]) -> None:
    """Send mutants of calls to MCP over HTTP; the request around them is sound."""
    bodies = [json.dumps(call).encode() for call in CALLS]
    for seed in seeds:
        body = mutant(bodies[seed % len(bodies)], "mcp", seed, bodies)
        _send(client, _request("POST", "/mcp", body), watch, f"mcp over http {seed}")


def _send(client: Client, data: bytes, watch: Watch, name: str) -> None:
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", client.port), timeout=ANSWER_S) as connection:
            connection.sendall(data)
            while len(answer) < 1_000_000 and (piece := connection.recv(65536)):
                answer += piece
    except TimeoutError:
        watch.finds.append(f"{name}: no answer within {ANSWER_S:g} s")
    except ConnectionError:  # it may hang up on what is no HTTP
        pass
    words = answer.split(b" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    watch.answered[status] = watch.answered.get(status, 0) + 1
    if status == 500:
        watch.finds.append(f"{name}: {answer[-300:]!r}")


class Pipe:
    """An MCP server behind a pipe."""

    def __init__(self, store: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, "--store", str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ),
        )
        self._unread = b""
        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        hello = _rpc("initialize", 0, **about, clientInfo={"name": "fuzz", "version": "1"})
        self.write(json.dumps(hello).encode())
        self.read_until(0)

    def write(self, line: bytes) -> None:
        """Send one line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
        self._process.stdin.flush()

    def read_until(self, request: object) -> list[dict[str, object]] | None:
        """Return what is said up to the answer to a request; None when that does not come."""
        said: list[dict[str, object]] = []
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            line, ended, self._unread = self._unread.partition(b"\n")
            if ended:
                said.append(json.loads(line))
                if said[-1].get("id") == request:
                    return said
                continue
            self._unread = line
            if not select.select([stdout], [], [], 3 * ANSWER_S)[0]:
                return None
            if not (piece := os.read(stdout.fileno(), 65536)):
                return None
            self._unread += piece

    def close(self) -> int:
        """End the server and return how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        ended = self._process.wait(30)
        self._process.stdout.close()
        return ended


def pipe_mutants(store: Path, watch: Watch, seeds: Sequence[int]) -> None:
    """Send mutants of calls down a pipe; the ping after each must be answered."""
    pipe = Pipe(store)
    bodies = [json.dumps(call).encode() for call in CALLS]
    for seed in seeds:
        pipe.write(mutant(bodies[seed % len(bodies)], "mcp", seed, bodies)[:100_000])
        pipe.write(json.dumps(_rpc("ping", f"ping {seed}")).encode())
        said = pipe.read_until(f"ping {seed}")
        if said is None:
            watch.finds.append(f"pipe {seed}: no answer any more")
            break
        for answer in said:
            known = "result" in answer or "error" in answer or "method" in answer
            if answer.get("jsonrpc") != "2.0" or not known:
                watch.finds.append(f"pipe {seed}: {answer!r}")
        watch.answered[len(said)] = watch.answered.get(len(said), 0) + 1
    if pipe.close() != 0:
        watch.finds.append("the server at the end of the pipe ended with an error")


@contextmanager
def studio(folder: Path) -> Iterator[tuple[Path, Client]]:
    """Run a studio over a store with the bundled article."""
    store = store_with_demo(folder / "store.db")
    with running(store, head_limit_s=IMPATIENCE_S, idle_limit_s=IMPATIENCE_S) as client:
        yield store, client


@contextmanager
def mcp(store: Path) -> Iterator[Client]:
    """Run MCP over HTTP."""
    with Workspace(WorkspaceConfig(store)) as workspace:
        toolbox = Toolbox(workspace)
        with listening(
            lambda settings: http_app(toolbox, settings), head_limit_s=IMPATIENCE_S
        ) as client:
            yield client
