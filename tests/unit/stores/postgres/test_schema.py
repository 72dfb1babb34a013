"""A schema of an older program is brought up to date; one of a newer or another is left alone."""

from collections.abc import Iterator

import numpy as np
import pytest

from abstrag.errors import StoreCorrupt, StoreError, StoreTooNew
from abstrag.stores.database import Migration
from abstrag.stores.open import Address
from abstrag.stores.postgres import schema
from abstrag.stores.postgres.schema import MIGRATIONS, migrate
from abstrag.stores.postgres.session import Session
from abstrag.stores.postgres.store import PostgresStore
from abstrag.testing.sample_index import sample_index


@pytest.fixture
def bare(address: str) -> Iterator[Session]:
    """A session whose schema has no tables yet."""
    made = Session(Address.parse(address))
    made.connect()
    yield made
    made.close()


def version(session: Session) -> str:
    (found,) = session.read(
        lambda run: (
            run.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() or ("",)
        )
    )
    return str(found)


def test_a_document_in_a_version_1_schema_survives_and_learns_to_remember(
    address: str, bare: Session
) -> None:
    migrate(bare, create=True, migrations=MIGRATIONS[:1])
    assert version(bare) == "1"
    for tables in MIGRATIONS[3:]:  # so that our own code can write to it
        bare.write(lambda run, made=tables[0]: run.execute(made))  # type: ignore[misc]
    index = sample_index()
    old = PostgresStore(bare)
    old.put(sample_index("other"), source_path="/b", source_hash="1")  # version 1 keeps documents
    name = old.put(index, source_path="/a", source_hash="1")
    bare.write(lambda run: run.execute("DROP TABLE seals, places, cards"))
    with PostgresStore.open(address) as store:
        store.check()
        assert version(bare) == str(len(MIGRATIONS))
        assert store.get(name) == index
        store.remember("embeddings", index.document.content_hash, "m1", {b"k": b"four"})
        assert store.recall("embeddings", index.document.content_hash, "m1", [b"k"]) == {
            b"k": b"four"
        }
        store.remove(name)


def test_a_document_survives_the_next_version(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = sample_index()
    with PostgresStore.open(address) as store:
        name = store.put(index, source_path="/a", source_hash="1")
    later = (*MIGRATIONS, ("ALTER TABLE documents ADD COLUMN note TEXT NOT NULL DEFAULT ''",))
    monkeypatch.setattr(schema.migrate, "__kwdefaults__", {"migrations": later})
    with PostgresStore.open(address) as store:
        assert store.get(name) == index
        assert version(store._session) == str(len(later))


def test_a_migration_that_fails_leaves_the_old_schema(bare: Session) -> None:
    migrate(bare, create=True, migrations=MIGRATIONS[:1])
    broken: Migration = ("ALTER TABLE documents RENAME TO papers", "this is no SQL")
    with pytest.raises(StoreError, match="syntax error"):
        migrate(bare, create=True, migrations=(MIGRATIONS[0], broken))
    assert version(bare) == "1"
    assert PostgresStore(bare).documents() == ()


def test_a_schema_of_a_newer_program_is_left_alone(address: str) -> None:
    with PostgresStore.open(address) as store:
        store._session.write(
            lambda run: run.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
        )
        with pytest.raises(StoreTooNew, match="version 99") as caught:
            PostgresStore.open(address)
        assert caught.value.hint is not None
        assert "upgrade" in caught.value.hint
        assert version(store._session) == "99"


def test_a_schema_that_does_not_know_its_version_is_corrupt(address: str) -> None:
    with PostgresStore.open(address) as store:
        store._session.write(
            lambda run: run.execute("DELETE FROM meta WHERE key = 'schema_version'")
        )
    with pytest.raises(StoreCorrupt, match="which version"):
        PostgresStore.open(address)


@pytest.mark.parametrize("table", ["meta (key TEXT, value TEXT)", "orders (number INT)"])
def test_the_schema_of_another_program_is_left_alone(
    address: str, bare: Session, table: str
) -> None:
    name = bare.address.schema
    bare.write(lambda run: run.execute(f"CREATE SCHEMA {name}"))
    bare.write(lambda run: run.execute(f"CREATE TABLE {table}"))
    with pytest.raises(StoreCorrupt, match="another program") as caught:
        PostgresStore.open(address)
    assert caught.value.hint == "name another schema with ?schema=NAME"


def test_two_schemas_of_one_database_are_two_stores(address: str) -> None:
    other = f"{address}_too"
    with PostgresStore.open(address) as one, PostgresStore.open(other) as two:
        one.put(sample_index(), source_path="/a", source_hash="1")
        assert two.documents() == ()
        two.put(sample_index(title="Other"), source_path="/a", source_hash="2")
        assert one.get("trip").document.title == "A trip"


def test_embeddings_are_vectors_the_server_can_compute_with(address: str) -> None:
    with PostgresStore.open(address) as store:
        rows = np.eye(3, dtype="<f4")
        store.remember("embeddings", "c1", "m1", {bytes([i]): rows[i].tobytes() for i in range(3)})
        store.remember("embeddings", "c1", "m1", {b"text": b"no vector"})
        # what docs/stores.md tells an administrator to do for a large collection
        store._session.write(
            lambda run: run.execute(
                "CREATE INDEX ON embeddings USING hnsw ((vector::vector(3)) vector_cosine_ops) "
                "WHERE vector_dims(vector) = 3"
            )
        )
        nearest = store._session.read(
            lambda run: run.execute(
                "SELECT key FROM embeddings WHERE vector IS NOT NULL "
                "ORDER BY vector <=> '[0, 9, 1]'::vector LIMIT 2"
            ).fetchall()
        )
    assert nearest == [(b"\1",), (b"\2",)]
