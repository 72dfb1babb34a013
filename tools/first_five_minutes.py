"""A stranger's first five minutes, step by step, each with what it took.

    python tools/first_five_minutes.py
    python tools/first_five_minutes.py --here

The package of this checkout is installed into a new environment, with its requirements from the
usual index, and then used as a stranger would: a first answer, a first question whose evidence is
missed, why it is, a first correction, and the question again. With --here the installed one is used
and nothing is installed. Of what a step prints the first hit is shown, or else the first lines.
"""

from __future__ import annotations

import argparse
import os
import re
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
ANSWERED: Final = "How much wastewater did the station lose?"
MISSED: Final = "Which damage did the spill cause?"
PASSAGE: Final = "Fish died over a length of two kilometres."
SAID: Final = ("--good", PASSAGE, "--right", "damage=died", "--wrong", "spill=spilled")
_FIRST_HIT: Final = re.compile(r" *1  .+")


def step(what: str, line: list[str], folder: Path) -> float:
    """Do one step, and say what it took and the first line it printed."""
    started = time.perf_counter()
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    took = time.perf_counter() - started
    lines = [text.strip() for text in done.stdout.splitlines() if text.strip()]
    hits = [text for text in lines if _FIRST_HIT.fullmatch(text)]
    said = hits[0] if hits else " · ".join(lines[:2])
    print(f"{took:6.1f} s  {what}: {said[:120]}", flush=True)
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
            ("first answer", ["ask", "water", ANSWERED]),
            ("first question missed", ["search", "water", MISSED, "-k", "3"]),
            ("first why-not", ["why-not", "water", MISSED, "--text", PASSAGE, "-k", "3"]),
            ("first correction", ["feedback", "water", MISSED, *SAID]),
            ("asked again", ["search", "water", MISSED, "-k", "3"]),
        ):
            total += step(what, [*abstrag, *line], folder)
        print(f"{total:6.1f} s  in all")


if __name__ == "__main__":
    main()
