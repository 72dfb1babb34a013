"""How the embedded store uses its file; what it shares with other stores is in its conformance."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import StoreError
from abstrag.model.index import DocumentIndex
from abstrag.stores import rows
from abstrag.stores.protocol import Store
from abstrag.stores.rows import Packed, unpack
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.rules import in_threads
from tests.unit.stores.older_rows import write_as_older_release


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "store.db") as opened:
        yield opened


def put(store: Store, document_id: str, path: str | None, title: str = "A trip") -> str:
    index = sample_index(document_id, title=title)
    return store.put(index, source_path=path, source_hash="s1")


def test_a_removed_document_leaves_no_row_behind(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "trip", "/a")
    put(store, "other", "/b")
    store.remove("trip")
    assert [d.id for d in store.documents()] == ["other"]
    assert store.get("other") == sample_index("other")
    store.remove("other")
    connection = sqlite3.connect(tmp_path / "store.db")
    for table in ("documents", "segments", "contexts", "terms", "edges", "postings", "packed_rows"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    connection.close()


def test_what_an_older_release_wrote_is_read(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "trip", "/a")
    mentions = store.postings("trip", ["entity:anna"])
    write_as_older_release(tmp_path / "store.db")
    store.check()
    assert store.get("trip") == sample_index("trip")
    assert store.postings("trip", ["entity:anna"]) == mentions


def test_many_rows_are_in_several_pieces(store: SqliteStore, monkeypatch: Any) -> None:
    monkeypatch.setattr(rows, "_AT_A_TIME", 7)
    index = sample_index("long", edges=50)
    store.put(index, source_path="/a", source_hash="s1")
    assert store.get("long") == index


def test_layers_are_found_without_reading_all_the_others(store: SqliteStore) -> None:
    statements: list[str] = []
    store._connection.set_trace_callback(statements.append)
    store.get_layers([("c1", "times", "f1"), ("c2", "times", "f1")])
    (query,) = [s for s in statements if "layers" in s]
    plan = store._connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert "SCAN layers" not in str(plan)
    assert "(content_hash=? AND layer=? AND fingerprint=?)" in str(plan)


def test_a_reader_sees_one_state_while_another_connection_writes(
    store: SqliteStore, tmp_path: Path
) -> None:
    put(store, "trip", "/a", "Old")
    with SqliteStore.open(tmp_path / "store.db") as writer, writer._transaction(write=True) as run:
        run.execute("UPDATE documents SET title = 'New'")
        assert store.find("trip").title == "Old"
    assert store.find("trip").title == "New"


def test_a_writer_that_waits_in_vain_says_who_is_in_the_way(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abstrag.stores.sqlite.BUSY_S", 0.01)
    with (
        SqliteStore.open(tmp_path / "store.db") as other,
        store._transaction(write=True),
        pytest.raises(StoreError) as caught,
    ):
        put(other, "trip", "/a")
    assert caught.value.hint is not None
    assert "another process" in caught.value.hint


def test_other_threads_go_on_while_one_decodes_what_it_read(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "trip", "/a")
    names: list[str] = []

    def meanwhile(packed: Packed) -> DocumentIndex:
        names.extend(in_threads(lambda _: store.find("trip").id, range(1)))
        return unpack(packed)

    monkeypatch.setattr("abstrag.stores.database.unpack", meanwhile)
    assert store.get("trip") == sample_index()
    assert names == ["trip"]


def test_terms_may_come_from_the_store_that_is_asked_for_them(store: SqliteStore) -> None:
    put(store, "trip", "/a")
    wanted = (term.id for _ in range(1) for term in store.get("trip").map.terms)
    assert "entity:anna" in store.postings("trip", wanted)


def test_the_sqlite_store_is_a_store(store: SqliteStore) -> None:
    as_protocol: Store = store  # checked by the type checker
    assert as_protocol.documents() == ()


def test_calls_together_are_one_transaction_and_one_that_fails_leaves_nothing_of_itself(
    store: SqliteStore, tmp_path: Path
) -> None:
    def kept() -> list[str]:
        with SqliteStore.open(store.path) as other:
            return [layer for layer, *_ in other.layers("content")]

    with store.together():
        store.put_layer("content", "one", "made", b"1")
        with pytest.raises(StoreError):
            store.remove("nobody")
        store.put_layer("content", "two", "made", b"2")
        assert [layer for layer, *_ in store.layers("content")] == ["one", "two"]
        assert kept() == []
    assert kept() == ["one", "two"]
    with suppress(ZeroDivisionError), store.together():
        store.put_layer("content", "three", "made", b"3")
        raise ZeroDivisionError
    assert kept() == ["one", "two"]
