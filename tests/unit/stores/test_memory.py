"""What models said is kept by content and model, within bounds, and goes with its document."""

import subprocess
import sys
from pathlib import Path

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
