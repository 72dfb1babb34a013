"""Take the pictures of the studio that the documentation shows.

    python tools/studio_pictures.py docs/pictures

A server of its own is started over a store of its own with documents that this script writes, so
that everybody gets the same pictures. It needs Playwright and a Chromium (ABSTRAG_CHROMIUM names
one).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from abstrag.workspace.tour import demo_document

DESKTOP: Final = {"width": 1360, "height": 860}
FLAGS: Final = ("--no-sandbox", "--disable-gpu")
NOTES: Final = {
    "lock.md": (
        "---\ndate: 2019-04-01\n---\n# The lock of Esbjerg\n\nThe council paid for a new lock. "
        "Cargo vessels pass the lock at dawn. The gates were repaired twice.\n"
    ),
    "ferry.md": (
        "---\ndate: 2023-06-05\n---\n# The ferry of Esbjerg\n\nThe ferry waits at the lock until "
        "noon. Sailors sleep aboard. In 2022 the ferry carried 40,000 passengers.\n"
    ),
    "accounts.md": (
        "---\ndate: 2024-02-01\n---\n# Accounts of the harbour\n\n"
        "| Euro thousand | 2022 | 2023 |\n|---|---|---|\n| Fees of vessels | 410 | 455 |\n"
        "| Repair of the lock | 120 | 35 |\n| Wages | 210 | 228 |\n\n"
        "The fees of vessels rose because more cargo passed the lock.\n"
    ),
}
VISIT: Final = "Which collaborations between LLM companies and chip suppliers were there in 2024?"
SHOWN: Final = {  # picture → where the studio is opened, and what it is asked
    "collection": ("", "Who passes the lock?"),
    "evidence": ("doc=chips", VISIT),
}
SERVE: Final = "from abstrag.cli.main import main; main()"


def written(folder: Path) -> list[Path]:
    """Write the documents."""
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "chips.md").write_text(demo_document().text, "utf-8")
    return [*(folder / name for name in NOTES), folder / "chips.md"]


@contextmanager
def studio(store: Path) -> Iterator[str]:
    """Run the server, and yield its address."""
    command = [sys.executable, "-c", SERVE, "serve", "--port", "0", "--store", str(store)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            told = (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in process.stdout)
            yield next(match[0] for match in told if match)
        finally:
            process.terminate()


def ask(page: Any, query: str) -> None:
    """Put a question, and wait until its hits stand still."""
    page.wait_for_function("() => !document.querySelector('.jobs *')")
    page.wait_for_load_state("networkidle")
    page.fill("#query", query)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(400)


def pictures(address: str, folder: Path, browser: Any) -> None:
    """Take the pictures that pages show."""
    for name, (fragment, query) in SHOWN.items():
        context = browser.new_context(
            viewport=DESKTOP, color_scheme="light", reduced_motion="reduce"
        )
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(f"{address}#{fragment}")
        ask(page, query)
        page.screenshot(path=folder / f"{name}-desktop-light.png")
        context.close()


def main() -> None:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("ABSTRAG_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        store = Path(place) / "store.db"
        files = [str(file) for file in written(Path(place))]
        subprocess.run(
            [sys.executable, "-c", SERVE, "index", *files, "--store", str(store)], check=True
        )
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        with studio(store) as address:
            pictures(address, folder, browser)
        browser.close()


if __name__ == "__main__":
    main()
