"""What the embedded store keeps, finds and forgets."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.errors import InputError, StoreError, UnknownDocument
from abstrag.model.record import to_json
from abstrag.model.term import Mention
from abstrag.stores.protocol import Store
from abstrag.stores.sqlite import LAYER_VERSIONS, SqliteStore
from tests.unit.stores.samples import sample_index


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "store.db") as opened:
        yield opened


def put(store: Store, document_id: str, path: str | None, title: str = "A trip") -> str:
    index = sample_index(document_id, title=title)
    return store.put(index, source_path=path, source_hash="s1")


def test_an_index_is_still_there_after_the_store_was_closed(tmp_path: Path) -> None:
    index = sample_index()
    with SqliteStore.open(tmp_path / "deep" / "store.db") as store:
        name = store.put(index, source_path="/a/trip.txt", source_hash="s1")
    with SqliteStore.open(tmp_path / "deep" / "store.db") as store:
        assert to_json(store.get(name)) == to_json(index)


def test_a_document_is_described_without_its_index(store: SqliteStore) -> None:
    index = sample_index()
    name = store.put(index, source_path="/a/trip.txt", source_hash="s1")
    (info,) = store.documents()
    assert info == store.find(name) == store.find_source("/a/trip.txt")
    assert (info.id, info.title, info.date) == ("trip", "A trip", "2024-05-15")
    assert (info.source_hash, info.content_hash) == ("s1", index.document.content_hash)
    assert (info.genre, info.granularity) == (index.genre, index.granularity)
    assert info.fingerprint == "f1"
    assert (info.segments, info.terms, info.edges) == (2, 3, 2)
    assert info.indexed_at.endswith("Z")


def test_a_source_that_was_never_indexed_is_not_found(store: SqliteStore) -> None:
    put(store, "trip", "/a/trip.txt")
    assert store.find_source("/a/other.txt") is None


def test_the_same_source_replaces_its_document(store: SqliteStore) -> None:
    put(store, "trip", "/a/trip.txt", "Old")
    assert put(store, "trip", "/a/trip.txt", "New") == "trip"
    assert [d.title for d in store.documents()] == ["New"]


def test_a_source_whose_document_changed_its_id_has_only_the_new_one(store: SqliteStore) -> None:
    put(store, "trip", "/a/trip.txt")
    put(store, "voyage", "/a/trip.txt")
    assert [d.id for d in store.documents()] == ["voyage"]


def test_another_source_with_the_same_id_gets_a_suffix_and_keeps_it(store: SqliteStore) -> None:
    put(store, "trip", "/a/trip.txt", "A")
    name = put(store, "trip", "/b/trip.txt", "B")
    assert name.startswith("trip-")
    assert len(name) == len("trip-") + 6
    assert store.get(name).document.id == "trip"  # the index itself is untouched
    assert store.get("trip").document.title == "A"
    store.remove("trip")
    assert put(store, "trip", "/b/trip.txt", "B2") == name
    assert [d.title for d in store.documents()] == ["B2"]


def test_documents_without_a_source_are_told_apart_by_id(store: SqliteStore) -> None:
    put(store, "trip", None, "Old")
    put(store, "other", None)
    assert put(store, "trip", None, "New") == "trip"
    assert [(d.id, d.title) for d in store.documents()] == [("other", "A trip"), ("trip", "New")]


def test_a_document_without_a_source_never_replaces_one_that_has_a_source(
    store: SqliteStore,
) -> None:
    put(store, "trip", "/a/trip.txt", "From a file")
    assert put(store, "trip", None, "From memory") != "trip"
    assert store.get("trip").document.title == "From a file"


def test_a_unique_beginning_names_a_document(store: SqliteStore) -> None:
    put(store, "trip-to-basel", "/a")
    put(store, "report", "/b")
    assert store.get("trip").document.id == "trip-to-basel"
    assert store.find("rep").id == "report"
    assert set(store.postings("rep", ["entity:anna"])) == {"entity:anna"}


def test_an_exact_id_wins_over_longer_ones_that_begin_like_it(store: SqliteStore) -> None:
    put(store, "trip", "/a", "Short")
    put(store, "trip-2", "/b", "Long")
    assert store.get("trip").document.title == "Short"


def test_a_beginning_of_two_documents_names_neither(store: SqliteStore) -> None:
    put(store, "trip-1", "/a")
    put(store, "trip-2", "/b")
    with pytest.raises(UnknownDocument, match="beginning of 2") as caught:
        store.get("trip")
    assert caught.value.hint == "did you mean 'trip-1' or 'trip-2'?"


def test_an_unknown_name_is_answered_with_close_ones(store: SqliteStore) -> None:
    put(store, "annual-report", "/a")
    with pytest.raises(UnknownDocument, match="'anual-report'") as caught:
        store.get("anual-report")
    assert caught.value.hint == "did you mean 'annual-report'?"


@pytest.mark.parametrize("call", ["get", "find", "background", "remove"])
def test_an_empty_store_says_that_it_is_empty(store: SqliteStore, call: str) -> None:
    with pytest.raises(UnknownDocument) as caught:
        getattr(store, call)("trip")
    assert caught.value.hint is not None
    assert "empty" in caught.value.hint


def test_a_removed_document_leaves_no_row_behind(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "trip", "/a")
    put(store, "other", "/b")
    store.remove("trip")
    assert [d.id for d in store.documents()] == ["other"]
    assert store.get("other") == sample_index("other")
    store.remove("other")
    connection = sqlite3.connect(tmp_path / "store.db")
    for table in ("documents", "segments", "contexts", "terms", "edges", "postings"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    connection.close()


def test_only_a_full_id_removes(store: SqliteStore) -> None:
    put(store, "trip", "/a")
    with pytest.raises(UnknownDocument) as caught:
        store.remove("tri")
    assert caught.value.hint == "did you mean 'trip'?"
    assert [d.id for d in store.documents()] == ["trip"]


def test_postings_come_in_index_order_and_for_every_term_asked(store: SqliteStore) -> None:
    put(store, "other", "/other")
    put(store, "trip", "/a")
    assert store.postings("trip", ["entity:anna", "concept:unlisted", "entity:nobody"]) == {
        "entity:anna": (Mention("entity:anna", 0, 0, 4), Mention("entity:anna", 1, 0, 3)),
        "concept:unlisted": (Mention("concept:unlisted", 1, 9, 18, header=0),),
        "entity:nobody": (),
    }


def test_postings_of_one_term_do_not_read_all_the_others(
    store: SqliteStore, tmp_path: Path
) -> None:
    put(store, "trip", "/a")
    statements: list[str] = []
    store._connection.set_trace_callback(statements.append)
    store.postings("trip", ["entity:anna"])
    (query,) = [s for s in statements if "postings" in s]
    plan = store._connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert "postings_term (document=? AND term=?)" in str(plan)


def test_a_layer_is_found_under_its_three_keys_only(store: SqliteStore) -> None:
    store.put_layer("c1", "times", "f1", b"\0layer" * 1000)
    assert store.get_layer("c1", "times", "f1") == b"\0layer" * 1000
    assert store.get_layer("c2", "times", "f1") is None
    assert store.get_layer("c1", "events", "f1") is None
    assert store.get_layer("c1", "times", "f2") is None


def test_a_layer_can_be_written_again(store: SqliteStore) -> None:
    store.put_layer("c1", "times", "f1", b"old")
    store.put_layer("c1", "times", "f1", b"new")
    assert store.get_layer("c1", "times", "f1") == b"new"


def test_old_fingerprints_of_a_layer_are_dropped(store: SqliteStore) -> None:
    store.put_layer("c1", "events", "f0", b"another layer")
    for i in range(LAYER_VERSIONS + 2):
        store.put_layer("c1", "times", f"f{i}", b"x")
    kept = [i for i in range(LAYER_VERSIONS + 2) if store.get_layer("c1", "times", f"f{i}")]
    assert kept == list(range(2, LAYER_VERSIONS + 2))
    assert store.get_layer("c1", "events", "f0") == b"another layer"


def test_layers_of_replaced_content_are_forgotten(store: SqliteStore) -> None:
    old, new = sample_index(title="Old"), sample_index(title="New")
    for index in (old, new):
        store.put_layer(index.document.content_hash, "times", "f1", b"x")
    store.put(old, source_path="/a", source_hash="1")
    store.put(new, source_path="/a", source_hash="2")
    assert store.get_layer(old.document.content_hash, "times", "f1") is None
    assert store.get_layer(new.document.content_hash, "times", "f1") == b"x"


def test_layers_stay_while_another_document_has_the_same_content(store: SqliteStore) -> None:
    index = sample_index()
    store.put_layer(index.document.content_hash, "times", "f1", b"x")
    first = store.put(index, source_path="/a", source_hash="1")
    second = store.put(index, source_path="/b", source_hash="1")
    store.remove(first)
    assert store.get_layer(index.document.content_hash, "times", "f1") == b"x"
    store.remove(second)
    assert store.get_layer(index.document.content_hash, "times", "f1") is None


def test_a_failed_write_leaves_the_old_index(store: SqliteStore) -> None:
    put(store, "trip", "/a", "Good")
    bad = sample_index(title="Bad")
    mentions = (*bad.mentions, Mention("entity:anna", 2**70, 0, 1))  # no column holds that
    with pytest.raises(OverflowError):
        store.put(replace(bad, mentions=mentions), source_path="/a", source_hash="2")
    assert store.get("trip").document.title == "Good"
    put(store, "trip", "/a", "Better")
    assert store.get("trip").document.title == "Better"


def test_a_reader_sees_one_state_while_another_connection_writes(
    store: SqliteStore, tmp_path: Path
) -> None:
    put(store, "trip", "/a", "Old")
    with SqliteStore.open(tmp_path / "store.db") as writer, writer._writing() as run:
        run.execute("UPDATE documents SET title = 'New'")
        assert store.find("trip").title == "Old"
    assert store.find("trip").title == "New"


def test_a_writer_that_waits_in_vain_says_who_is_in_the_way(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abstrag.stores.connection.BUSY_S", 0.01)
    with (
        SqliteStore.open(tmp_path / "store.db") as other,
        store._writing(),
        pytest.raises(StoreError) as caught,
    ):
        put(other, "trip", "/a")
    assert caught.value.hint is not None
    assert "another process" in caught.value.hint


def test_a_file_name_of_raw_bytes_is_refused_with_a_hint(store: SqliteStore) -> None:
    with pytest.raises(InputError) as caught:
        store.find_source("/a/\udcff.txt")
    assert caught.value.hint == "rename the file"


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "store.db")
    store.close()
    store.close()


def test_the_sqlite_store_is_a_store(store: SqliteStore) -> None:
    as_protocol: Store = store  # checked by the type checker
    assert as_protocol.documents() == ()
