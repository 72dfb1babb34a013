"""A real server on loopback, in a thread of this process, and a client that sends what it is told.

The client is plain `http.client`: it sends any Host and Origin, and no header of its own.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp

from abstrag.engine.library import Library
from abstrag.errors import ResourceMissing
from abstrag.llm.connect import Models
from abstrag.search.judging import Judge
from abstrag.server.app import create_app
from abstrag.server.listen import bound_socket, server_of
from abstrag.server.settings import ServerSettings
from abstrag.stores.sqlite import SqliteStore
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.tour import demo_background, demo_document
from abstrag.workspace.workspace import Workspace

JSON = "application/json"
FILE = "application/octet-stream"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Sends requests to one server."""

    port: int
    timeout_s: float = 60.0

    def call(
        self,
        method: str,
        path: str,
        *,
        data: Any = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request on a connection of its own."""
        sent = dict(headers or {})
        if data is not None:
            body = json.dumps(data).encode()
            sent.setdefault("Content-Type", JSON)
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.timeout_s)
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, headers=headers)

    def post(self, path: str, data: Any, **headers: str) -> Answer:
        return self.call("POST", path, data=data, headers=headers)

    def upload(self, name: str, content: bytes) -> Answer:
        return self.call(
            "POST", f"/api/documents?name={name}", body=content, headers={"Content-Type": FILE}
        )

    def indexed(self, name: str, content: bytes) -> dict[str, Any]:
        """Upload a file, wait for its job and return how that ended."""
        answer = self.upload(name, content)
        assert answer.status == 202, answer.data
        return self.ended(answer.data["job"])

    def ended(self, job: str, within_s: float = 90.0) -> dict[str, Any]:
        """Wait for a job to end."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            state: dict[str, Any] = self.get(f"/api/jobs/{job}").data
            if state["state"] in ("done", "failed", "cancelled"):
                return state
            time.sleep(0.05)
        raise AssertionError(f"job {job} did not end: {state}")

    def alive(self) -> bool:
        return self.get("/api/health").status == 200


@contextmanager
def running(
    store: Path,
    *,
    policy: Path | None = None,
    judge: Judge | None = None,
    models: Models | None = None,
    **given: Any,
) -> Iterator[Client]:
    """Run a server over a store for the length of a block; the rest are its settings."""
    config = WorkspaceConfig(store, policy=policy)
    with (
        Workspace(config, judge=judge, models=models) as workspace,
        serving(workspace, **given) as client,
    ):
        yield client


@contextmanager
def serving(workspace: Workspace, **given: Any) -> Iterator[Client]:
    """Run a server over a workspace for the length of a block."""
    with listening(lambda settings: create_app(settings, workspace), **given) as client:
        yield client


@contextmanager
def listening(make: Callable[[ServerSettings], ASGIApp], **given: Any) -> Iterator[Client]:
    """Run an application for the length of a block."""
    host = given.pop("host", "127.0.0.1")
    with bound_socket(host, 0) as listening:
        port = listening.getsockname()[1]
        settings = ServerSettings(host=host, port=port, **given)
        server = server_of(make(settings), settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.01)
            yield Client(port)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive(), "the server did not end"


def store_with_demo(path: Path) -> Path:
    """Make a store that holds the bundled article under the id `chips`."""
    with SqliteStore.open(path) as store:
        Library(store, demo_background()).index_document(demo_document())
    return path


def without_shipped_judge(patch: pytest.MonkeyPatch) -> None:
    """Let this installation have no weights of a judge."""

    def missing() -> Judge:
        raise ResourceMissing("the judge's weights are missing", hint="reinstall abstrag")

    for user in ("searcher", "refinement"):
        patch.setattr(f"abstrag.engine.{user}.default_judge", missing)
    patch.setattr("abstrag.server.studio.WEIGHTS", Path("nowhere"))
