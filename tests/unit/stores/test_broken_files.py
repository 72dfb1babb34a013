"""What is no store, or no longer one, is named as such; so is a place we may not write to."""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from abstrag.errors import StoreCorrupt, StoreError
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.unit.stores.older_rows import write_as_older_release


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound store with a document and a layer."""
    path = tmp_path / "store.db"
    with SqliteStore.open(path) as store:
        store.put(sample_index(edges=500), source_path="/a", source_hash="1")
        store.put_layer("c1", "times", "f1", b"layer")
    return path


@pytest.fixture
def nobody() -> Iterator[None]:
    """Give up the right to write everywhere, where the tests run with it."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_text_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(StoreCorrupt, match=r"notes\.txt") as caught:
        SqliteStore.open(path)
    assert caught.value.hint is not None
    assert path.read_text().startswith("Dear diary")


def test_a_sound_store_passes_its_check(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.check()


def test_a_file_that_was_cut_off_is_corrupt(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreCorrupt), SqliteStore.open(path) as store:
        store.check()


def test_a_page_of_garbage_is_corrupt(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xa5" * (len(data) - 12288)
    path.write_bytes(data)
    with pytest.raises(StoreCorrupt), SqliteStore.open(path) as store:
        store.check()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE documents SET document = x'00'",
        "UPDATE documents SET background = x'00'",
        "UPDATE documents SET genre = 'opera'",
        "UPDATE edges SET source = 999999",
        "UPDATE edges SET family = 'kin'",
        "UPDATE segments SET alignment = '{'",
        "UPDATE segments SET start = 9, stop = 3",
        "UPDATE segments SET text = CAST(x'ff' AS TEXT)",
        "INSERT INTO postings VALUES (77, 0, 0, 0, 0, 0, 0)",
    ],
)
def test_a_damaged_row_is_corrupt(path: Path, damage: str) -> None:
    write_as_older_release(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    with SqliteStore.open(path) as store, pytest.raises(StoreCorrupt):
        store.check()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE packed_rows SET data = x'00' WHERE name = 'terms'",
        "UPDATE packed_rows SET data = substr(data, 1, 9) WHERE name = 'terms'",
        "UPDATE packed_rows SET name = 'edges', part = 9 WHERE name = 'terms'",
        "DELETE FROM packed_rows WHERE name = 'postings'",
    ],
)
def test_damaged_packed_rows_are_corrupt(path: Path, damage: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(damage).rowcount > 0
        connection.commit()
    with SqliteStore.open(path) as store, pytest.raises(StoreCorrupt):
        store.check()
    with SqliteStore.open(path) as store, pytest.raises(StoreCorrupt):
        store.get("trip")


def test_a_damaged_layer_is_corrupt(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE layers SET data = x'00'")
        connection.commit()
    with SqliteStore.open(path) as store, pytest.raises(StoreCorrupt, match="times"):
        store.get_layer("c1", "times", "f1")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder"):
        SqliteStore.open(tmp_path)


def test_a_file_where_a_folder_is_needed_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("not a folder")
    with pytest.raises(StoreError, match="notes"):
        SqliteStore.open(tmp_path / "notes" / "store.db")


def test_a_missing_store_is_not_made_when_nobody_wants_that(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store at"):
        SqliteStore.open(tmp_path / "store.db", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nobody")
def test_a_folder_we_may_not_write_to_is_a_store_error() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(stat.S_IRUSR | stat.S_IXUSR)
        with pytest.raises(StoreError) as caught:
            SqliteStore.open(Path(folder) / "store.db")
        assert not isinstance(caught.value, StoreCorrupt)
        assert caught.value.hint is not None
        assert "permissions" in caught.value.hint
        Path(folder).chmod(stat.S_IRWXU)


@pytest.mark.usefixtures("nobody")
def test_a_store_we_may_not_write_to_refuses_a_write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        SqliteStore.open(path).close()
        path.chmod(stat.S_IRUSR)
        with pytest.raises(StoreError) as caught, SqliteStore.open(path) as store:
            store.put(sample_index(), source_path="/a", source_hash="1")
        assert caught.value.hint is not None
        assert "permissions" in caught.value.hint
