"""Time a command in fresh processes, here and in another checkout, and list its dearest imports.

    python -m tools.cold_start --before ../old/src -- search DOCUMENT "a question"
    python -m tools.cold_start --new -- search DOCUMENT "a question"

Both are run in turns, so that what else the machine does is spread over both. The medians are
printed, and those of the processor time, which a busy machine changes less. What models say is
remembered in the store, so a question that was asked before takes less time: with `--new` every
run works on a copy of the store (ABSTRAG_STORE) as it was at the start.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

HERE: Final = Path(__file__).parents[1] / "src"
RUNS: Final = 5
SHOWN: Final = 20
STORE: Final = "ABSTRAG_STORE"
_START: Final = "from abstrag.cli.main import main; main()"
_IMPORT: Final = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|( *)(\S+)")


@dataclass(frozen=True, slots=True)
class Import:
    """A module, how deep in others' imports it stood, and what it took in ms with all it needs."""

    name: str
    depth: int
    own: float
    total: float


@dataclass(frozen=True, slots=True)
class Run:
    """How long a process took, and how long processors worked for it, in seconds."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Command:
    """A command line to be run in fresh processes; `new` gives each its own copy of the store."""

    arguments: Sequence[str]
    new: bool

    def run(self, source: Path, *options: str) -> tuple[Run, str]:
        """Run it once with a checkout's code; return what it took and standard error."""
        with TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPATH": str(source)}
            if self.new:
                copy = Path(folder) / "store.db"
                shutil.copyfile(os.environ[STORE], copy)
                environment[STORE] = str(copy)
            line = [sys.executable, *options, "-c", _START, *self.arguments]
            began, worked = time.perf_counter(), _work_of_children()
            done = subprocess.run(
                line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            took = Run(time.perf_counter() - began, _work_of_children() - worked)
        if done.returncode:
            sys.exit(f"{' '.join(self.arguments)} failed with {source}:\n{done.stderr}")
        return took, done.stderr


def _work_of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def timed(command: Command, sources: Sequence[Path], runs: int) -> dict[Path, list[Run]]:
    """Run a command with each checkout's code in turns; the first round only warms the disk up."""
    took: dict[Path, list[Run]] = {source: [] for source in sources}
    for turn in range(runs + 1):
        for source in sources:
            run, _ = command.run(source)
            if turn:
                took[source].append(run)
    return took


def dearest(report: str, shown: int = SHOWN) -> list[Import]:
    """Read what `-X importtime` wrote; return the imports that take longest with all they need."""
    found = [
        Import(name, len(indent) // 2, int(own) / 1000, int(total) / 1000)
        for own, total, indent, name in _IMPORT.findall(report)
    ]
    return sorted(found, key=lambda each: -each.total)[:shown]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s [options] -- COMMAND …")
    parser.add_argument("--before", type=Path, help="src of another checkout")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each, besides one to warm up")
    parser.add_argument("--new", action="store_true", help="a fresh copy of the store every time")
    parser.add_argument("arguments", nargs="+", metavar="COMMAND", help="what comes after abstrag")
    given = parser.parse_args()
    if given.new and not os.environ.get(STORE):
        parser.error(f"--new copies the store, so {STORE} must name it")
    command = Command(given.arguments, given.new)
    sources = [given.before.resolve(), HERE] if given.before else [HERE]
    print("   wall  processor, medians in seconds")
    medians = []
    for source, runs in timed(command, sources, given.runs).items():
        wall, work = median(r.wall for r in runs), median(r.processor for r in runs)
        medians.append((wall, work))
        print(f"{wall:7.3f} {work:10.3f}  {source}  ({' '.join(f'{r.wall:.2f}' for r in runs)})")
    if len(medians) > 1:
        (wall, work), (wall_now, work_now) = medians
        print(f"{wall_now / wall:7.1%} {work_now / work:10.1%}  of the time before")
    print(f"\nthe {SHOWN} dearest imports, ms with all they need and by themselves:")
    for each in dearest(command.run(HERE, "-X", "importtime")[1]):
        print(f"{each.total:8.1f} {each.own:7.1f}  {'  ' * each.depth}{each.name}")


if __name__ == "__main__":
    main()
