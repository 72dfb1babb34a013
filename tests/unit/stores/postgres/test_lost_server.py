"""A server that dies in the middle and comes back: nothing is lost, and nothing is there twice."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest

from abstrag.errors import StoreError, UnknownDocument
from abstrag.stores.postgres import store as store_module
from abstrag.stores.postgres.session import Session
from abstrag.stores.postgres.store import PostgresStore
from abstrag.stores.tables import EDGES, StoreTable
from abstrag.testing.sample_index import sample_index
from tests.unit.stores.postgres.server import PostgresServer


@contextmanager
def back_again(server: PostgresServer, after_s: float) -> Iterator[None]:
    """Start the server again from another thread, while this one waits for it."""
    thread = threading.Timer(after_s, server.start)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_write_is_done_again_when_the_server_is_killed_in_the_middle_of_it(
    own_server: PostgresServer, own_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (sample_index(title=title, edges=3000) for title in ("Old", "New"))
    fill, attempts = store_module._fill, []
    restart = threading.Timer(0.5, own_server.start)

    def fill_and_kill(run: Any, table: StoreTable, number: int, rows: Any) -> None:
        fill(run, table, number, rows)
        if table is EDGES:  # postings are still to come
            attempts.append(table)
            if len(attempts) == 1:
                own_server.kill()
                restart.start()

    with PostgresStore.open(own_address) as store:
        kept = store.put(sample_index("kept"), source_path="/kept", source_hash="1")
        store.put(old, source_path="/a", source_hash="1")
        monkeypatch.setattr(store_module, "_fill", fill_and_kill)
        assert store.put(new, source_path="/a", source_hash="2") == "trip"
        restart.join()
        assert len(attempts) == 2
        assert [(d.id, d.source_hash) for d in store.documents()] == [(kept, "1"), ("trip", "2")]
        assert store.get("trip") == new
        store.check()


def test_documents_written_while_the_server_dies_again_and_again_are_there_once(
    own_server: PostgresServer, own_address: str
) -> None:
    told: list[str] = []
    stop = threading.Event()

    def write() -> None:
        with PostgresStore.open(own_address) as store:
            while not stop.is_set():
                name = f"document-{len(told)}"
                index = sample_index(name, edges=500)
                told.append(store.put(index, source_path=f"/{name}", source_hash=name))
                store.remember("judgements", "c1", "m1", {name.encode(): b"v"})

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(3):
        before = len(told)
        while len(told) < before + 3:
            time.sleep(0.01)
            assert writer.is_alive()
        own_server.kill()
        own_server.start()
    stop.set()
    writer.join(timeout=60)
    with PostgresStore.open(own_address) as store:
        store.check()
        assert [info.id for info in store.documents()] == sorted(told)
        assert sorted(told) == sorted(f"document-{i}" for i in range(len(told)))
        keys = [name.encode() for name in told]
        assert len(store.recall("judgements", "c1", "m1", keys)) == len(told)
        for name in told:
            assert store.get(name) == sample_index(name, edges=500)


def answer_lost(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have the next transaction commit, and its answer get lost on the way."""
    once, done = Session._once, []

    def and_lose(self: Session, begin: str, work: Callable[[Any], Any]) -> Any:
        result = once(self, begin, work)
        done.append(begin)
        if len(done) == 1:
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return result

    monkeypatch.setattr(Session, "_once", and_lose)
    return done


def test_a_commit_whose_answer_is_lost_is_not_there_twice(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PostgresStore.open(address) as store:
        for path in ("/a", None):
            with monkeypatch.context() as patch:
                done = answer_lost(patch)
                store.put(sample_index(), source_path=path, source_hash="1")
                assert len(done) == 2
        assert [info.source_path for info in store.documents()] == ["/a", None]
        with monkeypatch.context() as patch:
            answer_lost(patch)
            store.remove("trip")  # gone the first time, and no error the second
        assert [info.source_path for info in store.documents()] == [None]
        with pytest.raises(UnknownDocument):
            store.remove("trip")


def test_a_connection_that_was_cut_is_made_again(server: PostgresServer, address: str) -> None:
    with PostgresStore.open(address) as store:
        store.put(sample_index(), source_path="/a", source_hash="1")
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'abstrag'"
        )
        assert store.get("trip") == sample_index()


def test_a_reader_waits_for_a_server_that_is_being_restarted(
    own_server: PostgresServer, own_address: str
) -> None:
    with PostgresStore.open(own_address) as store:
        store.put(sample_index(), source_path="/a", source_hash="1")
        own_server.stop()
        with back_again(own_server, after_s=0.3):
            assert store.get("trip") == sample_index()


def test_a_full_server_is_waited_for(own_server: PostgresServer, own_address: str) -> None:
    PostgresStore.open(own_address).close()
    own_server.execute("CREATE ROLE visitor LOGIN PASSWORD 'once'")
    own_server.execute("GRANT ALL ON DATABASE library TO visitor")
    visitor = own_server.address(user="visitor", password="once", schema="visited")
    with ExitStack() as crowd:
        with pytest.raises(StoreError) as caught:
            _crowd_in(crowd, visitor)
        assert "is busy" in str(caught.value)
        assert "max_connections" in (caught.value.hint or "")
        leaving = threading.Timer(0.3, crowd.pop_all().close)
        leaving.start()
        PostgresStore.open(visitor).close()
        leaving.join()


def _crowd_in(crowd: ExitStack, visitor: str) -> None:
    for _ in range(40):  # more than the server takes
        crowd.enter_context(PostgresStore.open(visitor, patience_s=0.2))


def test_patience_has_an_end(own_server: PostgresServer, own_address: str) -> None:
    with PostgresStore.open(own_address, patience_s=0.5) as store:
        own_server.stop()
        try:
            started = time.monotonic()
            with pytest.raises(StoreError, match="cannot be reached") as caught:
                store.put(sample_index(), source_path="/a", source_hash="1")
            assert time.monotonic() - started < 30
            assert caught.value.hint is not None
        finally:
            own_server.start()
        assert store.documents() == ()


def test_a_server_that_is_frozen_is_waited_for_no_longer_than_was_said(own_address: str) -> None:
    with PostgresStore.open(own_address, patience_s=1.0) as store:
        asked = "SELECT pg_backend_pid()"
        ((pid,),) = store._session.read(lambda run: run.execute(asked).fetchall())
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreError, match="has not answered for 1 s"):
                store.documents()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert store.documents() == ()  # on a new connection


def test_a_row_that_changed_on_the_server_is_noticed(own_address: str) -> None:
    with PostgresStore.open(own_address) as store:
        store.put(sample_index("kept"), source_path="/kept", source_hash="1")
        store.check()
        for change, said in (
            ("UPDATE segments SET canonical = canonical || '.'", "not as it was written"),
            ("UPDATE postings SET segment = 9999", "segment 9999"),
        ):
            store._session.write(lambda run, change=change: run.execute(change))  # type: ignore[misc]
            with pytest.raises(StoreError, match=said):
                store.check()
        with pytest.raises(StoreError, match="not as it was written"):
            store.get("kept")
