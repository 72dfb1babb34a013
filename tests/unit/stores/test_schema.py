"""Old files become current ones, in one step or not at all; newer ones are left alone."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from abstrag.errors import StoreCorrupt, StoreTooNew
from abstrag.stores.database import Migration
from abstrag.stores.sqlite import APPLICATION_ID, MIGRATIONS, SqliteStore, migrate
from abstrag.testing.sample_index import sample_index

HERE = Path("store.db")
OLD: Migration = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE notes (text TEXT)",
    f"PRAGMA application_id = {APPLICATION_ID}",
)
SPLIT: Migration = (
    "ALTER TABLE notes ADD COLUMN length INTEGER",
    "UPDATE notes SET length = length(text)",
)
RENAME: Migration = ("ALTER TABLE notes RENAME TO remarks",)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        yield made


def version(connection: sqlite3.Connection) -> str:
    found: str
    (found,) = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    return found


def test_an_old_file_goes_through_every_migration_it_missed(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection, HERE, migrations=(OLD,))
    connection.execute("INSERT INTO notes VALUES ('four')")
    migrate(connection, HERE, migrations=(OLD, SPLIT, RENAME))
    assert connection.execute("SELECT text, length FROM remarks").fetchall() == [("four", 4)]
    assert version(connection) == "3"
    migrate(connection, HERE, migrations=(OLD, SPLIT, RENAME))  # nothing is left to do
    assert version(connection) == "3"


def test_a_migration_that_fails_leaves_the_old_file(connection: sqlite3.Connection) -> None:
    migrate(connection, HERE, migrations=(OLD,))
    broken: Migration = ("ALTER TABLE notes RENAME TO remarks", "this is no SQL")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, HERE, migrations=(OLD, SPLIT, broken))
    assert connection.execute("SELECT * FROM notes").fetchall() == []
    assert version(connection) == "1"


def test_a_document_in_a_version_1_file_survives_the_next_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as old:
        for statement in MIGRATIONS[0]:
            old.execute(statement)
        old.execute("INSERT INTO meta VALUES ('schema_version', '1')")
        old.commit()
    index = sample_index()
    with SqliteStore.open(path) as store:
        name = store.put(index, source_path="/a", source_hash="1")
    later = (*MIGRATIONS, ("ALTER TABLE documents ADD COLUMN note TEXT NOT NULL DEFAULT ''",))
    monkeypatch.setattr(migrate, "__kwdefaults__", {"migrations": later})
    with SqliteStore.open(path) as store:
        assert store.get(name) == index
        assert version(store._connection) == str(len(later))


def test_a_version_1_file_learns_to_remember(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        migrate(old, path, migrations=MIGRATIONS[:1])
        assert version(old) == "1"
    with SqliteStore.open(path) as store:
        store.remember("embeddings", "c1", "m1", {b"k": b"v"})
        assert store.recall("embeddings", "c1", "m1", [b"k"]) == {b"k": b"v"}
        assert version(store._connection) == str(len(MIGRATIONS))


def test_a_program_that_knows_no_version_of_the_documents_changes_it_all_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        migrate(old, path, migrations=MIGRATIONS[:2])
        with SqliteStore.open(path) as store:
            store.put(sample_index(), source_path="/a", source_hash="1")
            before = store.version()
            old.execute("DELETE FROM documents")
            assert store.version() != before


def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SqliteStore.open(path) as store:
        store._connection.execute("UPDATE meta SET value = '99'")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="version 99") as caught:
        SqliteStore.open(path)
    assert caught.value.hint is not None
    assert "upgrade" in caught.value.hint
    assert path.read_bytes() == before


def test_a_store_that_does_not_know_its_version_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SqliteStore.open(path) as store:
        store._connection.execute("DELETE FROM meta")
    with pytest.raises(StoreCorrupt, match="which version"):
        SqliteStore.open(path)


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with SqliteStore.open(path) as store:
        assert store.documents() == ()


def test_a_file_that_another_process_is_making_is_not_taken_for_a_foreign_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    ours = sqlite3.connect(path, isolation_level=None)
    tried: list[str] = []

    def meanwhile(statement: str) -> None:
        """Make the store just after its mark was read, and before its tables are counted."""
        if "sqlite_master" in statement and not tried:
            tried.append(statement)
            theirs = sqlite3.connect(path, isolation_level=None, timeout=0)
            with suppress(sqlite3.OperationalError):  # locked out, as it should be
                migrate(theirs, path)
            theirs.close()

    ours.set_trace_callback(meanwhile)
    migrate(ours, path)
    assert tried
    ours.close()
    SqliteStore.open(path).close()
