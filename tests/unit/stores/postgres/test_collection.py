"""A collection is searched on a server as it is in a file."""

from pathlib import Path

import numpy as np
import pytest

from abstrag.collection.map import collection_map
from abstrag.collection.map_data import map_data
from abstrag.neural.aligner import Aligner
from abstrag.search.document_words import keep_words
from abstrag.stores.copying import copy_store
from abstrag.stores.memory import FILES, BestEffortMemory
from abstrag.stores.open import open_store
from tests.unit.collection.small_library import fill, searcher

QUERIES = ("Who visited the fabrication division?", "ships passing the lock at dawn")


def test_a_server_answers_as_a_file_does(address: str, tmp_path: Path) -> None:
    with open_store(address) as server, open_store(tmp_path / "library.db") as file:
        there, here = searcher(fill(server)), searcher(fill(file))
        for query in QUERIES:
            found = there.search(query)
            assert found.hits
            assert found == here.search(query)


def test_a_server_has_the_map_that_a_file_has(address: str, tmp_path: Path) -> None:
    with open_store(address) as server, open_store(tmp_path / "library.db") as file:
        there, here = collection_map(fill(server)), collection_map(fill(file))
        assert list(here.things())
        assert map_data(there) == map_data(here)


def test_words_that_were_read_are_kept_on_the_server(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(address) as store:
        index = fill(store, "visit").get("visit")
        content = index.document.content_hash
        read = keep_words(index, BestEffortMemory(store))
        assert read is not None
        assert store.mapped is not None
        assert len(store.mapped.names(content)) == 1
    monkeypatch.setattr(Aligner, "read", lambda *_given: pytest.fail("read again"))
    with open_store(address) as store:
        again = keep_words(index, BestEffortMemory(store))
        assert np.array_equal(read, again if again is not None else [])
        store.remove("visit")
        assert store.mapped is not None
        assert store.mapped.names(content) == []


def test_words_go_along_from_a_server_to_a_file_and_back(address: str, tmp_path: Path) -> None:
    with open_store(address) as server, open_store(tmp_path / "library.db") as file:
        index = fill(server, "visit").get("visit")
        content = index.document.content_hash
        keep_words(index, BestEffortMemory(server))
        copy_store(server, file)
        assert server.mapped is not None
        assert file.mapped is not None
        (name,) = server.mapped.names(content)
        assert file.mapped.names(content) == [name]
        assert file.mapped.get(content, name) == server.mapped.get(content, name)
        assert FILES not in {layer for layer, *_ in file.layers(content)}
        with open_store(f"{address}_back") as back:
            copy_store(file, back)
            assert back.mapped is not None
            assert back.mapped.get(content, name) == file.mapped.get(content, name)
