"""What every store promises, as tests: run them against a store of your own.

from abstrag.testing.stores.conformance import StoreConformance

class TestMyStore(StoreConformance):
@pytest.fixture
def opener(self, tmp_path):
return lambda: MyStore.open(tmp_path / "store")
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings

from abstrag.errors import AbstragError, InputError, UnknownDocument
from abstrag.model.index import DocumentIndex
from abstrag.model.record import to_json
from abstrag.model.term import Mention
from abstrag.stores.prepared import prepare
from abstrag.stores.protocol import Store
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.rules import KeptRules, Opener, Opening, ThreadRules
from abstrag.testing.strategies import values

# ruff: noqa: D102 - the name of a test is its sentence


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


# What any store does when several use it at the same time.

# ruff: noqa: D102 - the name of a test is its sentence


WRITERS = 4


def _at_once(work: Callable[[int], object]) -> None:
    """Do work for each writer in a thread of its own; an error in any is an error here."""
    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(work, number) for number in range(WRITERS)]:
            done.result(timeout=60)


class SharingRules(Opening):
    """Writers wait for each other where they must, and nothing is lost or there twice."""

    def test_writers_of_one_new_store_lose_nothing(self, opener: Opener) -> None:
        index = sample_index(edges=100)
        names = [[f"writer{n}-{i}" for i in range(3)] for n in range(WRITERS)]

        def write(number: int) -> None:
            with opener() as store:
                for name in names[number]:
                    store.put_layer(name, "times", "f1", name.encode())
                    store.remember("judgements", "c1", "m1", {b"same": b"s", name.encode(): b"v"})
                    store.put(_named(index, name), source_path=name, source_hash=name)

        _at_once(write)
        flat = [name for some in names for name in some]
        with opener() as store:
            store.check()
            assert [info.id for info in store.documents()] == flat
            for name in flat:
                assert store.get(name) == _named(index, name)
                assert store.get_layer(name, "times", "f1") == name.encode()
            keys = [b"same", *(name.encode() for name in flat)]
            assert len(store.recall("judgements", "c1", "m1", keys)) == len(keys)

    def test_writers_of_one_id_each_get_a_name_of_their_own(self, opener: Opener) -> None:
        def write(number: int) -> None:
            with opener() as store:
                for _ in range(3):
                    store.put(sample_index(), source_path=f"/{number}", source_hash=f"{number}")

        _at_once(write)
        with opener() as store:
            documents = store.documents()
            assert sorted(d.source_path or "" for d in documents) == ["/0", "/1", "/2", "/3"]
            assert [d.id for d in documents if d.id == "trip"] == ["trip"]
            store.check()

    def test_writers_of_one_source_leave_one_document(self, opener: Opener) -> None:
        versions = [sample_index(title=f"by {n}", edges=200) for n in range(WRITERS)]

        def write(number: int) -> None:
            with opener() as store:
                for _ in range(3):
                    store.put(versions[number], source_path="/a", source_hash=f"{number}")

        _at_once(write)
        with opener() as store:
            (info,) = store.documents()
            assert store.get(info.id) == versions[int(info.source_hash)]
            store.check()

    def test_readers_see_whole_documents_while_others_write(self, opener: Opener) -> None:
        versions = [sample_index(title=f"by {n}", edges=50 + n) for n in range(WRITERS)]
        with opener() as store:
            store.put(versions[0], source_path="/a", source_hash="0")

        def work(number: int) -> None:
            with opener() as store:
                for _ in range(6):
                    if number % 2:
                        store.put(versions[number], source_path="/a", source_hash="")
                    else:
                        assert store.get("trip") in versions

        _at_once(work)

    def test_one_version_is_one_state_of_the_documents(self, opener: Opener) -> None:
        index = sample_index()
        seen: set[tuple[int, frozenset[tuple[str, str]]]] = set()

        def work(number: int) -> None:
            with opener() as store:
                for turn in range(8):
                    if number:
                        name = f"{number}-{turn % 2}"
                        store.put(_named(index, name), source_path=name, source_hash=f"{turn}")
                    before = store.version()
                    held = frozenset((d.id, d.source_hash) for d in store.documents())
                    if store.version() == before:
                        seen.add((before, held))

        _at_once(work)
        with opener() as store:
            held = frozenset((d.id, d.source_hash) for d in store.documents())
            seen.add((store.version(), held))
        assert len({version for version, _ in seen}) == len(seen)


def _named(index: DocumentIndex, name: str) -> DocumentIndex:
    return replace(index, document=replace(index.document, id=name))


# What any store knows of the models that made what it holds.

# ruff: noqa: D102 - the name of a test is its sentence


_ONE: Final = "one model:0123456789abcdef"  # a name may have blanks in it
_TWO: Final = "two:0123456789abcdef"
_VECTOR: Final = {_ONE: struct.pack("<2f", 1, 0), _TWO: struct.pack("<3f", 0, 1, 0)}
_LAYERS: Final = (("vectors", "250 1"), ("sentence vectors", "1 sentence"))


class ModelRules(Opening):
    """What one model made is never taken for what another made, and can be told and dropped."""

    @pytest.fixture
    def mixed(self, store: Store) -> Store:
        """A store in which two models spoke of the same keys of one content."""
        for model, vector in _VECTOR.items():
            store.remember("embeddings", "c1", model, {b"k": vector, b"l": vector})
            store.remember("judgements", "c1", model, {b"k": vector[:4]})
            for layer, how in _LAYERS:
                store.put_layer("c1", layer, f"{how} {model}", vector)
        store.remember("embeddings", "c2", _TWO, {b"k": _VECTOR[_TWO]})
        store.put_layer("c1", "card", f"2 {_TWO}", b"no vectors")
        store.put_layer("c1", "eigenvectors", f"1 1 {_TWO}", b"not ours")
        return store

    def test_each_model_gets_back_its_own_and_nothing_else(self, mixed: Store) -> None:
        for model, vector in _VECTOR.items():
            known = mixed.recall("embeddings", "c1", model, [b"k", b"l", b"m"])
            assert known == {b"k": vector, b"l": vector}
            assert mixed.recall("judgements", "c1", model, [b"k"]) == {b"k": vector[:4]}
            for layer, how in _LAYERS:
                assert mixed.get_layer("c1", layer, f"{how} {model}") == vector
        assert mixed.recall("embeddings", "c1", "three", [b"k", b"l"]) == {}
        assert mixed.recall("embeddings", "c1", "", [b"k", b"l"]) == {}
        by_model = mixed.remembered("embeddings", "c1")
        assert by_model == {name: {b"k": v, b"l": v} for name, v in _VECTOR.items()}

    def test_a_store_says_which_models_made_what_it_holds(self, mixed: Store) -> None:
        assert mixed.models() == {
            "embeddings": {_ONE: 2, _TWO: 3},
            "judgements": {_ONE: 1, _TWO: 1},
            "vectors": {_ONE: 2, _TWO: 2},
        }

    def test_an_empty_store_was_made_by_no_model(self, store: Store) -> None:
        assert store.models() == {"embeddings": {}, "judgements": {}, "vectors": {}}
        assert store.forget_models("vectors", keep=[]) == 0
        assert store.forget_models("embeddings", keep=[]) == 0

    @pytest.mark.parametrize(("kind", "count"), [("embeddings", 3), ("judgements", 1)])
    def test_what_other_models_said_is_dropped_of_one_kind(
        self, mixed: Store, kind: str, count: int
    ) -> None:
        before = mixed.models()
        assert mixed.forget_models(kind, keep=[_ONE, "three"]) == count
        assert mixed.recall(kind, "c1", _TWO, [b"k", b"l"]) == {}
        assert mixed.models() == {**before, kind: {_ONE: before[kind][_ONE]}}
        assert mixed.forget_models(kind, keep=[_ONE]) == 0
        mixed.remember(kind, "c1", _TWO, {b"k": b"back"})
        assert mixed.recall(kind, "c1", _TWO, [b"k"]) == {b"k": b"back"}
        mixed.check()

    def test_vectors_of_other_models_are_dropped_and_other_layers_stay(self, mixed: Store) -> None:
        before = mixed.models()
        assert mixed.forget_models("vectors", keep=[_TWO]) == 2
        assert mixed.models() == {**before, "vectors": {_TWO: 2}}
        for layer, how in _LAYERS:
            assert mixed.get_layer("c1", layer, f"{how} {_ONE}") is None
            assert mixed.get_layer("c1", layer, f"{how} {_TWO}") == _VECTOR[_TWO]
        assert mixed.forget_models("vectors", keep=[]) == 2
        assert mixed.get_layer("c1", "card", f"2 {_TWO}") == b"no vectors"
        assert mixed.get_layer("c1", "eigenvectors", f"1 1 {_TWO}") == b"not ours"

    def test_a_slip_drops_nothing(self, mixed: Store) -> None:
        before = mixed.models()
        with pytest.raises(InputError, match="made by models"):
            mixed.forget_models("layers", keep=[])
        with pytest.raises(InputError, match="are several"):
            mixed.forget_models("embeddings", keep=_ONE)
        assert mixed.models() == before


# What a store promises about documents whose bytes lie at several paths.

# ruff: noqa: D102 - the name of a test is its sentence


class PlaceRules(Opening):
    """One document, several known paths."""

    def test_a_document_is_found_by_every_path_it_lies_at(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.add_place(name, "/c")
        store.add_place(name, "/b")
        assert store.find_source("/b") == store.find_source("/a") == store.find(name)
        assert store.places(name) == ("/b", "/c")

    def test_a_document_is_found_by_its_bytes(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="s1")
        assert store.find_bytes("s1") == (store.find(name),)
        assert store.find_bytes("s2") == ()

    def test_what_is_put_at_a_place_takes_it(self, store: Store) -> None:
        first = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.add_place(first, "/b")
        second = store.put(sample_index(), source_path="/b", source_hash="s2")
        found = store.find_source("/b")
        assert second != first
        assert found is not None
        assert (found.id, store.places(first)) == (second, ())

    def test_the_path_a_document_was_read_from_is_no_place_of_another(self, store: Store) -> None:
        first = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.put(sample_index(), source_path="/b", source_hash="s2")
        store.add_place(first, "/b")
        assert store.places(first) == ()

    def test_a_place_belongs_to_the_document_it_was_added_to_last(self, store: Store) -> None:
        first = store.put(sample_index(), source_path="/a", source_hash="s1")
        second = store.put(sample_index(), source_path="/b", source_hash="s2")
        store.add_place(first, "/c")
        store.add_place(second, "/c")
        assert (store.places(first), store.places(second)) == ((), ("/c",))

    def test_places_go_with_their_document(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.add_place(name, "/b")
        store.remove(name)
        assert store.find_source("/b") is None
        with pytest.raises(UnknownDocument):
            store.places(name)


# What any store says when its documents change.

# ruff: noqa: D102 - the name of a test is its sentence


class VersionRules(Opening):
    """The version is another one after each change of the documents, and only then."""

    def test_every_document_that_comes_or_goes_makes_another_version(self, store: Store) -> None:
        seen = [store.version()]
        name = store.put(sample_index(), source_path="/a", source_hash="1")
        seen.append(store.version())
        store.put(sample_index(title="Changed"), source_path="/a", source_hash="2")
        seen.append(store.version())
        store.put(sample_index(), source_path="/b", source_hash="1")
        seen.append(store.version())
        store.remove(name)
        seen.append(store.version())
        assert len(set(seen)) == 5

    def test_what_is_kept_along_the_way_makes_no_other_version(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="1")
        before = store.version()
        store.put_layer("c1", "vectors", "1 1 m1", b"x")
        store.remember("judgements", "c1", "m1", {b"k": b"v"})
        store.forget_models("vectors", keep=[])
        store.get(name)
        store.documents()
        assert store.version() == before

    def test_a_document_that_cannot_be_kept_makes_no_other_version(self, store: Store) -> None:
        store.put(sample_index(), source_path="/a", source_hash="1")
        before, index = store.version(), sample_index("other")
        mentions = (*index.mentions, Mention("entity:anna", 2**70, 0, 1))  # no column holds that
        with pytest.raises((OverflowError, AbstragError)):
            store.put(replace(index, mentions=mentions), source_path="/b", source_hash="1")
        assert store.version() == before


class StoreConformance(
    DocumentRules, KeptRules, ModelRules, PlaceRules, SharingRules, ThreadRules, VersionRules
):
    """Everything the protocol says, and a little of what it means."""
