"""`abstrag serve` as a process: how fast it is up, what it prints, and how it ends."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from abstrag.cli.serve import serve_command
from abstrag.errors import InputError, ResourceMissing, StoreError
from tests.unit.server.running import Client

COMMAND = "from abstrag.cli.serve import serve_command; serve_command()"


@dataclass
class Served:
    """A running server and what it printed."""

    process: subprocess.Popen[str]
    client: Client
    printed: str


@contextmanager
def served(store: Path, *options: str) -> Iterator[Served]:
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "--port", "0", "--store", str(store), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        printed = process.stdout.readline() + process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", printed)
        assert found, printed
        client = Client(int(found[1]))
        while True:
            try:
                client.get("/")
                break
            except ConnectionError:
                assert time.monotonic() - began < 30
                time.sleep(0.02)
        yield Served(process, client, printed)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        process.stdout.close()


def ended(one: Served, sign: signal.Signals) -> tuple[int, str]:
    """Send a signal and return the exit code and what was printed last."""
    assert one.process.stdout is not None
    one.process.send_signal(sign)
    code = one.process.wait(20)
    return code, one.process.stdout.read()


def test_it_starts_and_serves_the_page(tmp_path: Path) -> None:
    with served(tmp_path / "store.db") as one:
        page = one.client.get("/")
        assert page.status == 200
        assert page.headers["content-type"].startswith("text/html")
        assert one.client.get("/static/main.js").status == 200
        assert "#key=" not in one.printed
        assert ended(one, signal.SIGINT) == (0, "ended; what was finished is kept\n")


def test_a_signal_in_the_middle_of_indexing_keeps_what_is_finished(tmp_path: Path) -> None:
    said = "In {n}, the council of town {n} asked firm {n} to build a bridge over the river."
    text = "\n\n".join(said.format(n=1000 + n) for n in range(80)).encode()
    with served(tmp_path / "store.db") as one:
        first = one.client.indexed("first.md", b"# First\n\nThe mayor of Bern opened a museum.")
        assert first["state"] == "done"
        job = one.client.upload("towns.txt", text).data["job"]
        while one.client.get(f"/api/jobs/{job}").data["state"] == "queued":
            time.sleep(0.02)
        code, last = ended(one, signal.SIGTERM)
        assert (code, last) == (0, "ended; what was finished is kept\n")
    with served(tmp_path / "store.db") as again:
        assert "first" in {one["id"] for one in again.client.get("/api/documents").data}
        deadline = time.monotonic() + 90
        while len(again.client.get("/api/documents").data) < 2:  # it takes the file up again
            assert time.monotonic() < deadline
            time.sleep(0.2)


def test_for_other_machines_a_token_is_made_and_printed(tmp_path: Path) -> None:
    with served(tmp_path / "store.db", "--host", "0.0.0.0") as one:
        (token,) = re.findall(r"#key=(\S+)", one.printed)
        assert len(token) >= 32
        assert one.client.get("/api/health").status == 401
        assert one.client.get("/api/health", Authorization=f"Bearer {token}").status == 200


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with served(tmp_path / "store.db") as one:
        with pytest.raises(InputError, match="cannot listen on") as caught:
            serve_command.main(
                ["--port", str(one.client.port), "--store", str(tmp_path / "other.db")],
                standalone_mode=False,
            )
        assert "--port" in str(caught.value.hint)


def test_without_the_server_extra_the_way_to_install_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [n for n in sys.modules if n.startswith("abstrag.server.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(ResourceMissing, match="abstrag serve needs 'fastapi'") as caught:
        serve_command.main([], standalone_mode=False)
    assert caught.value.hint == "pip install 'abstrag[server]'"


def test_a_store_that_cannot_be_used_is_said_before_anything_is_served(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no store, and far longer than a header of one would be" * 20)
    with pytest.raises(StoreError, match="is not a store or is broken"):
        serve_command.main(["--port", "0", "--store", str(broken)], standalone_mode=False)


def test_a_server_has_no_dry_run() -> None:
    with pytest.raises(InputError, match="no dry run"):
        serve_command.main(["--dry-run", "--llm", "none", "--port", "0"], standalone_mode=False)
