"""Files beside a store that are mapped into memory: they come back, and go with the content."""

from pathlib import Path

from abstrag.stores.memory import MappedFiles
from abstrag.stores.protocol import VERSIONS
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index


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
