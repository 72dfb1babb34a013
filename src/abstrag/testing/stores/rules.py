"""What any store keeps along the way, and what it does when threads of one process share it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from threading import Event
from typing import Any, Final, TypeVar

import pytest

from abstrag.errors import InputError, StoreError
from abstrag.stores import memory
from abstrag.stores.protocol import LAYER_VERSIONS, LAYERS_AT_A_TIME, Store
from abstrag.testing.sample_index import sample_index

Opener = Callable[[], Store]


class Opening:
    """Opens the store under test; a subclass overrides `opener`."""

    @pytest.fixture
    def opener(self) -> Opener:
        """Return a function that opens the same store each time, an empty one at first."""
        raise NotImplementedError("override the fixture `opener`")

    @pytest.fixture
    def store(self, opener: Opener) -> Iterator[Store]:
        """An empty store."""
        with opener() as opened:
            yield opened


# ruff: noqa: D102 - the name of a test is its sentence


THREADS: Final = 8
_ROUNDS: Final = 4
_WAIT_S: Final = 60  # for something that takes no time unless a thread is shut out for good

T = TypeVar("T")


def in_threads(work: Callable[[int], T], numbers: Iterable[int] = range(THREADS)) -> list[T]:
    """Do work for each number in a thread of its own; an error in any is an error here."""
    wanted = list(numbers)
    pool = ThreadPoolExecutor(len(wanted))
    try:
        return [done.result(_WAIT_S) for done in [pool.submit(work, number) for number in wanted]]
    finally:
        pool.shutdown(wait=False)  # a thread that is shut out must not keep us from saying so


class ThreadRules(Opening):
    """One open store serves many threads as it would serve one."""

    def test_threads_that_share_a_store_get_what_each_would_get_alone(self, store: Store) -> None:
        common = sample_index("common", edges=50)
        store.put(common, source_path="/common", source_hash="0")
        store.put_layer("shared", "times", "f1", b"common")

        def work(number: int) -> list[Any]:
            return [_busy(store, number, turn) for turn in range(_ROUNDS)]

        at_once = in_threads(work)
        left = _everything(store)
        for info in store.documents():
            if info.id != "common":
                store.remove(info.id)
        one_by_one = [work(number) for number in range(THREADS)]
        assert at_once == one_by_one
        assert left == _everything(store)
        assert len(left) == 1 + THREADS
        store.check()

    def test_nobody_waits_for_one_who_reads_a_layer_of_every_content(self, store: Store) -> None:
        for i in range(LAYERS_AT_A_TIME + 1):
            store.put_layer(f"c{i:04}", "card", "f", b"x")

        def work(_number: int) -> int:
            store.put_layer("c0000", "times", "f", b"y")
            return store.version()

        reading = store.layers_named("card")
        assert next(reading) == ("c0000", "f", b"x")
        in_threads(work, range(2))
        assert len(list(reading)) == LAYERS_AT_A_TIME
        assert store.get_layer("c0000", "times", "f") == b"y"

    def test_a_closed_store_says_so_whatever_it_is_asked(self, opener: Opener) -> None:
        store = opener()
        index = sample_index()
        name = store.put(index, source_path="/a", source_hash="1")
        in_threads(lambda _number: store.close(), range(1))
        asked: list[Callable[[], object]] = [
            store.documents,
            store.version,
            store.models,
            store.check,
            lambda: store.get(name),
            lambda: store.put(index, source_path="/a", source_hash="1"),
            lambda: store.remove(name),
            lambda: list(store.layers_named("card")),
            lambda: store.put_layer("c", "card", "f", b""),
            lambda: store.recall("embeddings", "c", "m", [b"k"]),
            lambda: store.remember("embeddings", "c", "m", {b"k": b"v"}),
        ]
        for ask in asked:
            with pytest.raises(StoreError, match="is closed") as caught:
                ask()
            assert caught.value.hint == "open it again"
        store.close()

    def test_a_store_is_closed_between_the_calls_of_other_threads(self, opener: Opener) -> None:
        store = opener()
        name = store.put(sample_index(edges=50), source_path="/a", source_hash="1")
        begun = Event()

        def work(number: int) -> str:
            try:
                while True:
                    assert store.get(name).document.id == name
                    store.remember("judgements", "c", "m", {bytes([number]): b"v"})
                    begun.set()
            except StoreError as error:
                return str(error)

        def close(_number: int) -> str:
            begun.wait(_WAIT_S)
            store.close()
            return ""

        *said, _ = in_threads(lambda n: work(n) if n else close(n), [1, 2, 3, 0])
        assert all(text.endswith("is closed") for text in said)


def _busy(store: Store, number: int, turn: int) -> list[Any]:
    """Write, read, remember and recall; what comes back does not depend on other threads."""
    name = f"thread{number}"
    index = sample_index(name, title=f"{name} in round {turn}", edges=20 + turn)
    content = index.document.content_hash
    key = bytes([number, turn])
    stored = store.put(index, source_path=f"/{name}", source_hash=f"{turn}")
    store.put_layer(content, "times", f"f{turn}", key)
    store.remember("judgements", content, "m1", {b"same": b"four", key: bytes(8)})
    store.remember("embeddings", "shared", "m1", {b"same": b"four", bytes([number]): bytes(8)})
    return [
        stored,
        store.get(stored) == index,
        store.get("common"),
        store.find(stored).title,
        store.find_source(f"/{name}") == store.find(stored),
        store.background(stored),
        store.postings(stored, ["entity:anna"]),
        store.holders([stored, "common"]),
        store.layers(content),
        store.get_layer("shared", "times", "f1"),
        store.recall("judgements", content, "m1", [b"same", key, b"none"]),
        store.recall("embeddings", "shared", "m1", [b"same", bytes([number])]),
        store.recall("embeddings", "shared", "m2", [b"same"]),
        [row for row in store.layers_named("times") if row[0] == content],
    ]


def _everything(store: Store) -> list[Any]:
    """Return the documents of a store, but for the hour at which they were put there."""
    return [(i.id, i.source_path, i.source_hash, store.get(i.id)) for i in store.documents()]


# ruff: noqa: D102 - the name of a test is its sentence


KINDS: Final = tuple(memory.LIMITS)
_NUMBERS: Final = struct.pack("<4f", 0.1, -0.0, 1e-42, 3e38)  # with a sign, tiny and huge


class KeptRules(Opening):
    """Layers and memory are found under their own keys, within bounds, and go with a document."""

    def test_a_layer_is_found_under_its_three_keys_only(self, store: Store) -> None:
        store.put_layer("c1", "times", "f1", b"\0layer" * 1000)
        assert store.get_layer("c1", "times", "f1") == b"\0layer" * 1000
        assert store.get_layer("c2", "times", "f1") is None
        assert store.get_layer("c1", "events", "f1") is None
        assert store.get_layer("c1", "times", "f2") is None

    def test_many_layers_are_found_at_once(self, store: Store) -> None:
        keys = [(f"c{i}", "times", "f1") for i in range(2 * LAYERS_AT_A_TIME + 1)]
        store.put_layers({key: key[0].encode() for key in keys})
        store.put_layers({})
        wanted = [*keys, keys[0], ("c1", "events", "f1"), ("c1", "times", "f2"), ("", "", "")]
        assert store.get_layers(wanted) == {key: key[0].encode() for key in keys}
        assert store.get_layers([]) == {}

    def test_a_layer_can_be_written_again(self, store: Store) -> None:
        store.put_layer("c1", "times", "f1", b"old")
        store.put_layer("c1", "times", "f1", b"new")
        assert store.get_layer("c1", "times", "f1") == b"new"

    def test_the_layers_of_a_content_come_oldest_first(self, store: Store) -> None:
        store.put_layer("c1", "times", "f1", b"rewritten")
        store.put_layer("c1", "events", "f1", b"")
        store.put_layer("c2", "times", "f1", b"of another content")
        store.put_layer("c1", "times", "f1", b"a")
        assert store.layers("c1") == (("events", "f1", b""), ("times", "f1", b"a"))
        assert store.layers("c3") == ()

    def test_a_layer_is_read_for_all_contents(self, store: Store) -> None:
        count = 2 * LAYERS_AT_A_TIME + 1  # more than are read at once
        wanted = set()
        for i in range(count):
            store.put_layer(f"c{i % (count - 1):04}", "card", f"f{i}", str(i).encode() * 100)
            wanted.add((f"c{i % (count - 1):04}", f"f{i}", str(i).encode() * 100))
        store.put_layer("c0000", "times", "f0", b"of another layer")
        found = list(store.layers_named("card"))
        assert len(found) == count
        assert set(found) == wanted
        assert len([content for content, _ in groupby(row[0] for row in found)]) == count - 1
        assert list(store.layers_named("nothing")) == []

    def test_a_store_may_be_written_while_a_layer_is_read(self, store: Store) -> None:
        for i in range(LAYERS_AT_A_TIME + 2):
            store.put_layer(f"c{i:04}", "card", "f", b"x")
        for content, _, data in store.layers_named("card"):
            store.put_layer(content, "times", "f", data)
        assert len(list(store.layers_named("times"))) == LAYERS_AT_A_TIME + 2

    def test_old_fingerprints_of_a_layer_are_dropped(self, store: Store) -> None:
        store.put_layer("c1", "events", "f0", b"another layer")
        for i in range(LAYER_VERSIONS + 2):
            store.put_layer("c1", "times", f"f{i}", b"x")
        kept = [i for i in range(LAYER_VERSIONS + 2) if store.get_layer("c1", "times", f"f{i}")]
        assert kept == list(range(2, LAYER_VERSIONS + 2))
        assert store.get_layer("c1", "events", "f0") == b"another layer"

    def test_layers_of_replaced_content_are_forgotten(self, store: Store) -> None:
        old, new = sample_index(title="Old"), sample_index(title="New")
        for index in (old, new):
            store.put_layer(index.document.content_hash, "times", "f1", b"x")
        store.put(old, source_path="/a", source_hash="1")
        store.put(new, source_path="/a", source_hash="2")
        assert store.get_layer(old.document.content_hash, "times", "f1") is None
        assert store.get_layer(new.document.content_hash, "times", "f1") == b"x"

    def test_layers_stay_while_another_document_has_the_same_content(self, store: Store) -> None:
        index = sample_index()
        store.put_layer(index.document.content_hash, "times", "f1", b"x")
        first = store.put(index, source_path="/a", source_hash="1")
        second = store.put(index, source_path="/b", source_hash="1")
        store.remove(first)
        assert store.get_layer(index.document.content_hash, "times", "f1") == b"x"
        store.remove(second)
        assert store.get_layer(index.document.content_hash, "times", "f1") is None

    @pytest.mark.parametrize("kind", KINDS)
    def test_what_is_remembered_is_found_under_the_same_names_only(
        self, store: Store, kind: str
    ) -> None:
        other = KINDS[1 - KINDS.index(kind)]
        store.remember(kind, "c1", "m1", {b"k": b"v", b"l": b"w"})
        assert store.recall(kind, "c1", "m1", [b"k", b"x", b"l"]) == {b"k": b"v", b"l": b"w"}
        assert store.recall(kind, "c2", "m1", [b"k"]) == {}
        assert store.recall(kind, "c1", "m2", [b"k"]) == {}
        assert store.recall(other, "c1", "m1", [b"k"]) == {}
        assert store.recall(kind, "c1", "m1", []) == {}

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        "value",
        [b"", b"\0", b"four", _NUMBERS, struct.pack("<2f", float("nan"), 1), bytes(4 * 16_001)],
        ids=["nothing", "NUL", "text", "floats", "not a number", "very many"],
    )
    def test_a_value_comes_back_to_the_bit(self, store: Store, kind: str, value: bytes) -> None:
        store.remember(kind, "c1", "m1", {b"": value, b"\0\xff": value})
        assert store.recall(kind, "c1", "m1", [b"", b"\0\xff"]) == {b"": value, b"\0\xff": value}
        assert store.remembered(kind, "c1") == {"m1": {b"": value, b"\0\xff": value}}

    def test_everything_remembered_of_a_content_comes_by_model(self, store: Store) -> None:
        store.remember("embeddings", "c1", "m2", {b"k": b"v"})
        store.remember("embeddings", "c1", "m1", {b"k": b"w", b"l": b"x"})
        store.remember("embeddings", "c2", "m1", {b"k": b"y"})
        found = store.remembered("embeddings", "c1")
        assert found == {"m1": {b"k": b"w", b"l": b"x"}, "m2": {b"k": b"v"}}
        assert store.remembered("judgements", "c1") == {}

    def test_more_keys_than_a_statement_takes_are_found(self, store: Store) -> None:
        many = {i.to_bytes(4, "big"): bytes([i % 256]) for i in range(2345)}
        store.remember("embeddings", "c1", "m1", many)
        assert store.recall("embeddings", "c1", "m1", list(many)) == many

    def test_what_is_there_stays(self, store: Store) -> None:
        store.remember("judgements", "c1", "m1", {b"k": b"old"})
        store.remember("judgements", "c1", "m1", {b"k": b"new", b"l": b"w"})
        assert store.recall("judgements", "c1", "m1", [b"k", b"l"]) == {b"k": b"old", b"l": b"w"}
        store.remember("judgements", "c1", "m1", {})

    def test_the_oldest_make_room(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "LIMITS", {"judgements": 3, "embeddings": 100})
        for i in range(5):
            store.remember("judgements", f"c{i % 2}", "m1", {bytes([i]): b"v"})
            store.remember("embeddings", "c1", "m1", {bytes([i]): b"v"})
        kept = [i for i in range(5) if store.recall("judgements", f"c{i % 2}", "m1", [bytes([i])])]
        assert kept == [2, 3, 4]
        assert len(store.recall("embeddings", "c1", "m1", [bytes([i]) for i in range(5)])) == 5
        store.remember("judgements", "c1", "m1", {bytes([i]): b"v" for i in range(10, 20)})
        left = [store.remembered("judgements", content) for content in ("c0", "c1")]
        assert sum(len(values) for models in left for values in models.values()) == 3

    def test_memory_goes_with_the_last_document_of_its_content(self, store: Store) -> None:
        index = sample_index()
        content = index.document.content_hash
        names = [store.put(index, source_path=path, source_hash="s1") for path in ("/a", "/b")]
        for kind in KINDS:
            store.remember(kind, content, "m1", {b"k": b"v"})
            store.remember(kind, "another content", "m1", {b"k": b"v"})
        store.remove(names[0])
        assert store.recall("embeddings", content, "m1", [b"k"]) == {b"k": b"v"}
        store.remove(names[1])
        for kind in KINDS:
            assert store.recall(kind, content, "m1", [b"k"]) == {}
            assert store.recall(kind, "another content", "m1", [b"k"]) == {b"k": b"v"}
        store.check()

    def test_memory_goes_when_the_content_is_replaced(self, store: Store) -> None:
        old, new = sample_index(title="Old"), sample_index(title="New")
        store.put(old, source_path="/a", source_hash="1")
        store.remember("embeddings", old.document.content_hash, "m1", {b"k": b"v"})
        store.put(new, source_path="/a", source_hash="2")
        assert store.recall("embeddings", old.document.content_hash, "m1", [b"k"]) == {}

    def test_what_models_said_about_a_content_can_be_forgotten(self, store: Store) -> None:
        index = sample_index()
        content = index.document.content_hash
        name = store.put(index, source_path="/a", source_hash="1")
        store.put_layer(content, "times", "f1", b"x")
        for kind in KINDS:
            for text in (content, "in no document", "another content"):
                store.remember(kind, text, "m1", {b"k": b"v"})
        store.forget(content)
        store.forget("in no document")
        store.forget("never heard of")
        for kind in KINDS:
            assert store.remembered(kind, content) == {}
            assert store.remembered(kind, "in no document") == {}
            assert store.remembered(kind, "another content") == {"m1": {b"k": b"v"}}
        assert store.get(name) == index
        assert store.get_layer(content, "times", "f1") == b"x"

    @pytest.mark.parametrize("kind", ["layers", "judgements; DROP TABLE documents", ""])
    def test_nothing_else_is_kept(self, store: Store, kind: str) -> None:
        with pytest.raises(InputError, match="nothing of the kind"):
            store.recall(kind, "c1", "m1", [b"k"])
        with pytest.raises(InputError, match="nothing of the kind"):
            store.remember(kind, "c1", "m1", {b"k": b"v"})
        with pytest.raises(InputError, match="nothing of the kind"):
            store.remembered(kind, "c1")
