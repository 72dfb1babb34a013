"""What models said is kept by content and model, within bounds, and goes with its document."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from abstrag.errors import StoreCorrupt
from abstrag.stores.sqlite import SqliteStore

KINDS = ("embeddings", "judgements")
REMEMBER = """
import sys
from abstrag.stores.sqlite import SqliteStore
with SqliteStore.open(sys.argv[1]) as store:
    for i in range(40):
        own = sys.argv[2].encode() + bytes([i])
        store.remember("judgements", "c1", "m1", {bytes([i]): b"same", own: b"own"})
"""


def test_several_processes_may_remember_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    children = [
        subprocess.Popen([sys.executable, "-c", REMEMBER, str(path), name]) for name in "abc"
    ]
    assert [child.wait(timeout=60) for child in children] == [0, 0, 0]
    with SqliteStore.open(path) as store:
        shared = store.recall("judgements", "c1", "m1", [bytes([i]) for i in range(40)])
        assert shared == {bytes([i]): b"same" for i in range(40)}
        own = [name.encode() + bytes([i]) for name in "abc" for i in range(40)]
        assert len(store.recall("judgements", "c1", "m1", own)) == 120
        store.check()


def test_a_value_that_is_not_as_it_was_written_is_found(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for kind in KINDS:
        with SqliteStore.open(path) as store:
            store.remember(kind, "c1", "m1", {b"key": b"value"})
            store.check()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"UPDATE {kind} SET value = X'00'")
            connection.commit()
        with SqliteStore.open(path) as store:
            with pytest.raises(StoreCorrupt, match=kind):
                store.check()
            store.forget("c1")
