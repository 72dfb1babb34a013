"""What any store does with documents: keep, name, find, replace, forget."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from abstrag.errors import AbstragError, InputError, UnknownDocument
from abstrag.model.index import DocumentIndex
from abstrag.model.record import to_json
from abstrag.model.term import Mention
from abstrag.stores.prepared import prepare
from abstrag.stores.protocol import Store
from abstrag.testing.records import values
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.opening import Opener, Opening

_ANY_NUMBER = [HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]
_TRICKY = (
    "",
    "a\0b",
    "\x1a",
    "\x1a0\0",
    "Zürich 中文 🎈",
    "a\tb\\N\r\nc",
    "'; DROP TABLE documents --",
)


def put(store: Store, document_id: str, path: str | None, title: str = "A trip") -> str:
    """Put a small document from a path into a store."""
    index = sample_index(document_id, title=title)
    return store.put(index, source_path=path, source_hash="s1")


class DocumentRules(Opening):
    """How documents come, go and are named."""

    def test_an_index_is_still_there_after_the_store_was_closed(self, opener: Opener) -> None:
        index = sample_index()
        with opener() as store:
            name = store.put(index, source_path="/a/trip.txt", source_hash="s1")
        with opener() as store:
            assert to_json(store.get(name)) == to_json(index)

    @settings(max_examples=25, deadline=None, suppress_health_check=[*_ANY_NUMBER])
    @given(index=values(DocumentIndex))
    def test_any_index_comes_back_equal(self, store: Store, index: DocumentIndex) -> None:
        name = store.put(index, source_path=None, source_hash="")
        back = store.get(name)
        assert back == index
        assert to_json(back) == to_json(index)
        assert store.background(name) == index.background
        for term_id in {m.term for m in index.mentions}:
            wanted = tuple(m for m in index.mentions if m.term == term_id)
            assert store.postings(name, [term_id])[term_id] == wanted

    @pytest.mark.parametrize("text", _TRICKY)
    def test_any_text_is_kept_and_found_as_it_is(self, store: Store, text: str) -> None:
        index = sample_index(title=text)
        index = replace(index, mentions=(Mention(text, 0, 0, 4),))
        put(store, "other", "/other")
        name = store.put(index, source_path=f"/{text}", source_hash=text)
        assert store.get(name) == index
        info = store.find_source(f"/{text}")
        assert info is not None
        assert (info.title, info.source_hash, info.source_path) == (text, text, f"/{text}")
        assert store.postings(name, [text]) == {text: (Mention(text, 0, 0, 4),)}

    def test_a_long_path_is_a_path(self, store: Store) -> None:
        paths = ["/" + "ab/" * 1300 + end for end in ("x.txt", "y.txt")]
        names = [put(store, "trip", path) for path in paths]
        assert len(set(names)) == 2
        assert [store.find_source(path) for path in paths] == [store.find(name) for name in names]

    def test_an_index_may_be_packed_in_another_process(self, store: Store) -> None:
        index = sample_index("trip")
        packed = pickle.loads(pickle.dumps(prepare(index)))
        name = store.put_prepared(packed, source_path="/a/trip.txt", source_hash="s1")
        assert name == "trip"
        assert to_json(store.get(name)) == to_json(index)
        assert store.put(index, source_path="/a/trip.txt", source_hash="s1") == name
        assert [info.content_hash for info in store.documents()] == [packed.content_hash]

    def test_a_store_tells_who_holds_an_id(self, store: Store) -> None:
        put(store, "trip", "/a/trip.txt")
        put(store, "other", None)
        assert store.holders(["trip", "other", "free"]) == {"trip": "/a/trip.txt", "other": None}
        assert store.holders([]) == {}

    def test_a_document_is_described_without_its_index(self, store: Store) -> None:
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
        assert len(info.indexed_at) == len("2024-05-15T12:00:00Z")

    def test_a_source_that_was_never_indexed_is_not_found(self, store: Store) -> None:
        put(store, "trip", "/a/trip.txt")
        assert store.find_source("/a/other.txt") is None

    def test_documents_come_in_the_order_of_their_ids(self, store: Store) -> None:
        names = ["b", "B", "a", "ä", "a-1", "A", "_"]
        for name in names:
            put(store, name, f"/{name}")
        assert [info.id for info in store.documents()] == sorted(names)

    def test_the_same_source_replaces_its_document(self, store: Store) -> None:
        put(store, "trip", "/a/trip.txt", "Old")
        assert put(store, "trip", "/a/trip.txt", "New") == "trip"
        assert [d.title for d in store.documents()] == ["New"]

    def test_a_source_whose_document_changed_its_id_has_only_the_new_one(
        self, store: Store
    ) -> None:
        put(store, "trip", "/a/trip.txt")
        put(store, "voyage", "/a/trip.txt")
        assert [d.id for d in store.documents()] == ["voyage"]

    def test_another_source_with_the_same_id_gets_a_suffix_and_keeps_it(self, store: Store) -> None:
        put(store, "trip", "/a/trip.txt", "A")
        name = put(store, "trip", "/b/trip.txt", "B")
        assert name.startswith("trip-")
        assert len(name) == len("trip-") + 6
        assert store.get(name).document.id == "trip"  # the index itself is untouched
        assert store.get("trip").document.title == "A"
        store.remove("trip")
        assert put(store, "trip", "/b/trip.txt", "B2") == name
        assert [d.title for d in store.documents()] == ["B2"]

    def test_documents_without_a_source_are_told_apart_by_id(self, store: Store) -> None:
        put(store, "trip", None, "Old")
        put(store, "other", None)
        assert put(store, "trip", None, "New") == "trip"
        found = [(d.id, d.title) for d in store.documents()]
        assert found == [("other", "A trip"), ("trip", "New")]

    def test_a_document_without_a_source_never_replaces_one_that_has_a_source(
        self, store: Store
    ) -> None:
        put(store, "trip", "/a/trip.txt", "From a file")
        assert put(store, "trip", None, "From memory") != "trip"
        assert store.get("trip").document.title == "From a file"

    def test_a_unique_beginning_names_a_document(self, store: Store) -> None:
        put(store, "trip-to-basel", "/a")
        put(store, "report", "/b")
        assert store.get("trip").document.id == "trip-to-basel"
        assert store.find("rep").id == "report"
        assert set(store.postings("rep", ["entity:anna"])) == {"entity:anna"}

    def test_an_exact_id_wins_over_longer_ones_that_begin_like_it(self, store: Store) -> None:
        put(store, "trip", "/a", "Short")
        put(store, "trip-2", "/b", "Long")
        assert store.get("trip").document.title == "Short"

    def test_a_beginning_of_two_documents_names_neither(self, store: Store) -> None:
        put(store, "trip-1", "/a")
        put(store, "trip-2", "/b")
        with pytest.raises(UnknownDocument, match="beginning of 2") as caught:
            store.get("trip")
        assert caught.value.hint == "did you mean 'trip-1' or 'trip-2'?"

    def test_an_unknown_name_is_answered_with_close_ones(self, store: Store) -> None:
        put(store, "annual-report", "/a")
        with pytest.raises(UnknownDocument, match="'anual-report'") as caught:
            store.get("anual-report")
        assert caught.value.hint == "did you mean 'annual-report'?"

    @pytest.mark.parametrize("call", ["get", "find", "background", "remove"])
    def test_an_empty_store_says_that_it_is_empty(self, store: Store, call: str) -> None:
        with pytest.raises(UnknownDocument) as caught:
            getattr(store, call)("trip")
        assert caught.value.hint is not None
        assert "empty" in caught.value.hint

    def test_a_removed_document_is_gone_and_the_others_are_not(self, store: Store) -> None:
        put(store, "trip", "/a")
        put(store, "other", "/b")
        store.remove("trip")
        assert [d.id for d in store.documents()] == ["other"]
        assert store.get("other") == sample_index("other")
        assert store.find_source("/a") is None
        store.check()

    def test_only_a_full_id_removes(self, store: Store) -> None:
        put(store, "trip", "/a")
        with pytest.raises(UnknownDocument) as caught:
            store.remove("tri")
        assert caught.value.hint == "did you mean 'trip'?"
        assert [d.id for d in store.documents()] == ["trip"]

    def test_postings_come_in_index_order_and_for_every_term_asked(self, store: Store) -> None:
        put(store, "other", "/other")
        put(store, "trip", "/a")
        wanted = ["entity:anna", "concept:unlisted", "entity:nobody"]
        found = store.postings("trip", iter(wanted))
        assert list(found) == wanted
        assert found == {
            "entity:anna": (Mention("entity:anna", 0, 0, 4), Mention("entity:anna", 1, 0, 3)),
            "concept:unlisted": (Mention("concept:unlisted", 1, 0, 4, header=0),),
            "entity:nobody": (),
        }

    def test_a_failed_write_leaves_the_old_index(self, store: Store) -> None:
        put(store, "trip", "/a", "Good")
        bad = sample_index(title="Bad")
        mentions = (*bad.mentions, Mention("entity:anna", 2**70, 0, 1))  # no column holds that
        with pytest.raises((OverflowError, AbstragError)):
            store.put(replace(bad, mentions=mentions), source_path="/a", source_hash="2")
        assert store.get("trip").document.title == "Good"
        put(store, "trip", "/a", "Better")
        assert store.get("trip").document.title == "Better"

    def test_a_file_name_of_raw_bytes_is_refused_with_a_hint(self, store: Store) -> None:
        with pytest.raises(InputError) as caught:
            store.find_source("/a/\udcff.txt")
        assert caught.value.hint == "rename the file"
        with pytest.raises(InputError):
            put(store, "trip", "/a/\udcff.txt")
        assert store.documents() == ()

    def test_a_sound_store_passes_its_check(self, store: Store) -> None:
        store.check()
        put(store, "trip", "/a")
        store.check()

    def test_closing_twice_is_fine(self, opener: Opener) -> None:
        store = opener()
        store.close()
        store.close()
