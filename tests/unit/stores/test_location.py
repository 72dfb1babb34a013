"""Where the store is, and which files are stores."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from abstrag.stores.open import default_store_path
from abstrag.stores.sqlite import SqliteStore, is_store


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
