"""Questions are answered on a disk that is read-only or full, and what cannot be kept is said."""

import gc
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.errors import StoreError, StoreReadOnly
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from abstrag.workspace.options import SearchOptions, WorkspaceConfig, chosen_preset
from abstrag.workspace.workspace import Workspace
from tests.faults.sqlite_disk import Disk, Fault, sqlite_on
from tests.unit.server.running import store_with_demo

QUESTION = "Who visited TSMC?"
ALIGNED = SearchOptions(preset=chosen_preset("aligned"))  # its vectors are kept on the way


def asked(store: Path) -> list[tuple[str, float]]:
    with Workspace(WorkspaceConfig(store, create=False, options=ALIGNED)) as workspace:
        one = workspace.stored("chips").search(QUESTION, k=3)
        many = workspace.collection().search(QUESTION, k=3)
        assert many.hits
        return [(hit.quote, hit.relevance) for hit in one.hits]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "kept").mkdir()
    return store_with_demo(tmp_path / "kept" / "store.db")


@pytest.fixture
def read_only(store: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder that the system lets nobody write to, where we may ask it for that."""
    place = tmp_path / "mounted"
    place.mkdir()
    for how in (["--bind", str(store.parent)], ["-o", "remount,ro,bind"]):
        done = subprocess.run(["mount", *how, str(place)], capture_output=True, check=False)
        if done.returncode:
            subprocess.run(["umount", str(place)], capture_output=True, check=False)
            pytest.xfail("folders cannot be mounted here")
    yield place / store.name
    gc.collect()  # a file stays mapped as long as something that reads it is there
    subprocess.run(["umount", str(place)], check=True)


def test_a_store_on_a_read_only_disk_can_be_asked(store: Path, read_only: Path) -> None:
    found = asked(read_only)
    assert found == asked(store)
    assert asked(read_only) == found  # now that everything is kept beside it, as well


def test_a_store_on_a_read_only_disk_is_checked_and_not_changed(read_only: Path) -> None:
    with SqliteStore.open(read_only, create=False) as opened:
        opened.check()
        with pytest.raises(StoreReadOnly):
            opened.remove("chips")
        with pytest.raises(StoreReadOnly):
            opened.put(sample_index(), source_path=None, source_hash="x")


def test_a_store_whose_last_writer_did_not_end_needs_a_disk_that_takes_its_writes(
    store: Path, read_only: Path
) -> None:
    held = SqliteStore.open(store)
    held.put(sample_index(), source_path=None, source_hash="x")
    log = store.with_name(f"{store.name}-wal").read_bytes()
    held.close()
    store.with_name(f"{store.name}-wal").write_bytes(log)  # as a killed process leaves it
    with pytest.raises(StoreError):
        SqliteStore.open(read_only, create=False)


def test_a_store_on_a_full_disk_can_be_asked(store: Path) -> None:
    with sqlite_on(Disk(Fault.FULL, at=1)) as disk:
        found = asked(store)
        assert disk.struck, "something was to be kept"
        with SqliteStore.open(store) as opened, pytest.raises(StoreReadOnly):
            opened.put(sample_index(), source_path=None, source_hash="x")
    assert asked(store) == found
