"""A collection is searched on a server as it is in a file."""

from pathlib import Path

from abstrag.collection.map import collection_map
from abstrag.collection.map_data import map_data
from abstrag.stores.open import open_store
from tests.unit.collection.shelves import fill, searcher

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
