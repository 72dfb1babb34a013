"""Several processes write to one store, as workers on several machines would."""

import subprocess
import sys
from pathlib import Path

from abstrag.model.record import to_json
from abstrag.stores.open import open_store
from abstrag.testing.sample_index import sample_index
from tests.unit.stores.forking import fork_over

WRITE = """
import sys
from dataclasses import replace
from pathlib import Path
from abstrag.model.index import DocumentIndex
from abstrag.model.record import from_json
from abstrag.stores.open import open_store

address, writer, file = sys.argv[1:]
index = from_json(DocumentIndex, Path(file).read_bytes())
with open_store(address) as store:
    for i in range(5):
        for name, path in ((f"{writer}-{i}", f"/{writer}/{i}"), ("shared", f"/shared/{i}")):
            document = replace(index.document, id=name)
            store.put_layer(name, "times", "f1", b"x")
            store.put(replace(index, document=document), source_path=path, source_hash=writer)
            store.remember("embeddings", "c1", "m1", {b"same": b"s", name.encode(): b"four"})
"""


def test_four_writers_of_one_new_store_lose_nothing(address: str, tmp_path: Path) -> None:
    index = sample_index(edges=300)
    file = tmp_path / "index.json"
    file.write_text(to_json(index), "utf-8")
    children = [
        subprocess.Popen([sys.executable, "-c", WRITE, address, f"writer{n}", str(file)])
        for n in range(4)
    ]
    assert [child.wait(timeout=60) for child in children] == [0, 0, 0, 0]
    with open_store(address, create=False) as store:
        store.check()
        documents = store.documents()
        paths = sorted(info.source_path or "" for info in documents)
        own = [f"writer{n}-{i}" for n in range(4) for i in range(5)]
        assert paths == sorted(
            [f"/shared/{i}" for i in range(5)] + [f"/{name.replace('-', '/')}" for name in own]
        )
        assert len({info.id for info in documents}) == 25
        assert [info.id for info in documents if info.id.startswith("writer")] == own
        keys = [b"same", b"shared", *(name.encode() for name in own)]
        assert len(store.recall("embeddings", "c1", "m1", keys)) == 22


def test_a_forked_process_opens_the_store_for_itself(address: str) -> None:
    assert fork_over(address) == 0
