"""Laws of the store, for any order of votes, promotions, stops, reverts and edits by hand."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given, settings
from hypothesis import strategies as st

from abstrag.errors import PolicyError
from abstrag.policy.audit import EntryKind
from abstrag.policy.check import check
from abstrag.policy.store import PolicyStore
from tests.unit.policy.crashing import THIRD_RULE
from tests.unit.policy.samples import (
    OTHER_RULE,
    RULE,
    STAGE,
    harmless,
    main_path,
    opened,
    rule,
    unsynced,
    vote,
)

K = 2
RULES = (RULE, OTHER_RULE, THIRD_RULE)

votes = st.tuples(st.just("vote"), st.sampled_from(RULES), st.sampled_from(["c1", "c2", "c3"]))
steps = st.one_of(
    *(votes, votes, votes),  # it takes two of one kind before anything can be promoted
    *(st.tuples(st.just("promote")), st.tuples(st.just("promote"))),
    st.tuples(st.just("stop"), st.integers(0, 40)),
    st.tuples(st.just("hand")),
    st.tuples(st.just("revert"), st.integers(0, 2)),
)


class Told:
    """A store, and what it has been told and has told us."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.by_hand: list[str] = []
        self.votes: set[tuple[str, str]] = set()
        self.open()

    def open(self, point: Callable[[str], None] = lambda _where: None) -> PolicyStore:
        self.store = opened(self.root, k=K, files=unsynced(point))
        return self.store

    def vote(self, text: str, case: str) -> None:
        vote(self.store, rule(text), case)
        self.votes.add((text, case))

    def promote(self) -> None:
        self.store.promote(harmless)

    def stop(self, number: int) -> None:
        """Promote, die at a write point, and open again."""
        passed = count()

        def point(where: str) -> None:
            if next(passed) == number:
                raise InterruptedError(where)

        with suppress(InterruptedError):
            self.open(point).promote(harmless)
        self.open()

    def hand(self) -> None:
        path = main_path(self.store)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.loads(path.read_bytes()) if path.exists() else {"rules": []}
        data["rules"].append(f"Line {len(self.by_hand)} by hand.")
        self.by_hand.append(data["rules"][-1])
        path.write_text(json.dumps(data))

    def revert(self, number: int) -> None:
        made = [e for e in self.store.changes() if e.kind is EntryKind.PROMOTION]
        if number < len(made):
            before = self.store.programs.kept(STAGE, made[number].payload["before"])
            try:
                self.store.revert(made[number].payload["id"])
            except PolicyError:
                return  # it is not in effect, or a person has edited the file since
            assert self.store.programs.main(STAGE).read() == before


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=16))
@example([("vote", RULE, "c1"), ("vote", RULE, "c2"), ("promote",), ("hand",), ("promote",)])
def test_no_order_of_events_loses_anything(events: list[tuple[str, ...]]) -> None:
    with TemporaryDirectory() as folder:
        told = Told(Path(folder))
        for name, *arguments in events:
            getattr(told, name)(*arguments)
            rules = told.store.program(STAGE).rules
            assert set(told.by_hand) <= set(rules)
            assert len(set(rules)) == len(rules)
        logged = [e for e in told.store.entries() if e.kind is EntryKind.PROMPT_EDIT]
        assert told.votes <= {(e.payload["text"], e.case) for e in logged}
        for entry in told.store.changes():
            voters = {e.case for e in logged if e.payload["text"] == entry.payload["text"]}
            assert len(voters) >= K
        assert [fault for fault in check(told.root) if "conflict" not in fault.what] == []
