"""How long a document takes to follow a change of its Background, and which operators run.

    python benchmarks/background_change.py FILING.pdf
    python benchmarks/background_change.py FILING.pdf --thing 3M

The file is indexed once without a Background. Then each change is made to one that the store has
indexed last, by `abstrag index` in a new process: the start of Python and all imports are counted.
Processor seconds stand beside the clock, for a busy machine changes them less. Without a file a
made-up report is used. `--thing` is a name that stands in the file.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.browser.library import report

RUN: Final = "from abstrag.cli.main import main; main()"
CHANGES: Final = (
    ("nothing", "", ""),
    ("a class of a thing that it names", "[classes]", '"{thing}" = ["supplier of notes {n}"]'),
    ("an alias of a thing that it names", "[aliases]", '"{thing}" = ["The {thing} Works {n}"]'),
    ("an alias of a thing that it does not name", "[aliases]", 'Zugspitze = ["the Zug {n}"]'),
    ("an event rule", "[[events]]", 'source = "replace"\ntarget = "repair {n}"\nslots = ["who"]'),
    ("phrases that are no news", "", 'known = ["sheep {n}"]'),
)


def index(file: Path, store: Path, background: Path | None) -> tuple[float, float, str]:
    """Index in a new process; return seconds, processor seconds, and what was said."""
    given = [] if background is None else ["--background", str(background)]
    line = [sys.executable, "-c", RUN, "index", str(file), "--store", str(store), *given]
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    took, after = time.perf_counter() - began, os.times()
    if done.returncode:
        sys.exit(done.stderr)
    worked = after.children_user + after.children_system
    return (
        took,
        worked - before.children_user - before.children_system,
        done.stdout + done.stderr,
    )


def main() -> None:
    """Index a file, change its Background again and again, and print a table."""
    parser = argparse.ArgumentParser(description="Time changes of a Background.")
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--thing", default="Inspector", help="A name that stands in the file.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = given.file
        if file is None:
            file = folder / "report.pdf"
            file.write_bytes(report())
        store, background = folder / "store.db", folder / "own.toml"
        took, worked, said = index(file, store, None)
        size = re.search(r"(\d[\d,]*) segments", said)
        print(f"{file.name}, {size[1] if size else '?'} segments")
        print(f"{took:7.1f} s {worked:7.1f} s of processor  the first time, without a Background")
        background.write_text('[classes]\n"thing" = ["class"]\n')
        index(file, store, background)
        for n, (what, table, entry) in enumerate(CHANGES):
            line = entry.format(thing=given.thing, n=n)
            background.write_text(f"{table}\n{line}\n")
            if what == "nothing":
                background.write_text('[classes]\n"thing" = ["class"]\n')
            took, worked, _ = index(file, store, background)
            print(f"{took:7.1f} s {worked:7.1f} s of processor  {what}", flush=True)


if __name__ == "__main__":
    main()
