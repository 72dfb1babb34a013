"""The fewest hits of several documents that together meet a query."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.collection.filters import Filters
from abstrag.collection.searcher import CollectionSearcher
from abstrag.errors import InputError
from abstrag.model.ranking import SupportSet
from abstrag.search.relevance import PAPER, SMOOTH
from abstrag.stores.open import open_store
from abstrag.stores.protocol import Store
from tests.unit.collection.small_library import indexed, put, searcher

TEXTS = {
    "film": "# Harbour Lights\n\nHarbour Lights is a film by Marta Kovacs. It ran in Bergen.\n",
    "person": "# People\n\nMarta Kovacs was born in Szeged. Her father sold clocks.\n",
    "trade": "# Trade\n\nAcme sold pumps to Finland. Borax sold nothing.\n",
    "more": "# More trade\n\nAcme sold valves to Norway. Gulls nest on the roof.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("sets") / "library.db") as store:
        for name, text in TEXTS.items():
            put(store, indexed(name, text), f"/library/{name}.md")
        yield store


@pytest.fixture(scope="module")
def many(library: Store) -> CollectionSearcher:
    return searcher(library, SMOOTH)


def told(found: SupportSet) -> list[tuple[str, str]]:
    return [(hit.document, hit.text) for hit in found.hits]


def test_a_hit_of_another_document_joins_that_is_about_what_the_first_introduces(
    many: CollectionSearcher,
) -> None:
    found = many.support("Where was the maker of the film Harbour Lights born?")
    assert ("film", "Harbour Lights is a film by Marta Kovacs.") in told(found)
    assert ("person", "Marta Kovacs was born in Szeged.") in told(found)
    assert "is about Marta Kovacs, named before" in found.joined_by


def test_all_of_something_is_gathered_from_every_document(many: CollectionSearcher) -> None:
    found = many.support("all that Acme sold")
    assert sorted(told(found)) == [
        ("more", "Acme sold valves to Norway."),
        ("trade", "Acme sold pumps to Finland."),
    ]


def test_one_document_alone_has_the_set_that_it_has_by_itself(many: CollectionSearcher) -> None:
    query = "all that Acme sold"
    alone = many.open(many.store.find("trade")).support(query)
    found = many.support(query, filters=Filters(title="Trade", source="trade*"))
    assert [hit.segment for hit in found.hits] == [hit.segment for hit in alone.hits]
    assert found.unmet == alone.unmet


def test_what_no_document_meets_is_named(many: CollectionSearcher) -> None:
    assert "zebra" in many.support("Did Acme sell a zebra?").unmet


def test_nothing_found_is_an_empty_set(many: CollectionSearcher) -> None:
    assert many.support("zebra").hits == ()


def test_a_preset_of_the_paper_is_refused_with_a_way_out(library: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of several documents") as refused:
        searcher(library, PAPER).support("all that Acme sold")
    assert "ask one document" in (refused.value.hint or "")
