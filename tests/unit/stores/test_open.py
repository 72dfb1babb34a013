"""A store is opened by what a person calls it."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from abstrag.errors import InputError, ResourceMissing, StoreError
from abstrag.stores.open import (
    Address,
    beside,
    default_store,
    default_store_path,
    is_address,
    open_store,
    resolved,
    shown,
)
from abstrag.stores.sqlite import SqliteStore, is_store
from abstrag.testing.sample_index import sample_index

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


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRAG_STORE", "/somewhere/mine.db")
    assert default_store_path() == Path("/somewhere/mine.db")


def test_a_tilde_in_the_environment_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRAG_STORE", "~/mine.db")
    assert default_store_path() == Path.home() / "mine.db"


def test_without_a_word_the_store_is_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ABSTRAG_STORE", raising=False)
    path = default_store_path()
    assert path.name == "store.db"
    assert path.parent.name == "abstrag"


def test_a_store_is_told_from_other_files(tmp_path: Path) -> None:
    SqliteStore.open(tmp_path / "store.db").close()
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as theirs:
        theirs.execute("CREATE TABLE t (x)")
    (tmp_path / "notes.txt").write_text("SQLite format 3, I like it")
    assert is_store(tmp_path / "store.db")
    assert not is_store(tmp_path / "theirs.db")
    assert not is_store(tmp_path / "notes.txt")
    assert not is_store(tmp_path / "missing")
    assert not is_store(tmp_path)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann@db/books", "postgresql://ann@db/books"),
        ("postgres://ann:hush@db:5433/books", "postgresql://ann@db:5433/books"),
        ("postgresql://ann:hu%2Fsh@[::1]:5433/books", "postgresql://ann@[::1]:5433/books"),
        ("postgresql://a:hush@one:1,two:2/books", "postgresql://a@one:1,two:2/books"),
        ("postgresql:///books?host=/run/pg", "postgresql:///books?host=/run/pg"),
        ("postgresql://db/books?user=ann&password=hush", "postgresql://db/books?user=ann"),
        ("postgresql://db/books?sslpassword=hush", "postgresql://db/books"),
        ("postgresql://db/books?schema=mine", "postgresql://db/books?schema=mine"),
        ("postgresql://db/books?schema=abstrag", "postgresql://db/books"),
    ],
)
def test_an_address_is_shown_without_its_password(text: str, shown: str) -> None:
    address = Address.parse(text)
    assert str(address) == address.shown == shown
    assert "hush" not in repr(address)


def test_the_driver_gets_everything_but_the_schema() -> None:
    address = Address.parse("postgres://ann:hu%2Fsh@db/books?sslmode=require&schema=mine")
    assert address.schema == "mine"
    assert address.conninfo == "postgresql://ann:hu%2Fsh@db/books?sslmode=require"
    assert Address.parse("postgresql:///books").conninfo == "postgresql:///books"


@pytest.mark.parametrize(
    "text",
    [
        "mysql://ann:hush@db/books",
        "postgresql://ann:hu/sh@db/books",  # a slash that should have been %2F
        "postgresql://ann:hu#sh@db/books",
        "postgresql://db:hush/books",
        "postgresql://ann@[hush/books",
        "postgresql://db/books?hush",
    ],
)
def test_an_address_that_cannot_be_read_is_not_shown_either(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Address.parse(text)
    assert caught.value.hint is not None
    assert "%" in caught.value.hint
    assert "sh@" not in str(caught.value)
    assert "hush" not in f"{caught.value}{caught.value.hint}{caught.value.__cause__}"


@pytest.mark.parametrize("schema", ["", "Mine", "pg_catalog", "1st", 'a"b', "a b", "x" * 64])
def test_a_schema_has_a_plain_name(schema: str) -> None:
    with pytest.raises(InputError, match="schema"):
        Address.parse(f"postgresql://db/books?schema={schema}")


def test_a_path_is_no_address() -> None:
    assert is_address("postgresql://db/books")
    assert is_address("postgres:///books")
    assert not is_address("postgresql.db")
    assert not is_address("/home/ann/postgresql://db")
    assert not is_address(None)
