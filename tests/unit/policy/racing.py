"""Several processes propose, vote and promote in one family while a person edits its file.

Called as a program: `racing.py FOLDER SEED...`. For every seed it makes FOLDER/<seed>; what each
process was told was done is in `acknowledged-<name>`. The seed decides who does what when; the
system's scheduler does the rest.
"""

import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from abstrag.errors import PolicyError
from tests.unit.policy.crashing import THIRD_RULE
from tests.unit.policy.samples import OTHER_RULE, RULE, STAGE, harmless, opened, rule, vote

WORKERS = 3
STEPS = 10
SAVES = 8
PAUSE_S = 0.004


def work(root: Path, name: str, chance: random.Random) -> None:
    """Propose for ever new cases, and promote now and then."""
    store = opened(root, k=2)
    for step in range(STEPS):
        time.sleep(chance.random() * PAUSE_S)
        case = f"{name}-{step}"
        try:
            vote(store, rule(chance.choice((RULE, OTHER_RULE, THIRD_RULE))), case)
            acknowledge(root, name, case)
            if chance.random() < 0.5:
                store.promote(harmless)
        except PolicyError as error:
            if "cannot be read" not in str(error):  # the person has only half saved
                raise


def edit(root: Path, name: str, chance: random.Random) -> None:
    """Open the file, think, add a line, save: by renaming a new file over it, or in place."""
    path = root / "news" / f"{STAGE}.json"
    for step in range(SAVES):
        data = load(path)
        time.sleep(chance.random() * PAUSE_S)
        data["rules"].append(f"Line {step} by hand.")
        if chance.random() < 0.5:
            draft = path.with_suffix(".editor")
            draft.write_text(json.dumps(data))
            draft.replace(path)
        else:
            path.write_text(json.dumps(data))
        acknowledge(root, name, f"Line {step} by hand.")


def load(path: Path) -> dict[str, list[str]]:
    """Read the file as an editor would; one that is not there for a moment is asked for again."""
    for _ in range(20):
        try:
            data: dict[str, list[str]] = json.loads(path.read_bytes())
            return data
        except FileNotFoundError:
            time.sleep(PAUSE_S / 4)
    path.parent.mkdir(parents=True, exist_ok=True)
    return {"rules": []}


def acknowledge(root: Path, name: str, what: str) -> None:
    with (root / f"acknowledged-{name}").open("a") as file:
        file.write(what + "\n")


def race(root: Path, seed: int) -> None:
    """Let them loose, and wait for all."""
    root.mkdir(parents=True)
    actors: dict[str, Callable[[Path, str, random.Random], None]] = {"person": edit}
    actors |= {f"worker{number}": work for number in range(WORKERS)}
    children = []
    for name, act in actors.items():
        child = os.fork()
        if child == 0:
            try:
                act(root, name, random.Random(f"{seed} {name}"))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    assert statuses == [0] * len(children)


if __name__ == "__main__":
    for text in sys.argv[2:]:
        race(Path(sys.argv[1]) / text, int(text))
