"""How fast documents are read and indexed, and how much memory that takes, against older code.

    python benchmarks/document_reading.py --before OLD/src FILE...

Each file is indexed by both, in turns and in a process of its own each time, so that a machine that
is busy with other things slows both down alike. Processor time is what counts; `reading` is the
part of it in which the file becomes a document. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

OURS: Final = Path(__file__).parent.parent / "src"
TURNS: Final = 3
_MEASURE: Final = """
import json, resource, sys, time
from abstrag.documents.load import load
from abstrag.indexing.pipeline import index
from abstrag.language.parser import parse
from pathlib import Path
parse(["Load the model before the clock starts."])
started = time.process_time()
document = load(Path(sys.argv[1]))
read = time.process_time() - started
made = index(document)
whole = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
pages = max((b.page or 1 for b in document.blocks), default=1)
told = {"reading": read, "indexing": whole, "peak": peak, "pages": pages}
print(json.dumps({**told, "segments": len(made.segments)}))
"""


def measure(source: Path, file: Path) -> dict[str, float]:
    """Index a file with the code of a source folder."""
    told = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(file)],
        env={**os.environ, "PYTHONPATH": str(source.resolve())},
        capture_output=True,
        text=True,
        check=True,
    )
    figures: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return figures


def row(name: str, code: str, runs: Sequence[dict[str, float]]) -> str:
    """Write the medians of some runs."""
    pages = runs[0]["pages"]
    reading, indexing, peak = (
        median(run[key] for run in runs) for key in ("reading", "indexing", "peak")
    )
    return (
        f"| {name} | {code} | {pages:.0f} | {1000 * reading / pages:.0f} ms "
        f"| {1000 * indexing / pages:.0f} ms | {peak:.0f} MiB | {runs[0]['segments']:.0f} |"
    )


def main() -> None:
    """Print both codes side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--before", type=Path, help="the src folder of older code")
    parser.add_argument("--turns", type=int, default=TURNS)
    given = parser.parse_args()
    sources = {"before": given.before, "now": OURS} if given.before else {"now": OURS}
    print("| file | code | pages | reading a page | indexing a page | peak | segments |")
    print("|---|---|---|---|---|---|---|")
    for file in given.files:
        runs: dict[str, list[dict[str, float]]] = {code: [] for code in sources}
        for _ in range(given.turns):
            for code, source in sources.items():
                runs[code].append(measure(source, file))
        for code, found in runs.items():
            print(row(file.name, code, found), flush=True)


if __name__ == "__main__":
    main()
