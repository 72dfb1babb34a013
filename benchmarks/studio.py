"""How long a person waits in the studio: the first question over many documents, a far page.

    python benchmarks/studio.py
    python benchmarks/studio.py --store scifact.db --queries claims.txt

The first part asks a store in two ways. `process` is a new process of `abstrag search`, start and
imports included; `server` is the first search after `abstrag serve` has said that it is ready.
Every question is put to a copy of the store, so that no judgement is remembered from before.
Without --store a small library of made-up notes is used. The second part needs Playwright and a
Chromium: a report of 150 pages is asked for what stands on page 88 alone, and timed from the hits
being there to that page being drawn with its box.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.upkeep import prepare
from abstrag.workspace.workspace import Workspace
from benchmarks.collection import QUERIES, made_up
from tests.browser.library import TARGET, report
from tests.unit.server.running import Client

RUN: Final = "from abstrag.cli.main import main; main()"
ROUNDS: Final = 5
FLAGS: Final = ("--no-sandbox", "--disable-gpu")


def command(*arguments: str | Path) -> list[str]:
    """Return the command line of abstrag in this environment."""
    return [sys.executable, "-c", RUN, *map(str, arguments)]


def timed(work: Callable[[], object]) -> float:
    """Return seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@contextmanager
def serving(store: Path) -> Iterator[Client]:
    """Run a server over a store, and yield a client once nothing is being prepared."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    line = command("serve", "--port", "0", "--store", store)
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            told = (re.search(r"http://127\.0\.0\.1:(\d+)/", line) for line in process.stdout)
            client = Client(int(next(match for match in told if match)[1]))
            while not _ready(client):
                time.sleep(0.1)
            yield client
        finally:
            process.terminate()


def _ready(client: Client) -> bool:
    try:
        return bool(client.get("/api/health").data["ready"])
    except ConnectionRefusedError:
        return False


def first_questions(store: Path, queries: list[str]) -> None:
    """Time the first question after indexing, in a process of its own and in a server."""
    for options, judge in (((), True), (("--no-judge",), False)):
        took: dict[str, list[float]] = {"process": [], "server": []}
        for query in queries[:ROUNDS]:
            with tempfile.TemporaryDirectory() as folder:
                fresh = Path(shutil.copy(store, folder))
                line = command("search", fresh, query, *options)
                run = lambda line=line: subprocess.run(line, check=True, capture_output=True)  # noqa: E731
                took["process"].append(timed(run))
                fresh = Path(shutil.copy(store, folder))
                with serving(fresh) as client:
                    body = {"query": query, "judge": judge}
                    took["server"].append(timed(lambda c=client, b=body: c.post("/api/search", b)))  # type: ignore[misc]
        for how, seconds in took.items():
            print(
                f"first question, {how}, judge {'on' if judge else 'off'}: median "
                f"{statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s, n {len(seconds)}"
            )


def far_page() -> None:
    """Time how soon page 88 of 150 is seen after its hits."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("ABSTRAG_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        (folder / "report.pdf").write_bytes(report())
        index = command("index", folder / "report.pdf", "--store", folder / "store.db")
        subprocess.run(index, check=True, capture_output=True)
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        with serving(folder / "store.db") as client:
            seconds = [_jump(browser, client) for _ in range(ROUNDS)]
        browser.close()
    print(
        f"page {TARGET} of 150 after its hits: median {statistics.median(seconds):.2f} s, "
        f"worst {max(seconds):.2f} s, n {len(seconds)}"
    )


def _jump(browser: Any, client: Client) -> float:
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{client.port}/#doc=report")
    page.wait_for_selector(".sheet-page[data-page='1'].drawn")
    page.fill("#query", "Who replaced the turbine of the dam?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    drawn = f".sheet-page[data-page='{TARGET}'].drawn .box.active"
    took = timed(lambda: page.wait_for_selector(drawn))
    context.close()
    return took


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description="What a person waits for in the studio.")
    parser.add_argument("--store", type=Path, help="an indexed and prepared store")
    parser.add_argument("--queries", type=Path, help="questions, one a line")
    parser.add_argument("--no-page", action="store_true", help="leave the browser out")
    given = parser.parse_args()
    queries = given.queries.read_text("utf-8").splitlines() if given.queries else list(QUERIES)
    if given.store is not None:
        first_questions(given.store, queries)
    else:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store.db"
            with Workspace(WorkspaceConfig(store)) as workspace:
                made_up(workspace, 50)
                prepare(workspace)
            first_questions(store, queries)
    if not given.no_page:
        far_page()


if __name__ == "__main__":
    main()
