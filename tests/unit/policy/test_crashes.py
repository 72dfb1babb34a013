"""A process killed at any write leaves a store that opens, is consistent and has lost nothing."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from abstrag.policy.audit import EntryKind
from abstrag.policy.check import check
from tests.unit.policy import crashing
from tests.unit.policy.crashing import CASES, MINE, MINE_TOO, OTHER_STAGE, THIRD_RULE
from tests.unit.policy.samples import (
    OTHER_RULE,
    RULE,
    STAGE,
    harmless,
    opened,
    rule,
    unsynced,
    vote,
)

ROOT = Path(__file__).parents[3]
RULES = {RULE, OTHER_RULE, THIRD_RULE}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of stores, each left behind by a process killed at another write point."""
    folder = tmp_path_factory.mktemp("killed")
    subprocess.run(
        [sys.executable, crashing.__file__, str(folder)],
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    return folder


def stores(killed: Path) -> Iterator[Path]:
    total = int((killed / "total").read_text())
    assert total > 60  # the story passes every kind of write more than once
    for number in range(total):
        root = killed / str(number)
        if root.exists():  # the very first points come before anything is written
            yield root


def acknowledged(root: Path) -> list[str]:
    path = root / "acknowledged"
    return path.read_text().splitlines() if path.exists() else []


def test_whatever_is_killed_opens_has_lost_nothing_and_can_go_on(killed: Path) -> None:
    whole = opened(killed / "whole").program(STAGE).rules
    ours = {*RULES, MINE, MINE_TOO}
    assert [line for line in whole if line in ours] == [RULE, MINE, OTHER_RULE, MINE_TOO]
    untouched = opened(killed / "none").program(OTHER_STAGE)
    for root in stores(killed):
        before = acknowledged(root)
        store = opened(root)  # sees pending changes through
        assert [fault for fault in check(root) if "conflict" not in fault.what] == [], root
        votes = [e for e in store.entries() if e.kind is EntryKind.PROMPT_EDIT]
        kept = {f"vote {e.payload['program']} {e.payload['text']} {e.case}" for e in votes}
        kept |= {f"hand {line}" for line in store.program(STAGE).rules}
        assert {said for said in before if said.startswith(("vote", "hand"))} <= kept, root

        crashing.story(root, lambda _where: None)
        assert store.program(STAGE).rules == whole, root
        assert store.program(OTHER_STAGE) == untouched, root
        assert [conflict.edit.text for conflict in store.conflicts()] == [THIRD_RULE], root
        made = [e.payload["candidate"] for e in store.changes() if e.kind is EntryKind.PROMOTION]
        assert len(made) == len(set(made)) == 3, root  # each is logged once
        assert {candidate.cases for candidate in store.candidates()} == {CASES}, root


def test_a_reader_never_sees_a_family_file_missing(tmp_path: Path) -> None:
    """While a file is exchanged its name is free for a moment; readers get the old version then."""
    seen: list[tuple[str, ...]] = []
    root = tmp_path / "store"
    reader = opened(root)

    def point(_where: str) -> None:
        rules = reader.program(STAGE).rules
        seen.append(tuple(line for line in rules if line in {*RULES, MINE}))

    crashing.story(root, point)
    firsts = [number for number, lines in enumerate(seen) if RULE in lines]
    assert all(RULE in lines for lines in seen[firsts[0] :])
    hands = [number for number, lines in enumerate(seen) if MINE in lines]
    assert all(MINE in lines for lines in seen[hands[0] :])


def test_two_promotions_in_a_row_survive_a_stop_at_any_step(tmp_path: Path) -> None:
    for number in count():
        root = tmp_path / str(number)
        passed = count()

        def point(where: str, passed: Iterator[int] = passed, number: int = number) -> None:
            if next(passed) == number:
                raise InterruptedError(where)

        try:
            _promote_two(root, point)
        except InterruptedError:
            _promote_two(root, lambda _where: None)
            rules = opened(root).program(STAGE).rules
            assert rules[-2:] == (RULE, OTHER_RULE), number
            assert opened(root).conflicts() == (), number
        else:
            assert number > 40
            return


def _promote_two(root: Path, point: Callable[[str], None]) -> None:
    store = opened(root, k=1, files=unsynced(point))
    for text in (RULE, OTHER_RULE):
        vote(store, rule(text), "c1")
        store.promote(harmless)
