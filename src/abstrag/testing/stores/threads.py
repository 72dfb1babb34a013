"""What any store does when the threads of one process share it."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Final, TypeVar

import pytest

from abstrag.errors import StoreError
from abstrag.stores.protocol import LAYERS_AT_A_TIME, Store
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.opening import Opener, Opening

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
