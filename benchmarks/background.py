"""How long a large alias file takes to compile and to look up, and how much memory that needs.

    python benchmarks/background.py [--lines 100000]

Memory is what the process adds to itself, counted by the operating system, in a process of its own
for each size; "traced" is the peak of what Python allocates. A file ten times as large must not
need ten times as much.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Final

from abstrag.backgrounds.build import build
from abstrag.backgrounds.compiled import CompiledBackground
from abstrag.backgrounds.source import BackgroundSource

WORDS: Final = 5_000  # of the document that is looked up
ONE_IN: Final = 20  # every so many words of it is a known name


def write_aliases(path: Path, lines: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("alias,name\n")
        for i in range(lines):
            file.write(f"Alias{i} of thing,Thing {i // 3} Incorporated\n")


def document(lines: int) -> str:
    step = max(1, lines // (WORDS // ONE_IN))
    known = (f"Alias{i} of thing" for i in range(0, lines, step))
    return " ".join(f"{name} {'did something quite unheard of ' * 3}" for name in known)


def rss_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: Path, lines: int, *, traced: bool) -> dict[str, float]:
    aliases, compiled = folder / "aliases.csv", folder / "bg.db"
    write_aliases(aliases, lines)
    before = rss_mib()
    if traced:
        tracemalloc.start()
    start = time.perf_counter()
    build([BackgroundSource.of(aliases)], compiled)
    built = time.perf_counter() - start
    grown = rss_mib() - before
    peak = tracemalloc.get_traced_memory()[1] / 2**20 if traced else 0.0
    tracemalloc.stop()
    text = document(lines)
    start = time.perf_counter()
    part = CompiledBackground.open(compiled).touched_by([text])
    looked = time.perf_counter() - start
    return {
        "lines": lines,
        "build_s": built,
        "lines_per_s": lines / built,
        "rss_mib": grown,
        "traced_mib": peak,
        "look_up_ms": looked * 1000,
        "touched": len(part.background.aliases),
        "source_mib": aliases.stat().st_size / 2**20,
        "compiled_mib": compiled.stat().st_size / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)  # a process of its own
    parser.add_argument("--traced", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(Path(folder), options.one, traced=options.traced)))
        return
    for lines in (options.lines // 10, options.lines, options.lines * 5):
        timed, traced = (_apart(lines, *flags) for flags in ((), ("--traced",)))
        print(
            f"{lines:>9,} lines ({timed['source_mib']:.1f} MiB): built in {timed['build_s']:.1f} s"
            f" ({timed['lines_per_s']:,.0f} a second), grew by {timed['rss_mib']:.0f} MiB,"
            f" traced peak {traced['traced_mib']:.1f} MiB, {timed['compiled_mib']:.1f} MiB on disk;"
            f" {timed['touched']:.0f} things looked up in {timed['look_up_ms']:.0f} ms"
        )


def _apart(lines: int, *flags: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", str(lines), *flags]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
