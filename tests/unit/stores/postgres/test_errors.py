"""What keeps a store from being opened is said in a sentence, with the way out and no secrets."""

import socket
import time
import traceback
from pathlib import Path

import pytest

from abstrag.errors import InputError, StoreCorrupt, StoreError
from abstrag.stores.postgres import session
from abstrag.stores.postgres.store import PostgresStore
from abstrag.testing.sample_index import sample_index
from tests.unit.stores.postgres.server import PASSWORD, PostgresServer


def refused(address: str, kind: type[StoreError] = StoreError) -> str:
    """Open a store in vain, see that nothing of the password is told, and return what is said."""
    with pytest.raises(kind) as caught:
        PostgresStore.open(address)
    told = "".join(traceback.format_exception(caught.value))
    assert PASSWORD not in told
    assert "wr0ng" not in told
    return f"{caught.value} {caught.value.hint}"


def test_a_wrong_password_is_named_as_such(server: PostgresServer) -> None:
    said = refused(server.address(password="wr0ng"))
    assert "refuses us" in said
    assert "check the user and the password" in said


def test_a_missing_password_too(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    assert "PGPASSWORD or ~/.pgpass" in refused(server.address(password=""))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    PostgresStore.open(server.address(password="", schema="by_environment")).close()


def test_a_user_nobody_knows_is_told_from_the_database_nobody_made(server: PostgresServer) -> None:
    assert "check the user" in refused(server.address(user="stranger"))
    said = refused(server.address(database="attic"))
    assert '"attic" does not exist' in said
    assert "createdb" in said


def test_a_dead_server_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        port = taken.getsockname()[1]
        started = time.monotonic()
        said = refused(f"postgresql://ann:wr0ng@127.0.0.1:{port}/books")
    assert f"postgresql://ann@127.0.0.1:{port}/books" in said
    assert "cannot be reached" in said
    assert "see that the server runs" in said
    assert "cannot be reached" in refused(f"postgresql://ann:wr0ng@/books?host={tmp_path}")
    assert time.monotonic() - started < 30


def test_a_server_without_the_extension_says_what_to_install(own_server: PostgresServer) -> None:
    own_server.execute("CREATE DATABASE bare")
    with own_server.without_vector():
        said = refused(own_server.address(database="bare"))
    assert "lacks the extension 'vector'" in said
    assert "install pgvector" in said
    with PostgresStore.open(own_server.address(database="bare")) as store:  # now it is there
        assert store.documents() == ()


def test_a_user_who_may_not_add_the_extension_learns_who_may(server: PostgresServer) -> None:
    server.execute("CREATE ROLE guest LOGIN PASSWORD 'wr0ng'")
    server.execute("CREATE DATABASE shared OWNER guest")
    address = server.address(user="guest", password="wr0ng", database="shared")
    assert "have an administrator run CREATE EXTENSION vector" in refused(address)
    server.execute("CREATE SCHEMA gadgets", database="shared")
    server.execute("GRANT USAGE ON SCHEMA gadgets TO guest", database="shared")
    server.execute("CREATE EXTENSION vector SCHEMA gadgets", database="shared")
    with PostgresStore.open(address) as store:  # wherever the administrator put it
        store.remember("embeddings", "c1", "m1", {b"k": b"four"})
        assert store.recall("embeddings", "c1", "m1", [b"k"]) == {b"k": b"four"}


def test_a_user_who_may_not_make_a_schema_learns_what_to_grant(server: PostgresServer) -> None:
    server.execute("CREATE ROLE reader LOGIN PASSWORD 'wr0ng'")
    server.execute("CREATE EXTENSION IF NOT EXISTS vector")
    said = refused(server.address(user="reader", password="wr0ng", schema="never_made"))
    assert "GRANT CREATE ON DATABASE" in said


def test_an_old_server_is_told_what_is_needed(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MIN_SERVER", 99)
    said = refused(address)
    assert "is PostgreSQL 16" in said
    assert "PostgreSQL 99 or newer" in said


def test_a_database_in_another_encoding_is_refused(server: PostgresServer) -> None:
    server.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    said = refused(server.address(database="latin"))
    assert "LATIN1, not UTF8" in said
    assert "createdb" in said


def test_a_word_the_driver_does_not_know_is_named(address: str) -> None:
    assert '"colour"' in refused(f"{address}&colour=blue")


def test_a_store_that_is_not_there_is_not_made_when_nobody_wants_that(address: str) -> None:
    for _ in range(2):
        with pytest.raises(StoreError, match="no store at"):
            PostgresStore.open(address, create=False)
    PostgresStore.open(address).close()
    PostgresStore.open(address, create=False).close()


def test_a_closed_store_says_so(address: str) -> None:
    store = PostgresStore.open(address)
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.documents()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE documents SET document = '\\x00'",
        "UPDATE documents SET genre = 'opera'",
        "UPDATE edges SET source = 999999",
        "UPDATE segments SET alignment = '{'",
        "DELETE FROM segments WHERE position = 1",
        "DROP TABLE postings",
    ],
)
def test_a_damaged_store_is_corrupt(address: str, server: PostgresServer, damage: str) -> None:
    with PostgresStore.open(address) as store:
        store.put(sample_index(), source_path="/a", source_hash="1")
        server.execute(f"SET search_path = {store.address.schema}; {damage}")
        with pytest.raises(StoreCorrupt) as caught:
            store.check()
    assert caught.value.hint is not None
    assert PASSWORD not in str(caught.value)


def test_an_address_is_read_before_anybody_is_called() -> None:
    with pytest.raises(InputError):
        PostgresStore.open("postgresql://ann:wr0/ng@nowhere.invalid/books")
