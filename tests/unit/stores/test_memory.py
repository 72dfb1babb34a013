"""What models said is kept by content and model, within bounds, and goes with its document."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from abstrag.collection.cards import all_cards
from abstrag.collection.sentences import SentenceReader
from abstrag.errors import StoreCorrupt
from abstrag.neural.encoder import Vectors
from abstrag.stores.cards import QuantizedVectors
from abstrag.stores.memory import MappedFiles, is_of_vectors, model_in
from abstrag.stores.open import open_store
from abstrag.stores.protocol import VERSIONS, Store
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.unit.neural.letters import Letters

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


def files(folder: Path) -> MappedFiles:
    made = MappedFiles.beside(folder / "library.db")
    assert made is not None
    return made


def test_a_file_comes_back_as_it_was_put(tmp_path: Path) -> None:
    kept = files(tmp_path)
    assert kept.get("c1", "n") is None
    kept.put("c1", "n", (b"ab", b"cd"))
    data = kept.get("c1", "n")
    assert data is not None
    assert bytes(data) == b"abcd"


def test_a_store_in_memory_has_no_files() -> None:
    assert MappedFiles.beside(Path(":memory:")) is None


def test_the_oldest_files_of_a_content_make_way(tmp_path: Path) -> None:
    kept = files(tmp_path)
    for number in range(VERSIONS + 2):
        kept.put("c1", f"n{number}", (b"x",))
    assert kept.names("c1") == [f"n{number}" for number in range(2, VERSIONS + 2)]


def test_a_disk_that_takes_nothing_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "library.db.mapped").write_text("a file where the folder should be")
    kept = files(tmp_path)
    kept.put("c1", "n", (b"x",))
    assert kept.get("c1", "n") is None


def test_files_go_when_the_last_document_of_their_content_goes(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "library.db") as store:
        index = sample_index()
        name = store.put(index, source_path=None, source_hash="h")
        content = index.document.content_hash
        assert store.mapped is not None
        store.mapped.put(content, "n", (b"x",))
        store.remove(name)
        assert store.mapped.get(content, "n") is None


class Turned(Letters):
    """Says of every text the opposite of what `Letters` says; its name has a blank in it."""

    fingerprint = "turned letters:1"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return -super().embed(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        for name in ("one", "two"):
            index = sample_index(name, title=f"abc {name}")
            opened.put(index, source_path=f"/{name}", source_hash="1")
        yield opened


def test_the_layers_of_a_collection_name_the_model_that_made_their_vectors(store: Store) -> None:
    made = {model.fingerprint: all_cards(store, encoder=model) for model in (Letters(), Turned())}
    counts = dict.fromkeys(made, 4)  # two documents, each with windows and sentences
    assert store.models()["vectors"] == counts
    content = store.documents()[0].content_hash
    named = [(layer, mark) for layer, mark, _ in store.layers(content) if is_of_vectors(layer)]
    assert sorted(model_in(mark) for _, mark in named) == sorted([*made] * 2)


def test_each_model_of_a_collection_gets_its_own_vectors(store: Store) -> None:
    models = (Letters(), Turned())
    first = [all_cards(store, encoder=model).vectors for model in models]
    for model, before in zip(models, first, strict=True):
        asked = len(model.asked)
        again = all_cards(store, encoder=model)
        assert len(model.asked) == asked  # from the store
        assert _codes(again.vectors) == _codes(before)
    assert _codes(first[0]) != _codes(first[1])
    info = store.documents()[0]
    (straight,), (turned,) = (SentenceReader(store, model).read([info]) for model in models)
    assert straight.vectors is not None
    assert turned.vectors is not None
    assert np.array_equal(straight.vectors.codes, -turned.vectors.codes)


def test_what_another_model_made_of_a_collection_is_dropped_and_made_again(store: Store) -> None:
    straight, turned = Letters(), Turned()
    for model in (straight, turned):
        all_cards(store, encoder=model)
    assert store.forget_models("vectors", keep=[straight.fingerprint]) == 4
    asked = (len(straight.asked), len(turned.asked))
    assert all_cards(store, encoder=straight).made == 0
    assert all_cards(store, encoder=turned).made == 2
    assert len(straight.asked) == asked[0]
    assert len(turned.asked) == 2 * asked[1]


def _codes(vectors: tuple[QuantizedVectors, ...] | None) -> list[bytes]:
    assert vectors is not None
    return [coded.to_bytes() for coded in vectors]
