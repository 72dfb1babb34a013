"""Transactions keep out of each other's way, and leave nothing behind in the connection."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from abstrag.stores.postgres.session import TransactionCursor
from abstrag.stores.postgres.store import PostgresStore
from abstrag.testing.sample_index import sample_index


def put(address: str, name: str) -> str:
    with PostgresStore.open(address) as store:
        return store.put(sample_index(name), source_path=f"/{name}", source_hash="1")


def test_a_writer_does_not_wait_for_a_writer_of_another_document(address: str) -> None:
    with PostgresStore.open(address) as store, ThreadPoolExecutor(2) as pool:

        def work(run: TransactionCursor) -> None:
            store._session.lock(run, "document", ["id trip", "path /trip"])  # as put does
            assert pool.submit(put, address, "other").result(timeout=30) == "other"
            waiting.append(pool.submit(put, address, "trip"))
            with pytest.raises(TimeoutError):
                waiting[0].result(timeout=0.5)

        waiting: list[Future[str]] = []
        store._session.write(work)
        assert waiting[0].result(timeout=30) == "trip"
        assert [info.id for info in store.documents()] == ["other", "trip"]


def test_every_transaction_could_run_on_another_connection(address: str) -> None:
    with PostgresStore.open(address) as store:
        assert store._session._connection is not None
        for name in ("one", "two"):
            store.put(sample_index(name), source_path=f"/{name}", source_hash="1")
            store._session._connection.execute("DISCARD ALL")  # what a pooler does in between
            store.remember("embeddings", "c1", "m1", {name.encode(): b"four"})
            store._session._connection.execute("DISCARD ALL")
        assert [info.id for info in store.documents()] == ["one", "two"]
        assert len(store.recall("embeddings", "c1", "m1", [b"one", b"two"])) == 2


def test_an_interrupted_write_leaves_nothing_and_the_store_goes_on(address: str) -> None:
    with PostgresStore.open(address) as store:

        def work(run: TransactionCursor) -> None:
            run.execute("INSERT INTO meta VALUES ('half', 'done')")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store._session.write(work)
        left = store._session.read(
            lambda run: run.execute("SELECT 1 FROM meta WHERE key = 'half'").fetchone()
        )
        assert left is None
