"""The environment's proxy is used where it applies, and Retry-After is understood."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag.llm.sender import MAX_WAIT_S, backoff, retry_after
from abstrag.llm.settings import Endpoint
from tests.unit.llm.faulty import Handler, says, serving
from tests.unit.llm.makers import asking, request

ELSEWHERE = "http://models.example/v1"


def test_the_environments_proxy_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths: list[str] = []

    def proxy(handler: Handler) -> None:
        paths.append(handler.path)
        says({"n": 1})(handler)

    with serving(proxy) as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        with asking(ELSEWHERE, tmp_path) as model:
            model.complete(request())
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with asking(server.url, tmp_path) as model:
            model.complete(request("direct"))
    assert paths == [f"{ELSEWHERE}/chat/completions", "/v1/chat/completions"]


def test_a_proxy_of_another_kind_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "socks5://me:secret@127.0.0.1:1080")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(InputError, match="not one for HTTP") as caught, asking(ELSEWHERE, tmp_path):
        pass
    assert "secret" not in str(caught.value)


def test_what_is_no_address_after_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the address"), asking("http://h:80x/v1", tmp_path):
        pass


@pytest.mark.parametrize(
    ("base", "chat"),
    [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("https://h/x?api-version=3", "https://h/x/chat/completions?api-version=3"),
    ],
)
def test_an_address_is_completed(base: str, chat: str) -> None:
    assert Endpoint("m", base).chat_url == chat


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Tue, 14 May 2024 10:00:30 GMT", 30.0),
        ("Tue, 14 May 2024 09:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    now = datetime(2024, 5, 14, 10, 0, tzinfo=UTC)
    assert retry_after(header, now) == seconds


def test_pauses_grow_differ_and_end() -> None:
    assert all(0.5 <= backoff(1, 0.5) <= 1.0 for _ in range(20))
    assert all(4.0 <= backoff(4, 0.5) <= 8.0 for _ in range(20))
    assert backoff(50, 0.5) <= MAX_WAIT_S
    assert len({backoff(3, 0.5) for _ in range(20)}) > 1
