"""How fast a folder of many files is indexed, and how memory behaves along the way.

    python benchmarks/indexing_many.py [FOLDER] [--workers N ...] [--every N]

Without a folder, 400 notes are written for it. For each number of workers a new store is made:
wall-clock and processor seconds, documents a second, the resident memory of this process and of its
workers every so often, and bytes on disk for each document. Then the unchanged folder is indexed
again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from abstrag.engine.source_files import IndexOutcome
from abstrag.workers.processes import Processes, usual_workers
from abstrag.workspace.many_files import index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

NOTES = 400


def write_notes(folder: Path) -> None:
    for number in range(NOTES):
        (folder / f"note{number:04}.md").write_text(
            f"# Lease {number}\n\nThe port authority (PA) leased pier {number} to a shipping "
            f"company in 20{number % 25:02}. The PA raised the rent of pier {number} by "
            f"{number % 9 + 1}% when the company, an operator of ferries, renewed the agreement. "
            "It was signed last year, and the revenue of the harbour grew.\n",
            "utf-8",
        )


def resident(pid: int | str) -> int:
    """Return the resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


def run(folder: Path, path: Path, workers: int) -> Iterator[IndexOutcome]:
    with Workspace(WorkspaceConfig(store=path)) as workspace:
        yield from index_many(workspace, [folder], Processes(workers))


def processor_seconds() -> tuple[float, float]:
    """Return what this process and the workers that have ended took of the processors."""
    own, theirs = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime, theirs.ru_utime + theirs.ru_stime


def measure(folder: Path, path: Path, workers: int, every: int) -> None:
    print(f"\n{workers} workers")
    begun, before, count = time.perf_counter(), processor_seconds(), 0
    for count, outcome in enumerate(run(folder, path, workers), 1):
        if outcome.error:
            print(f"  {outcome.status} {outcome.path}: {outcome.error}")
        if count % every == 0:
            held = " + ".join(
                f"{resident(child.pid or 0)}" for child in multiprocessing.active_children()
            )
            print(f"  {count:6} files  {time.perf_counter() - begun:7.1f} s", end="")
            print(f"  memory {resident('self')} + {held} MB")
    took = time.perf_counter() - begun
    own, theirs = (now - then for now, then in zip(processor_seconds(), before, strict=True))
    size = path.stat().st_size / max(count, 1) / 1024
    print(f"  {count} files in {took:.1f} s, {count / took:.1f} a second", end="")
    print(f"; {size:.0f} KB a document on disk")
    print(f"  processor seconds: {theirs:.1f} of the workers, {own:.1f} of this process")
    begun = time.perf_counter()
    statuses = {outcome.status for outcome in run(folder, path, workers)}
    print(f"  again: {time.perf_counter() - begun:.1f} s ({', '.join(sorted(statuses))})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, usual_workers()])
    parser.add_argument("--every", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder
        if folder is None:
            folder = Path(temporary) / "notes"
            folder.mkdir()
            write_notes(folder)
        for workers in given.workers:
            measure(folder, Path(temporary) / f"{workers}.db", workers, given.every)


if __name__ == "__main__":
    main()
