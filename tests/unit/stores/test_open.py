"""A store is opened by what a person calls it."""

import sys
from pathlib import Path

import pytest

from abstrag.errors import ResourceMissing, StoreError
from abstrag.stores.open import (
    beside,
    default_store,
    default_store_path,
    open_store,
    resolved,
    shown,
)
from abstrag.stores.sqlite import SqliteStore
from tests.unit.stores.samples import sample_index

ADDRESS = "postgresql://ann:hush@127.0.0.1:1/books"


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_a_file(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    with open_store(kind(tmp_path / "store.db")) as store:
        assert isinstance(store, SqliteStore)
    with pytest.raises(StoreError, match="no store at"):
        open_store(kind(tmp_path / "other.db"), create=False)


def test_without_the_driver_an_address_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith(("psycopg", "abstrag.stores.postgres."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ResourceMissing, match="psycopg") as caught:
        open_store(ADDRESS)
    assert caught.value.hint == "pip install 'abstrag[postgres]'"
    assert "hush" not in str(caught.value)


def test_the_environment_may_name_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRAG_STORE", ADDRESS)
    assert default_store() == ADDRESS
    with pytest.raises(StoreError, match="where a file is needed") as caught:
        default_store_path()
    assert "hush" not in str(caught.value)
    monkeypatch.setenv("ABSTRAG_STORE", "/somewhere/mine.db")
    assert default_store() == Path("/somewhere/mine.db")


def test_an_address_that_became_a_path_makes_no_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="no file"):
        open_store(Path(ADDRESS).resolve())
    with pytest.raises(StoreError, match="no file") as caught:
        open_store(Path(ADDRESS))
    assert "hush" not in f"{caught.value}{caught.value.hint}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [":memory:", Path(":memory:")])
def test_a_store_in_memory_is_private_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(name) as one, open_store(resolved(name)) as other:
        one.put(sample_index(), source_path="/a", source_hash="1")
        one.check()
        assert len(one.documents()) == 1
        assert other.documents() == ()
    with open_store(name) as again:
        assert again.documents() == ()
    with pytest.raises(StoreError, match="no store at ':memory:'"):
        open_store(name, create=False)
    with pytest.raises(StoreError, match="keeps nothing beside it") as caught:
        beside(name, ".studio")
    assert caught.value.hint == "name a file with --store"
    assert shown(name) == ":memory:"
    assert list(tmp_path.iterdir()) == []
