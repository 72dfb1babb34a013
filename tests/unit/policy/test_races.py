"""Whatever the interleaving of processes and a person, no vote and no human edit is lost."""

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from abstrag.policy.audit import EntryKind
from abstrag.policy.check import check
from tests.unit.policy import racing
from tests.unit.policy.racing import SAVES, STEPS, WORKERS
from tests.unit.policy.samples import (
    NO_TEXT,
    STAGE,
    harmless,
    main_path,
    opened,
    promoted,
    rule,
    unsynced,
)

ROOT = Path(__file__).parents[3]
SEEDS = ("1", "2", "3")


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raced")
    subprocess.run(
        [sys.executable, racing.__file__, str(folder), *SEEDS],
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    return folder


@pytest.mark.parametrize("seed", SEEDS)
def test_no_vote_and_no_human_edit_is_lost(raced: Path, seed: str) -> None:
    root = raced / seed
    store = opened(root, k=2)
    by_hand = (root / "acknowledged-person").read_text().splitlines()
    assert len(by_hand) == SAVES
    assert set(by_hand) <= set(store.program(STAGE).rules)

    voted = {e.case for e in store.entries() if e.kind is EntryKind.PROMPT_EDIT}
    for number in range(WORKERS):
        told = (root / f"acknowledged-worker{number}").read_text().splitlines()
        assert set(told) <= voted
        assert len(told) > STEPS / 2
    made = [e.payload["candidate"] for e in store.changes()]
    assert len(made) == len(set(made))
    assert [fault for fault in check(root) if "conflict" not in fault.what] == []


def test_a_person_who_saves_in_the_middle_of_an_exchange_keeps_the_file(tmp_path: Path) -> None:
    """Save at every single step of a promotion, by renaming and in place."""
    steps = _steps(tmp_path / "count")
    assert len(steps) > 15
    for in_place in (True, False):
        for number in range(len(steps)):
            root = tmp_path / f"{in_place}-{number}"
            mine = _promote_with_a_save_at(root, number, in_place=in_place)
            found = main_path(opened(root)).read_bytes()
            later = b"by hand" in found and found != mine  # ours on top of theirs
            assert found == mine or later, steps[number]


def _steps(root: Path) -> list[str]:
    seen: list[str] = []
    store = opened(root, files=unsynced(seen.append))
    promoted(store, rule("One."))
    seen.clear()
    promoted(store)
    return seen


def _promote_with_a_save_at(root: Path, number: int, *, in_place: bool) -> bytes:
    mine = b'{"rules": ["Line by hand."]}'
    passed = count()

    def point(_where: str) -> None:
        if armed and next(passed) == number:
            path = main_path(store)
            if in_place:
                path.write_bytes(mine)
            else:
                path.with_suffix(".editor").write_bytes(mine)
                path.with_suffix(".editor").replace(path)

    armed = False
    store = opened(root, files=unsynced(point))
    promoted(store, rule("One."))
    armed = True
    for case in ("c1", "c2", "c3"):
        store.propose(rule(), case=case, patch="p", text=NO_TEXT)
    store.promote(harmless)
    return mine
