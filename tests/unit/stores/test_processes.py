"""Several processes may write at once, and any of them may die at any moment."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from abstrag.model.index import DocumentIndex
from abstrag.model.record import to_json
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.unit.stores.forking import fork_over

READ = """
import sys
from dataclasses import replace
from pathlib import Path
from abstrag.model.index import DocumentIndex
from abstrag.model.record import from_json
from abstrag.stores.sqlite import SqliteStore

indexes = [from_json(DocumentIndex, Path(name).read_bytes()) for name in sys.argv[3:]]
"""
WRITE_FOREVER = """
with SqliteStore.open(sys.argv[1]) as store:
    print("ready", flush=True)
    while True:
        for index in indexes:
            store.put(index, source_path="/a", source_hash=index.document.title)
"""
WRITE_FIVE = """
with SqliteStore.open(sys.argv[1]) as store:
    for i in range(5):
        name = f"{sys.argv[2]}-{i}"
        document = replace(indexes[0].document, id=name)
        store.put_layer(name, "times", "f1", name.encode())
        store.put(replace(indexes[0], document=document), source_path=name, source_hash=name)
"""


def start(script: str, store: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", READ + script, str(store), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def write(folder: Path, *indexes: DocumentIndex) -> list[Path]:
    paths = [folder / f"{i}.json" for i in range(len(indexes))]
    for path, index in zip(paths, indexes, strict=True):
        path.write_text(to_json(index), "utf-8")
    return paths


def test_a_killed_writer_leaves_the_last_good_state(tmp_path: Path) -> None:
    versions = [sample_index(title=title, edges=4000) for title in ("one", "two")]
    path = tmp_path / "store.db"
    with SqliteStore.open(path) as store:
        store.put(versions[0], source_path="/a", source_hash="one")
    files = write(tmp_path, *versions)
    for delay_s in (0.02, 0.05, 0.09, 0.14):
        with start(WRITE_FOREVER, path, "writer", *files) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            try:
                child.wait(timeout=delay_s)
            except subprocess.TimeoutExpired:
                child.kill()
        assert child.returncode == -signal.SIGKILL
        with SqliteStore.open(path) as store:
            store.check()
            (info,) = store.documents()
            assert store.get("trip") == versions[["one", "two"].index(info.source_hash)]


def test_four_writers_of_one_new_store_lose_nothing(tmp_path: Path) -> None:
    index = sample_index(edges=300)
    files = write(tmp_path, index)
    path = tmp_path / "store.db"
    children = [start(WRITE_FIVE, path, f"writer{n}", *files) for n in range(4)]
    assert [child.wait(timeout=60) for child in children] == [0, 0, 0, 0]
    for child in children:
        assert child.stdout is not None
        child.stdout.close()
    names = [f"writer{n}-{i}" for n in range(4) for i in range(5)]
    with SqliteStore.open(path) as store:
        store.check()
        assert [info.id for info in store.documents()] == names
        for name in names:
            expected = replace(index, document=replace(index.document, id=name))
            assert store.get(name) == expected
            assert store.get_layer(name, "times", "f1") == name.encode()


def test_a_forked_process_opens_the_store_for_itself(tmp_path: Path) -> None:
    assert fork_over(str(tmp_path / "store.db")) == 0
