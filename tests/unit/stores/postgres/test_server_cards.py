"""A server that chooses among its documents finds what a card table of all their cards finds."""

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from abstrag.collection import card_table_file, server_cards
from abstrag.collection.card_table import CardTable, CollectionCards, ShortlistSource
from abstrag.collection.card_table_file import open_cards, save_card_table
from abstrag.collection.cards import all_cards, vectors_made_by
from abstrag.collection.filters import Filters
from abstrag.collection.server_cards import ServerCards
from abstrag.collection.shortlist import Shortlist
from abstrag.collection.why_not import SoughtPassage, why_not
from abstrag.errors import StoreCorrupt, StoreReadOnly
from abstrag.neural.encoder import Vectors
from abstrag.stores.cards import CARD, VECTORS
from abstrag.stores.open import open_store
from abstrag.stores.postgres import cards, schema
from abstrag.stores.postgres.store import PostgresStore
from abstrag.stores.protocol import CardsAsked, CardsFound
from tests.unit.collection.small_library import TEXTS, Topics, fill, indexed, indexes, put, searcher
from tests.unit.stores.postgres.exchanges import wire_to
from tests.unit.stores.postgres.server import PostgresServer

QUERIES = (
    "Who visited the fabrication division?",
    "ships passing the lock at dawn",
    "a planet near the sun",
    "What does mercury poison in 2023?",
    "puppies and dogs",
    "What happened in May 2024?",
)


@pytest.fixture(autouse=True)
def from_the_first_document_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_table_file, "IN_DATABASE", 0)
    card_table_file._say.cache_clear()


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(address) as opened:
        yield opened


def in_memory(store: PostgresStore, encoder: Topics | None = None) -> CardTable:
    return CardTable.of(all_cards(store, encoder=encoder))


def listed(
    every: CollectionCards,
    query: str,
    *,
    encoder: Topics | None = None,
    filters: Filters | None = None,
    size: int = 3,
) -> Shortlist:
    return Shortlist.of(every, query, encoder=encoder, filters=filters or Filters(), size=size)


def same(one: Shortlist, other: Shortlist) -> None:
    """See that two lists are the same, as far as documents have anything of the question."""
    assert one.query == other.query
    assert (one.passing, one.cards.size) == (other.passing, other.cards.size)
    mine, theirs = (_told(each) for each in (one, other))
    assert [each[:2] for each in mine] == [each[:2] for each in theirs]
    for (_, _, left, stood), (_, _, right, stands) in zip(mine, theirs, strict=True):
        assert left == pytest.approx(right, abs=1e-6)
        assert [(s.source, s.rank) for s in stood] == [(s.source, s.rank) for s in stands]


def _told(found: Shortlist) -> list[tuple[str, tuple[str, ...], float, Sequence[Any]]]:
    return [
        (
            found.cards.documents[row].id,
            found.copies(row),
            float(found.prior[row]),
            found.standings(row),
        )
        for row in found.order.tolist()
    ]


def rows(store: PostgresStore, table: str) -> int:
    statement = f"SELECT count(*) FROM {table}"
    return int(store._read(lambda run: run.execute(statement).fetchone() or (0,))[0])


@pytest.mark.parametrize("encoder", [None, Topics()])
def test_it_lists_what_a_card_table_lists(store: PostgresStore, encoder: Topics | None) -> None:
    fill(store)
    server = open_cards(store, encoder=encoder)
    assert isinstance(server, ServerCards)
    for query in QUERIES:
        same(*(listed(s, query, encoder=encoder) for s in (server, in_memory(store, encoder))))


@pytest.mark.parametrize(
    "filters",
    [
        Filters(since="2023"),
        Filters(source="/other"),
        Filters(title="mercury"),
        Filters(title="nothing is called so"),
    ],
)
def test_filters_leave_the_documents_that_they_leave_in_a_card_table(
    store: PostgresStore, filters: Filters
) -> None:
    fill(store)
    encoder = Topics()
    server, card_table = open_cards(store, encoder=encoder), in_memory(store, encoder)
    for query in QUERIES:
        same(*(listed(s, query, encoder=encoder, filters=filters) for s in (server, card_table)))
    passes = any(filters.refuses(info) is None for info in store.documents())
    assert server.any_passes(filters) is passes


def test_a_server_and_a_file_answer_the_same(address: str, tmp_path: Path) -> None:
    with open_store(address) as server, open_store(tmp_path / "library.db") as file:
        there, here = searcher(fill(server)), searcher(fill(file))
        assert isinstance(there.cards, ServerCards)
        for query in QUERIES[:2]:
            found = there.search(query)
            assert found.hits
            assert found == here.search(query)
            assert there.standing(query, "planet") == here.standing(query, "planet")
            for text in ("Hounds need long walks every day.", "Nobody says this."):
                passage = SoughtPassage(text)
                assert why_not(there, query, passage) == why_not(here, query, passage)


def test_documents_that_come_change_and_go_are_noticed(address: str, store: PostgresStore) -> None:
    fill(store, "harbour", "hounds", "planet")
    server = open_cards(store, encoder=Topics())
    query = "a puppy on a vessel near the sun"
    with PostgresStore.open(address) as other:
        for change in (
            lambda: put(other, indexes()["visit"], "/library/visit.md"),
            lambda: put(other, indexed("hounds", "# Dogs\n\nA dog barks.\n"), "/library/hounds.md"),
            lambda: other.remove("planet"),
            lambda: put(other, indexed("again", TEXTS["harbour"]), "/elsewhere/harbour.md"),
        ):
            change()
            found = listed(server, query, encoder=Topics())
            same(found, listed(in_memory(store, Topics()), query, encoder=Topics()))
    assert found.copies(found.cards.row("again")) == ("harbour",)
    for name in [info.id for info in store.documents()]:
        store.remove(name)
    assert [rows(store, table) for table in ("cards", "card_postings", "card_vectors")] == [0, 0, 0]


def test_rows_are_written_whichever_of_document_and_layers_comes_first(
    store: PostgresStore, tmp_path: Path
) -> None:
    with open_store(tmp_path / "library.db") as file:
        fill(file)
        save_card_table(file, encoder=Topics())
        for info in file.documents():
            layers = {
                (info.content_hash, *each[:2]): each[2] for each in file.layers(info.content_hash)
            }
            if info.id == "hounds":
                put(store, file.get(info.id), f"/library/{info.id}.md")
            store.put_layers(layers)
            if info.id != "hounds":
                put(store, file.get(info.id), f"/library/{info.id}.md")
    made_by = vectors_made_by(Topics())
    assert store.cards_state(made_by).missing_layers == ()
    encoder = Topics()
    server = ServerCards(store, encoder)
    assert (server.made, encoder.embedded) == (0, [])
    for query in QUERIES:
        same(*(listed(s, query, encoder=encoder) for s in (server, in_memory(store, encoder))))


def test_a_store_of_an_older_version_is_filled_in(address: str) -> None:
    with PostgresStore.open(address) as store:
        save_card_table(fill(store), encoder=Topics())
        for statement in (
            "DROP TABLE cards, card_postings, card_vectors",
            "DROP FUNCTION forget_card_postings",
            "UPDATE meta SET value = '5' WHERE key = 'schema_version'",
        ):
            store._write(lambda run, statement=statement: run.execute(statement))  # type: ignore[misc]
    with PostgresStore.open(address) as store:
        assert rows(store, "cards") == 0
        encoder = Topics()
        server = ServerCards(store, encoder)
        assert (server.made, encoder.embedded) == (0, [])  # read off the layers
        for query in QUERIES:
            same(*(listed(s, query, encoder=encoder) for s in (server, in_memory(store, encoder))))


def test_vectors_go_with_the_layer_of_their_model(store: PostgresStore) -> None:
    save_card_table(fill(store), encoder=Topics())
    assert rows(store, "card_vectors") == len(TEXTS)
    store.forget_models("vectors", keep=["another"])
    assert rows(store, "card_vectors") == 0
    assert rows(store, "cards") == len(TEXTS)


def test_a_question_is_one_round_trip(
    server: PostgresServer, store: PostgresStore, address: str
) -> None:
    fill(store)
    with wire_to(server.folder) as (wire, folder):
        direct = f"host={server.folder}"
        assert direct in address
        with PostgresStore.open(address.replace(direct, f"host={folder}")) as near:
            asking = searcher(near, embeddings=True, encoder=Topics())
            assert isinstance(asking.cards, ServerCards)
            for query in QUERIES:
                before = wire.turns
                assert ShortlistSource.SENTENCES in asking.shortlist(query).scores
                assert wire.turns == before + 1
            before = wire.turns
            assert near.documents()  # begin, work, commit
            assert wire.turns == before + 3


def test_what_was_not_foreseen_is_asked_for(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    server, card_table = open_cards(store), in_memory(store)
    asked: list[CardsAsked] = []
    ask = store.ask_cards

    def counted(given: CardsAsked) -> CardsFound:
        asked.append(given)
        return ask(given)

    monkeypatch.setattr(store, "ask_cards", counted)
    monkeypatch.setattr(server_cards, "_foreseen", lambda _text, _times: set())
    for query in QUERIES:
        same(*(listed(s, query) for s in (server, card_table)))
    assert len(asked) > len(QUERIES)


def test_vectors_that_may_matter_are_asked_for(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    encoder = Topics()
    server, card_table = open_cards(store, encoder=encoder), in_memory(store, encoder)
    for limit in ("NEAREST", "BY_WORDS", "BY_TERMS", "RARE"):
        monkeypatch.setattr(cards, limit, 1)
    more: list[int] = []
    cosines = store.cosines

    def counted(documents: Any, *given: Any) -> dict[int, float]:
        more.append(len(documents))
        return cosines(documents, *given)

    monkeypatch.setattr(store, "cosines", counted)
    query = "a puppy, a vessel, the planet, a metal and a visit"
    one, other = (listed(s, query, encoder=encoder) for s in (server, card_table))
    assert [one.cards.documents[row].id for row in one.order.tolist()] == [
        other.cards.documents[row].id for row in other.order.tolist()
    ]
    assert len(more) == 1


def test_a_question_without_a_direction_has_cosines_of_nothing(store: PostgresStore) -> None:
    fill(store)

    class Mute(Topics):
        def embed(self, texts: Sequence[str]) -> Vectors:
            found = super().embed(texts)
            return found * 0 if list(texts) == ["a lock"] else found

    encoder = Mute()
    same(
        *(
            listed(s, "a lock", encoder=encoder)
            for s in (open_cards(store, encoder=encoder), in_memory(store, encoder))
        )
    )


def test_a_server_of_an_older_pgvector_is_searched_as_ever_and_says_so_once(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(schema, "_CHOOSES", (99, 0))
    with PostgresStore.open(address) as store, caplog.at_level(logging.WARNING):
        fill(store)
        for _ in range(2):
            every = open_cards(store, encoder=Topics())
            assert isinstance(every, CardTable)
        assert rows(store, "cards") == 0
        (said,) = [record.getMessage() for record in caplog.records]
    assert "in memory: the server's pgvector is older than 0.8" in said
    monkeypatch.setattr(schema, "_CHOOSES", (0, 8))
    with PostgresStore.open(address) as store:  # after an upgrade of the extension
        server = open_cards(store, encoder=Topics())
        assert isinstance(server, ServerCards)
        same(
            *(listed(s, QUERIES[1], encoder=Topics()) for s in (server, in_memory(store, Topics())))
        )


def test_a_store_that_takes_nothing_is_searched_as_ever_and_says_so(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fill(store, "harbour", "hounds", "planet")

    def refuse(_layers: object) -> None:
        raise StoreReadOnly("the server is a replica")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(store, "put_layers", refuse)
        assert isinstance(open_cards(store), CardTable)
    assert "in memory: the server is a replica" in caplog.text
    server = open_cards(store)
    put(store, indexes()["visit"], "/library/visit.md")
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(store, "put_layers", refuse)
        found = listed(server, QUERIES[0])
    assert "1 documents are not found yet: the server is a replica" in caplog.text
    assert "visit" not in [found.cards.documents[row].id for row in found.order.tolist()]


def test_rows_and_layer_are_there_together_or_not_at_all(
    own_server: PostgresServer, own_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_vectors = cards._put_vectors
    killed: list[object] = []
    restart = threading.Timer(0.5, own_server.start)

    def put_and_kill(run: Any, *given: Any) -> None:
        put_vectors(run, *given)
        if not killed:
            killed.append(given)
            own_server.kill()
            restart.start()

    with PostgresStore.open(own_address) as store:
        fill(store)
        monkeypatch.setattr(cards, "_put_vectors", put_and_kill)
        encoder = Topics()
        server = ServerCards(store, encoder)
        restart.join()
        assert killed
        contents = {content for content, _, _ in store.layers_named(VECTORS)}
        assert len(contents) == rows(store, "card_vectors") == len(TEXTS)
        assert len({content for content, _, _ in store.layers_named(CARD)}) == rows(store, "cards")
        for query in QUERIES:
            same(*(listed(s, query, encoder=encoder) for s in (server, in_memory(store, encoder))))


def test_a_document_that_cannot_be_among_the_best_is_read_when_it_is_asked_for(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    server = open_cards(store)
    for limit in ("BY_WORDS", "BY_TERMS"):
        monkeypatch.setattr(cards, limit, 1)
    found = listed(server, "mercury and a lock")
    ids = [found.cards.documents[row].id for row in found.order.tolist()]
    other = listed(in_memory(store), "mercury and a lock")
    assert ids == [other.cards.documents[row].id for row in other.order.tolist()]
    assert len(ids) > 2


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE card_postings SET value = value # 1 WHERE document = 1 AND value < 255",
        "DELETE FROM card_postings WHERE document = 1 AND value > 255",
        "UPDATE cards SET text = text # 4",
        "UPDATE card_vectors SET scale = scale * 2 WHERE document = 1",
    ],
)
def test_a_row_that_is_not_what_its_layer_says_is_noticed(
    store: PostgresStore, change: str
) -> None:
    save_card_table(fill(store), encoder=Topics())
    store.check()
    store._write(lambda run: run.execute(change))
    with pytest.raises(StoreCorrupt, match="not as its layer says"):
        store.check()
