"""A real server in a process of its own, and a real Chromium that looks at it.

The browser is the one that `ABSTRAG_CHROMIUM` names, or the first that is installed; Playwright
drives it and downloads none. Whatever a test does, its page may not raise an error, break the
content security policy, or send a request to anybody but the server.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.browser.paper import paper
from tests.unit.server.running import Client

CHROMIUM = "ABSTRAG_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SERVE = "from abstrag.cli.main import main; main()"
PATIENCE_MS = 30_000


@dataclass(frozen=True)
class Studio:
    """A running server, and the document that is already in it."""

    address: str
    client: Client
    document: str


@pytest.fixture(scope="session")
def chromium() -> str:
    """Find the browser; without one, or without its driver, nothing here can be tested."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get(CHROMIUM) or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium is installed, and {CHROMIUM} names none")
    return path


@pytest.fixture(scope="session")
def studio(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Run `abstrag serve` over a store of its own, with the paper in it."""
    folder = tmp_path_factory.mktemp("studio")
    command = [
        sys.executable,
        "-c",
        SERVE,
        "serve",
        "--port",
        "0",
        "--store",
        str(folder / "store.db"),
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "XDG_DATA_HOME": str(folder)}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        ) as process,
    ):
        try:
            assert process.stdout is not None
            told = (re.search(r"http://127\.0\.0\.1:(\d+)/", line) for line in process.stdout)
            found = next((match for match in told if match), None)
            assert found, f"the server did not start: {(folder / 'log').read_text()}"
            client = Client(int(found[1]))
            _wait_for(client)
            made = client.indexed("orders.pdf", paper())
            assert made["state"] == "done", made
            yield Studio(found[0], client, made["document"])
        finally:
            process.terminate()
            process.communicate(timeout=20)


def _wait_for(client: Client, within_s: float = 20.0) -> None:
    """Wait until a server answers: it says where it will listen a moment before it does."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            assert client.alive()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """Start the browser for one file of tests.

    Its driver keeps an event loop running in this thread, and other tests want one of their own.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()


@dataclass
class Watch:
    """What pages did that no page may do."""

    own: set[str]
    wrong: list[str] = field(default_factory=list)

    def over(self, page: Any) -> None:
        """Start watching a page."""
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("console", self._said)
        page.on("request", self._asked)
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))

    def _said(self, message: Any) -> None:
        if "Content Security Policy" in message.text:
            self.wrong.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((*self.own, "data:", "blob:")):
            self.wrong.append(f"asked {request.url}")


Opener = Callable[..., Any]


@pytest.fixture
def visit(studio: Studio, browser: Any) -> Iterator[Opener]:
    """Open pages of the studio, or of another port; options are those of a browser context.

    The judge is off unless it is asked for: most tests are about what needs none.
    """
    watch = Watch({studio.address})
    contexts = []

    def opened(
        fragment: str = "", *, port: int | None = None, judge: bool = False, **options: Any
    ) -> Any:
        address = studio.address if port is None else f"http://127.0.0.1:{port}/"
        watch.own.add(address)
        usual = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"}
        context = browser.new_context(**{**usual, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        watch.over(page)
        wanted = fragment or f"doc={studio.document}"
        page.goto(f"{address}#{wanted}{'' if judge else '&judge=0'}")
        return page

    yield opened
    for context in contexts:
        context.close()
    studio.client.call("DELETE", f"/api/documents/{studio.document}/edits")
    assert watch.wrong == []


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A file whose words and name are markup that would run if it were taken for such."""
    trap = "<img src=x onerror=\"document.title='ran'\">"
    path = tmp_path / "<img src=x onerror=document.title='ran'>.txt"
    path.write_text(
        f"Report on {trap} traps\n\nThe engineer visited the factory in 2024 {trap} and left. "
        "<script>document.title='ran'</script> Nobody wrote it down.\n"
    )
    return path
