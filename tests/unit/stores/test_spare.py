"""What could be made again is kept where the disk takes it, and several things at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from abstrag.errors import StoreReadOnly
from abstrag.stores.memory import BestEffortMemory, remembered_together
from abstrag.stores.sqlite import SqliteStore

KIND, MODEL = "judgements", "a judge"
KEY, VALUE = b"k" * 16, b"12345678"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "library.db") as opened:
        yield opened


def kept(store: SqliteStore) -> list[str]:
    return [each for each in "abc" if store.recall(KIND, each, MODEL, [KEY])]


def writes(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    begun: list[str] = []
    transaction = store._transaction

    @contextmanager
    def counted(*, write: bool) -> Iterator[object]:
        if write and not store._together:
            begun.append("write")
        with transaction(write=write) as run:
            yield run

    monkeypatch.setattr(store, "_transaction", counted)
    return begun


def test_a_block_is_one_transaction_at_its_end(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = writes(store, monkeypatch)
    memory = BestEffortMemory(store)
    with remembered_together(store):
        for content in "abc":
            memory.remember(KIND, content, MODEL, {KEY: VALUE})
        assert begun == []
        assert kept(store) == []
    assert begun == ["write"]
    assert kept(store) == ["a", "b", "c"]
    memory.remember(KIND, "a", "another", {KEY: VALUE})
    assert begun == ["write", "write"]  # outside it nothing waits


def test_a_block_that_says_nothing_writes_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = writes(store, monkeypatch)
    with remembered_together(store):
        pass
    assert begun == []


def test_an_interrupted_block_keeps_nothing_and_puts_nothing_off(store: SqliteStore) -> None:
    memory = BestEffortMemory(store)

    def interrupted() -> None:
        with remembered_together(store):
            memory.remember(KIND, "a", MODEL, {KEY: VALUE})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert kept(store) == []
    memory.remember(KIND, "b", MODEL, {KEY: VALUE})
    assert kept(store) == ["b"]


def test_a_disk_that_takes_nothing_spoils_no_answer(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreReadOnly("the disk is full")

    monkeypatch.setattr(store, "remember", full)
    with remembered_together(store):
        BestEffortMemory(store).remember(KIND, "a", MODEL, {KEY: VALUE})
    assert kept(store) == []
