"""Run a story about a policy store again and again, and die at another write point each time.

Called as a program, so that the kills are real: `crashing.py FOLDER`. For every write point it
makes FOLDER/<number> with the store and, in `acknowledged`, what the story had been told was done.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from abstrag.model.patch import EditOp, PromptEdit
from tests.unit.policy.samples import NO_TEXT, OTHER_RULE, RULE, STAGE, harmless, opened, unsynced

THIRD_RULE = "A place and the people who live there are different."
MINE = "A line that a person wrote."
MINE_TOO = "Another line that a person wrote."
CASES = ("c1",)
OTHER_STAGE = "align_events"


@dataclass
class Story:
    """What happens to a store, told so that it can be taken up again after a crash."""

    root: Path
    point: Callable[[str], None]

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.store = opened(self.root, k=len(CASES), files=unsynced(self.point))

    def once(self, what: str, act: Callable[[], object]) -> None:
        """Do something unless it is known to be done, and note that it is done."""
        noted = self.root / "acknowledged"
        if not noted.exists() or what not in noted.read_text().splitlines():
            act()
            with noted.open("a") as file:
                file.write(what + "\n")

    def vote(self, text: str, program: str = STAGE) -> None:
        edit = PromptEdit(program, EditOp.ADD_RULE, text)
        for case in CASES:
            act = partial(self.store.propose, edit, case=case, patch="p", text=NO_TEXT)
            self.once(f"vote {program} {text} {case}", act)

    def promote(self, what: str) -> None:
        self.once(what, lambda: self.store.promote(harmless))

    def save_by_hand(self, line: str) -> None:
        path = self.root / "news" / f"{STAGE}.json"
        data = json.loads(path.read_bytes())
        data["rules"].append(line)
        draft = path.with_suffix(".editor")
        draft.write_text(json.dumps(data))
        draft.replace(path)

    def take_back(self) -> None:
        if (self.root / "news" / f"{OTHER_STAGE}.json").exists():
            made = [e for e in self.store.changes() if e.payload["program"] == OTHER_STAGE]
            self.store.revert(made[-1].payload["id"])


def story(root: Path, point: Callable[[str], None]) -> None:
    """Vote, promote, edit by hand, promote on top, conflict, and a promotion that is taken back."""
    told = Story(root, point)
    told.vote(RULE)
    told.promote("first promotion")
    told.once(f"hand {MINE}", lambda: told.save_by_hand(MINE))
    told.vote(OTHER_RULE)
    told.promote("second promotion")
    told.vote(THIRD_RULE)
    told.once(f"hand {MINE_TOO}", lambda: told.save_by_hand(MINE_TOO))
    told.promote("conflict")
    told.vote(RULE, OTHER_STAGE)
    told.promote("third promotion")
    told.once("revert", told.take_back)


def points(root: Path) -> list[str]:
    """Return the write points that the story passes."""
    seen: list[str] = []
    story(root, seen.append)
    return seen


def deadly(number: int) -> Callable[[str], None]:
    """Return a hook that kills the process at the given point, counted from 0."""
    passed = count()

    def point(_where: str) -> None:
        if next(passed) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return point


def main(folder: Path) -> None:
    """Kill a child at every point."""
    total = len(points(folder / "whole"))
    for number in range(total):
        child = os.fork()
        if child == 0:
            story(folder / str(number), deadly(number))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"point {number} was not reached"
    (folder / "total").write_text(str(total))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
