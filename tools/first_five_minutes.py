"""A stranger's first five minutes, step by step, each with what it took.

    python tools/first_five_minutes.py
    python tools/first_five_minutes.py --here

The package of this checkout is installed into a new environment, with its requirements from the
usual index, and then used as a stranger would: a first answer, a first question why something is
not there, a first correction. With --here the installed one is used and nothing is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
DEMO: Final = ROOT / "src" / "abstrag" / "data" / "demo"
RUN: Final = "from abstrag.cli.main import main; main()"
QUESTION: Final = "Did sewage enter the river?"
PASSAGE: Final = "Untreated wastewater reached the Alder below the old mill"


def step(what: str, line: list[str], folder: Path) -> float:
    """Do one step, and say what it took and the first line it printed."""
    started = time.perf_counter()
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    took = time.perf_counter() - started
    said = next((text.strip() for text in done.stdout.splitlines() if text.strip()), "")
    print(f"{took:6.1f} s  {what}: {said[:90]}", flush=True)
    if done.returncode:
        sys.exit(f"{what} failed:\n{done.stderr}")
    return took


def main() -> None:
    """Go through the steps."""
    parser = argparse.ArgumentParser(description="A stranger's first five minutes.")
    parser.add_argument("--here", action="store_true", help="install nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_DATA_HOME"] = str(folder / "data")
        shutil.copy(DEMO / "water.md", folder)
        python, total = sys.executable, 0.0
        if not given.here:
            os.environ.pop("PYTHONPATH", None)
            venv.create(folder / "venv", with_pip=True)
            python = str(folder / "venv" / "bin" / "python")
            install = [python, "-m", "pip", "install", "--quiet", str(ROOT)]
            total += step("install", install, folder)
        abstrag = [python, "-c", RUN]
        for what, line in (
            ("index", ["index", "water.md"]),
            ("first answer", ["ask", "water", QUESTION]),
            ("first hits", ["search", "water", QUESTION, "-k", "3"]),
            ("first why-not", ["why-not", "water", QUESTION, "--text", PASSAGE, "-k", "1"]),
            ("first correction", ["refine", "water", QUESTION]),
            ("asked again", ["search", "water", QUESTION, "-k", "3"]),
        ):
            total += step(what, [*abstrag, *line], folder)
        print(f"{total:6.1f} s  in all")


if __name__ == "__main__":
    main()
