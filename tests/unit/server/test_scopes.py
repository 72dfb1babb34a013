"""Tokens that allow a part, and clients that go: neither gets more than it should."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag.server.access import needed
from abstrag.server.settings import AccessToken, TokenScope, read_tokens
from abstrag.server.studio import RequestQueue
from tests.unit.server.running import FILE, Client, running, store_with_demo

SECRETS = {scope: f"secret-of-{scope.name.lower()}-tokens" for scope in TokenScope}
AT = "/api/documents/chips"


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = store_with_demo(tmp_path_factory.mktemp("scopes") / "store.db")
    tokens = tuple(AccessToken(secret, scope) for scope, secret in SECRETS.items())
    with running(store, tokens=tokens) as client:
        yield client


def call(client: Client, scope: TokenScope, method: str, path: str, **given: object) -> int:
    headers = {"Authorization": f"Bearer {SECRETS[scope]}"}
    if given.get("body") is not None:
        headers["Content-Type"] = FILE
    return client.call(method, path, headers=headers, **given).status  # type: ignore[arg-type]


def test_a_token_is_asked_for_on_loopback_too_where_there_is_one(scoped: Client) -> None:
    assert scoped.get("/api/health").status == 401


def test_a_token_to_read_asks_and_changes_nothing(scoped: Client) -> None:
    assert call(scoped, TokenScope.READ, "GET", "/api/documents") == 200
    asked = {"query": "Who visited TSMC?", "judge": False}
    assert call(scoped, TokenScope.READ, "POST", f"{AT}/search", data=asked) == 200
    for method, path in (
        ("POST", "/api/documents?name=a.md"),
        ("DELETE", AT),
        ("POST", f"{AT}/edges"),
        ("POST", f"{AT}/refine"),
        ("POST", "/api/policy/revert"),
        ("DELETE", f"{AT}/edits"),
        ("DELETE", "/api/jobs/1"),
    ):
        assert call(scoped, TokenScope.READ, method, path) == 403
    assert call(scoped, TokenScope.READ, "GET", AT) == 200


def test_a_token_to_index_brings_documents_in_and_forgets_none(scoped: Client) -> None:
    path = "/api/documents?name=a.md"
    assert call(scoped, TokenScope.INDEX, "POST", path, body=b"# A\n\nThe port.") == 202
    assert call(scoped, TokenScope.INDEX, "DELETE", "/api/jobs/1") == 404
    assert call(scoped, TokenScope.INDEX, "DELETE", AT) == 403
    assert call(scoped, TokenScope.ADMIN, "DELETE", f"{AT}/edits") == 204


def test_what_nobody_has_named_takes_the_most() -> None:
    assert needed("POST", "/api/documents/a/something-new") is TokenScope.ADMIN
    assert needed("PATCH", "/api/documents") is TokenScope.ADMIN


def test_a_file_of_tokens_is_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# for readers\nread 0123456789abcdef\n\nadmin fedcba9876543210\n")
    assert [(t.secret, t.scope) for t in read_tokens(file)] == [
        ("0123456789abcdef", TokenScope.READ),
        ("fedcba9876543210", TokenScope.ADMIN),
    ]
    for wrong in ("", "read short\n", "write 0123456789abcdef\n"):
        file.write_text(wrong)
        with pytest.raises(InputError, match="token"):
            read_tokens(file)


def test_a_search_whose_client_has_gone_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    held = threading.Event()
    usual = RequestQueue.__call__

    async def slow(self: RequestQueue, work: object) -> object:
        def counted() -> object:
            begun.append(1)
            held.wait(30)
            return work()  # type: ignore[operator]

        return await usual(self, counted)

    store = store_with_demo(tmp_path / "store.db")
    with running(store, search_threads=1) as client:
        monkeypatch.setattr(RequestQueue, "__call__", slow)
        request = b"GET /api/documents HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        clients = [socket.create_connection(("127.0.0.1", client.port)) for _ in range(6)]
        for one in clients:
            one.sendall(request)
        while not begun:
            time.sleep(0.01)
        time.sleep(0.5)  # the others are in the line by now
        for one in clients:
            one.close()
        time.sleep(0.5)
        held.set()
        monkeypatch.setattr(RequestQueue, "__call__", usual)
        assert client.alive()
    assert len(begun) == 1, "those that waited left the line with their clients"
