"""What a small document costs to index, and to prepare for a search over all documents.

    python benchmarks/document_cost.py FOLDER [--count N] [--profile STEPS]

Does what a worker of `abstrag index` does with the first files of a folder, in one process that has
loaded all models, into a new store: once without and once with what a search over all documents
needs. Processor time of all threads, which other work on the machine hardly changes. Each of the
two runs in a process of its own, so that neither finds the other's words in a cache.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from socket import gethostname

from abstrag.engine.source_files import DueFile, IndexOutcome
from abstrag.workspace.many_files import AHEAD, IndexedFile, Indexing
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

WARM_UP = 20  # documents before the clock starts


def first_files(folder: Path, count: int) -> list[Path]:
    return list(islice((each for each in sorted(folder.rglob("*")) if each.is_file()), count))


def measure(paths: Sequence[Path], ahead: int, profile: int) -> None:
    """Index files as a worker does, and print what each took."""
    with tempfile.TemporaryDirectory() as temporary:
        config = WorkspaceConfig(store=Path(temporary) / "many.db")
        with Workspace(config) as workspace:
            due = [each for each in workspace.library.due_paths(paths) if isinstance(each, DueFile)]
            perform = Indexing(config, gethostname(), due[0].source, ahead=ahead).start()
            for job in due[:WARM_UP]:
                perform(job)
            profiler = cProfile.Profile()
            began = time.process_time()
            if profile:
                profiler.enable()
            results = [perform(job) for job in due[WARM_UP:]]
            if profile:
                profiler.disable()
            each = 1000 * (time.process_time() - began) / len(results)
            sizes = [sum(len(layer[3]) for layer in one.layers) for one in results]
            print(
                f"{'indexed and prepared' if ahead else 'indexed'}: {each:.1f} ms a document, "
                f"{len(results)} documents, {sum(map(failed, results))} failed, "
                f"{sum(sizes) / len(results) / 1024:.1f} KB of layers each"
            )
            if profile:
                pstats.Stats(profiler).sort_stats("tottime").print_stats(profile)
                pstats.Stats(profiler).sort_stats("cumulative").print_stats(2 * profile)


def failed(one: IndexedFile) -> bool:
    return isinstance(one.made, IndexOutcome)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=220, help="the first of them warm up")
    parser.add_argument("--profile", type=int, default=0, help="print the dearest functions")
    parser.add_argument("--ahead", type=int, help="one of the two alone: 0, or what is prepared")
    given = parser.parse_args()
    if given.ahead is not None:
        measure(first_files(given.folder, given.count), given.ahead, given.profile)
        return
    for ahead in (0, AHEAD):
        line = [sys.executable, __file__, str(given.folder), "--count", str(given.count)]
        line += ["--ahead", str(ahead), "--profile", str(given.profile)]
        subprocess.run(line, check=True)


if __name__ == "__main__":
    main()
