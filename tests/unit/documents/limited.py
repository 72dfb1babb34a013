"""How much work a file makes: read in a process with a limit, or counted in calls.

Nothing here looks at a clock. The limits of the process are a net that is far wider than the work
should need, so that a file that breaks its bounds ends one process and not the test run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import abstrag

_MEGABYTES = 1500  # of address space; the libraries take 300
_SECONDS = 30  # of processor time
_CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]) << 20,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]),) * 2)
from abstrag.documents.load import load
from abstrag.errors import AbstragError
try:
    document = load(sys.argv[1])
    if sys.argv[4] == "index":
        from abstrag.indexing.pipeline import index
        texts = [record.segment.text for record in index(document).records]
    else:
        texts = [block.text for block in document.blocks]
    print(json.dumps({"texts": texts}))
except AbstragError as error:
    print(json.dumps({"error": type(error).__name__, "message": str(error), "hint": error.hint}))
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a file: the texts of its blocks or segments, or one error."""

    texts: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    hint: str | None = None


def read_limited(
    path: Path, *, index: bool = False, megabytes: int = _MEGABYTES, seconds: int = _SECONDS
) -> Outcome:
    """Load a file, or load and index it, where memory and processor time are limited.

    A process that its limits end fails the test that started it, and so does a traceback.
    """
    source = str(Path(abstrag.__file__).parents[1])
    how = "index" if index else "load"
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path), str(megabytes), str(seconds), how],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-2000:])
    return Outcome(**json.loads(ended.stdout, object_hook=_with_tuples))


def _with_tuples(found: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}


def calls(action: Callable[[], object]) -> int:
    """Count the calls that an action makes, those into C included."""
    count = 0

    def see(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def growth(action: Callable[[int], object], size: int) -> float:
    """Return how many times the calls of `action(size)` are those of twice the size."""
    action(size)  # what is loaded or remembered once is no part of the work
    return calls(lambda: action(2 * size)) / calls(lambda: action(size))
