"""How fast documents are read and indexed, and how much memory that takes, against older code.

    python benchmarks/document_reading.py --before OLD/src FILE...
    python benchmarks/document_reading.py --before OLD/src --command FILE...

Each file is indexed by both, in turns and in a process of its own each time, so that a machine that
is busy with other things slows both down alike. Processor time is what counts. `start` is what a
process takes until it has indexed a first sentence; `reading` is the part of the rest in which the
file becomes a document, `indexing` all of the rest. Memory is the peak of the process.

With --command each turn runs `abstrag index` with a new store, of a file or of a folder:
`processor` and `clock` are the whole of it, its workers included, and `disk` is what lies there
after it. This code is run twice then: as it is, and with --no-prepare, which leaves the vectors of
words to the first question, as older code left all vectors. A file without pages counts as one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from pypdfium2 import PdfDocument

OURS: Final = Path(__file__).parent.parent / "src"
TURNS: Final = 3
_MEASURE: Final = """
import json, resource, sys, time
from pathlib import Path
from abstrag.documents.load import load, load_bytes
from abstrag.indexing.pipeline import index
index(load_bytes(b"The firm paid 3 dollars in May.", name="first.txt"))
began = time.process_time()
document = load(Path(sys.argv[1]))
read = time.process_time() - began
made = index(document)
whole = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
pages = max((b.page or 1 for b in document.blocks), default=1)
told = {"start": began, "reading": read, "indexing": whole, "peak": peak, "pages": pages}
print(json.dumps({**told, "segments": len(made.segments)}))
"""
_COMMAND: Final = """
import sys
from abstrag.cli.main import main
sys.argv[0] = "abstrag"
sys.exit(main())
"""
_PEAK: Final = """
import json, resource, subprocess, sys
code = subprocess.call([sys.executable, "-c", *sys.argv[1:]], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
told = {"processor": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}
print(json.dumps(told))
sys.exit(code)
"""

Figures = dict[str, float]


class Arm(NamedTuple):
    """Code that is measured: what it is called, where it lies, and options of `abstrag index`."""

    name: str
    source: Path
    options: tuple[str, ...] = ()


def _run(program: Sequence[str], source: Path, cache: Path) -> Figures:
    """Run a program with the code of a source folder; its compiled modules are kept for turns."""
    own = {"PYTHONPATH": str(source.resolve()), "PYTHONPYCACHEPREFIX": str(cache)}
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    told = subprocess.run(
        [sys.executable, "-c", *program], env=kept | own, stdout=subprocess.PIPE, check=True
    )
    figures: Figures = json.loads(told.stdout.splitlines()[-1])
    return figures


def measure(arm: Arm, file: Path, cache: Path) -> Figures:
    """Read and index a file in one process."""
    return _run([_MEASURE, str(file)], arm.source, cache)


def pages_of(path: Path) -> int:
    """Count the pages of a file, or of all files in a folder."""
    if path.is_dir():
        return sum(pages_of(each) for each in path.rglob("*") if each.is_file())
    return len(PdfDocument(path)) if path.suffix == ".pdf" else 1


def command(arm: Arm, file: Path, cache: Path) -> Figures:
    """Index a file or folder as a user does, into a new store."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        began = time.perf_counter()
        program = [_PEAK, _COMMAND, "index", str(file), "--store", str(store), *arm.options]
        figures = _run(program, arm.source, cache)
        figures["clock"] = time.perf_counter() - began
        figures["pages"] = pages_of(file)
        figures["disk"] = sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file())
    return figures


def row(runs: Sequence[Figures]) -> str:
    """Write the medians of some runs of `measure`."""
    middle = {key: median(run[key] for run in runs) for key in runs[0]}
    pages = middle["pages"]
    return (
        f"{pages:.0f} | {middle['start']:.2f} s | {1000 * middle['reading'] / pages:.1f} ms "
        f"| {1000 * middle['indexing'] / pages:.1f} ms | {middle['peak']:.0f} MiB "
        f"| {middle['segments']:.0f}"
    )


def command_row(runs: Sequence[Figures]) -> str:
    """Write the medians of some runs of `command`."""
    middle = {key: median(run[key] for run in runs) for key in runs[0]}
    pages = middle["pages"]
    return (
        f"{pages:.0f} | {middle['processor']:.1f} s | {1000 * middle['processor'] / pages:.0f} ms "
        f"| {middle['clock']:.1f} s | {middle['peak']:.0f} MiB | {middle['disk'] / 1e6:.1f} MB"
    )


def main() -> None:
    """Print both codes side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--before", type=Path, help="the src folder of older code")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--command", action="store_true", help="run `abstrag index`")
    given = parser.parse_args()
    arms = [Arm("before", given.before)] if given.before else []
    if given.command:
        arms.append(Arm("now, vectors later", OURS, ("--no-prepare",)))
    arms.append(Arm("now", OURS))
    once: Callable[[Arm, Path, Path], Figures] = command if given.command else measure
    heads = "pages | start | reading a page | indexing a page | peak | segments"
    if given.command:
        heads = "pages | processor | a page | clock | peak | disk"
    print(f"| file | code | {heads} |")
    print("|---" * (heads.count("|") + 3) + "|")
    with TemporaryDirectory() as caches:
        for arm in arms:  # compiles the modules
            once(arm, given.files[0], Path(caches) / arm.name)
        for file in given.files:
            runs: dict[str, list[Figures]] = {arm.name: [] for arm in arms}
            for _ in range(given.turns):
                for arm in arms:
                    runs[arm.name].append(once(arm, file, Path(caches) / arm.name))
            for code, found in runs.items():
                told = command_row(found) if given.command else row(found)
                print(f"| {file.name} | {code} | {told} |", flush=True)


if __name__ == "__main__":
    main()
