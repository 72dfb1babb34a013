"""A server that chooses among its documents finds what a shelf of all their cards finds."""

from collections.abc import Iterator

import pytest

from abstrag.collection import shelf_file
from abstrag.collection.cards import all_cards
from abstrag.collection.filters import Filters
from abstrag.collection.server_shelf import ServerShelf
from abstrag.collection.shelf import Shelf
from abstrag.collection.shelf_file import open_cards
from abstrag.collection.shortlist import Shortlist
from abstrag.stores.postgres.store import PostgresStore
from tests.unit.collection.shelves import Topics, fill

QUERIES = (
    "Who visited the fabrication division?",
    "ships passing the lock at dawn",
    "a planet near the sun",
    "What does mercury poison in 2023?",
    "puppies and dogs",
    "in May 2024",
)


@pytest.fixture
def store(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    monkeypatch.setattr(shelf_file, "IN_DATABASE", 0)
    with PostgresStore.open(address) as opened:
        yield opened


def listed(store: PostgresStore, query: str, shelf: object, **settings: object) -> Shortlist:
    given = {"encoder": None, "filters": Filters(), "size": 3, **settings}
    return Shortlist.of(shelf, query, **given)  # type: ignore[arg-type]


def told(found: Shortlist) -> list[tuple[str, float, tuple[str, ...], object]]:
    return [
        (
            found.shelf.documents[row].id,
            float(found.prior[row]),
            found.copies(row),
            found.standings(row),
        )
        for row in found.order.tolist()
    ]


@pytest.mark.parametrize("encoder", [None, Topics()])
def test_it_lists_what_a_shelf_lists(store: PostgresStore, encoder: Topics | None) -> None:
    fill(store)
    server = open_cards(store, encoder=encoder)
    assert isinstance(server, ServerShelf)
    shelf = Shelf.of(all_cards(store, encoder=encoder))
    for query in QUERIES:
        one, other = (listed(store, query, s, encoder=encoder) for s in (server, shelf))
        assert one.query == other.query
        assert (one.passing, one.shelf.size) == (other.passing, other.shelf.size)
        for mine, theirs in zip(told(one), told(other), strict=False):
            assert mine[0] == theirs[0]
            assert mine[1] == pytest.approx(theirs[1], abs=1e-6)
