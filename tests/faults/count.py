"""Inject every fault of the tests and count them: `python -m tests.faults.count`.

Each call to the disk of each story is struck once by each fault. The stories are those of the
tests, which assert the same: after a fault a reader sees the state before or after the step that
failed, nothing that was reported is missing, and the story can be taken up again.
"""

import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from tests.faults import plain_stories, stories
from tests.faults.conftest import _IN_MEMORY
from tests.faults.sqlite_disk import Fault
from tests.faults.test_plain_faults import FAULTS, STORIES
from tests.faults.test_sqlite_faults import STORIES as SQLITE_STORIES


def main() -> int:
    """Print a row for each story and a column for each fault."""
    found: dict[str, dict[Fault, int]] = {}
    lost = 0
    for name, story in SQLITE_STORIES.items():
        for fault in Fault:
            struck, problem = _count(partial(_in_sqlite, story, fault))
            found.setdefault(name, {})[fault] = struck
            lost += _told(name, fault, problem)
    for name, plain in STORIES.items():
        for fault in FAULTS:
            struck, problem = _count(partial(_in_files, plain, fault))
            found.setdefault(name, {})[fault] = struck
            lost += _told(name, fault, problem)
    print("| | " + " | ".join(fault.value for fault in Fault) + " | all |")
    print("|---|" + "---|" * (len(Fault) + 1))
    for name, row in found.items():
        cells = [str(row.get(fault, "")) for fault in Fault]
        print(f"| {name} | {' | '.join(cells)} | {sum(row.values())} |")
    total = [sum(row.get(fault, 0) for row in found.values()) for fault in Fault]
    print(f"| all | {' | '.join(map(str, total))} | {sum(total)} |")
    print(f"{sum(total)} faults, {lost} stories in which something was lost or wrong")
    return 1 if lost else 0


def _in_sqlite(story: stories.Story, fault: Fault, folder: Path) -> int:
    return stories.injected(story, folder, fault)


def _in_files(story: plain_stories.PlainStory, fault: Fault, folder: Path) -> int:
    return plain_stories.injected(story, folder, fault)


def _count(inject: Callable[[Path], int]) -> tuple[int, str]:
    folder = Path(mkdtemp(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None))
    try:
        return inject(folder), ""
    except AssertionError as error:
        return 0, str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _told(name: str, fault: Fault, problem: str) -> int:
    if problem:
        print(f"{name}, {fault.name}: {problem}", flush=True)
    return bool(problem)


if __name__ == "__main__":
    sys.exit(main())
