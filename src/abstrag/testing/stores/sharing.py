"""What any store does when several use it at the same time."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from abstrag.model.index import DocumentIndex
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.opening import Opener, Opening

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
