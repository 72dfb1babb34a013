"""Tell a story about feedback, precedents and their promotion, and die at each write in turn.

Called as a program, so that the kills are real: `crashing.py FOLDER`. For every write point it
makes FOLDER/<number> with the policy folder that the killed process left. `crashing.py FOLDER NAME`
writes feedback of its own into FOLDER instead, for several processes that write at a time.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np

from abstrag.model.patch import Precedent
from abstrag.refine.feedback import Feedback
from abstrag.refine.patch_log import PatchLog
from abstrag.search.precedents import packed
from tests.unit.policy.samples import opened, unsynced
from tests.unit.refine.harbour import LOCK, SEWAGE, searcher

LINES = 20  # that each of several processes writes


def precedent(document: str) -> Precedent:
    vectors = packed(np.array([1.0, 0.0])), packed(np.array([0.0, 1.0]))
    return Precedent(SEWAGE, document, ("s5",), "m", *vectors)


def story(root: Path, point: Callable[[str], None]) -> None:
    """Say something of hits and steps, show three precedents, promote them, take one back."""
    patch_log = PatchLog(opened(root, "harbour", files=unsynced(point)))
    index = searcher().index
    if not patch_log.feedback():
        patch_log.note_feedback(Feedback(LOCK, good=("s7",)), index)
    for name in "abc":
        patch_log.note_precedent(precedent(name), index, "by hand")
    known = patch_log.precedents()
    for one in known:
        if not (one.when or one.refused):
            patch_log.promote_precedent(one, known, None)
    if not any(one.refused for one in patch_log.precedents()):
        patch_log.revert(known[0].id)


def main(folder: Path) -> None:
    """Kill a child at every point."""
    seen: list[str] = []
    story(folder / "whole", seen.append)
    for number in range(len(seen)):
        child = os.fork()
        if child == 0:
            passed = count()

            def point(_where: str, number: int = number, passed: "count[int]" = passed) -> None:
                if next(passed) == number:
                    os.kill(os.getpid(), signal.SIGKILL)

            story(folder / str(number), point)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"point {number} was not reached"
    (folder / "total").write_text(str(len(seen)))


def write(folder: Path, name: str) -> None:
    """Give feedback and show a precedent, again and again."""
    patch_log = PatchLog(opened(folder, "harbour"))
    for number in range(LINES):
        patch_log.note_feedback(Feedback(f"{LOCK} {name} {number}", good=("s7",)), searcher().index)
        patch_log.note_precedent(precedent(f"{name} {number}"), searcher().index, "by hand")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        write(Path(sys.argv[1]), sys.argv[2])
    else:
        main(Path(sys.argv[1]))
