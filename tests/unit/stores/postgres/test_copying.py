"""A library moves between a file and a server, and back, without a change."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.cli.main import main
from abstrag.stores.copying import copy_store
from abstrag.stores.open import open_store
from abstrag.stores.postgres.store import PostgresStore
from abstrag.stores.protocol import Store
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.unit.stores.old_library import unpack_library
from tests.unit.stores.postgres.server import PASSWORD


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store of three documents with something kept for each of them."""
    path = tmp_path / "store.db"
    with SqliteStore.open(path) as store:
        for name, source in (("trip", "/a"), ("trip", "/b"), ("alone", None)):
            index = sample_index(name, title=f"{name} {source}")
            store.put(index, source_path=source, source_hash=f"{source}")
            content = index.document.content_hash
            store.put_layer(content, "times", "f1", name.encode())
            store.remember("embeddings", content, "m1", {b"k": b"four", b"l": b"no vector"})
            store.remember("judgements", content, "m2", {b"k": b"v"})
    return path


@pytest.fixture
def server_store(address: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(address) as opened:
        yield opened


def everything(store: Store) -> list[Any]:
    """Return what a store holds, but for the hour at which it was put there."""
    return [
        (
            info.id,
            info.source_path,
            info.source_hash,
            store.get(info.id),
            store.layers(info.content_hash),
            [store.remembered(kind, info.content_hash) for kind in ("embeddings", "judgements")],
        )
        for info in store.documents()
    ]


def test_a_library_goes_to_the_server_and_back(
    file: Path, server_store: PostgresStore, tmp_path: Path
) -> None:
    with SqliteStore.open(file) as old, SqliteStore.open(tmp_path / "back.db") as back:
        done = copy_store(old, server_store)
        assert (done.documents, done.copied, done.already_there) == (3, 3, 0)
        assert (done.layers, done.remembered, done.renamed) == (3, 9, {})
        assert everything(server_store) == everything(old)
        copy_store(server_store, back)
        assert everything(back) == everything(old)


def test_the_library_of_an_older_release_goes_to_the_server(
    server_store: PostgresStore, tmp_path: Path
) -> None:
    library = unpack_library(tmp_path)
    with SqliteStore.open(library.store) as old:
        done = copy_store(old, server_store)
        assert (done.documents, done.copied, done.renamed) == (1, 1, {})
        assert everything(server_store) == everything(old)
        assert server_store.models() == old.models()
        assert server_store.get(library.expected["id"]) == old.get(library.expected["id"])


def test_a_copy_that_was_cut_off_goes_on_where_it_stopped(
    file: Path, server_store: PostgresStore
) -> None:
    def stop(_document_id: str) -> None:
        raise KeyboardInterrupt

    with SqliteStore.open(file) as old:
        with pytest.raises(KeyboardInterrupt):
            copy_store(old, server_store, stop)
        assert len(server_store.documents()) == 1
        done = copy_store(old, server_store)
        assert (done.copied, done.already_there, done.layers) == (2, 1, 2)
        again = copy_store(old, server_store)
        assert (again.copied, again.already_there) == (0, 3)
        assert (again.layers, again.remembered) == (0, 0)
        assert everything(server_store) == everything(old)


def test_the_command_copies_counts_and_tells_no_password(
    file: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["store", "copy", str(file), address, "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (said["documents"], said["copied"], said["already_there"]) == (3, 3, 0)
    main(["store", "copy", str(file), address])
    printed = capsys.readouterr().out
    assert "0 of 3 documents copied and compared, 3 there already" in printed
    with pytest.raises(SystemExit):
        main(["store", "copy", address, address])
    assert PASSWORD not in "".join(capsys.readouterr())


def test_a_library_on_a_server_answers_like_one_in_a_file(address: str, tmp_path: Path) -> None:
    from abstrag.workspace.facade import AbstRAG

    text = tmp_path / "trip.txt"
    text.write_text("Anna visited Basel on 14 May 2024. She paid 12 francs for a coffee.\n")
    found = []
    for target in (address, tmp_path / "store.db"):
        with AbstRAG(target) as rag:
            rag.index(text)
            found.append([hit.quote for hit in rag.search("What did Anna pay?", k=2).hits])
    assert found[0] == found[1] != []
    with open_store(address, create=False) as store:
        assert [info.id for info in store.documents()] == ["trip"]
