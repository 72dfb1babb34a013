"""The fewest hits that together meet a query."""

import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.ranking import SupportSet
from abstrag.search.relevance import PAPER, SMOOTH

TEXT = """
Harbour Lights is a film by Marta Kovacs. It was shown in Bergen.

Marta Kovacs was born in Szeged. Her father sold clocks.

Acme sold pumps to Finland. Acme sold valves to Norway. Borax sold nothing.

The lighthouse was painted red. Gulls nest on the roof.
"""


@pytest.fixture(scope="module")
def searcher() -> Searcher:
    return Searcher(index(load_bytes(TEXT.strip().encode(), name="text.md")), preset=SMOOTH)


def texts(found: SupportSet) -> list[str]:
    return [hit.text for hit in found.hits]


def test_a_hit_joins_that_is_about_what_another_one_introduces(searcher: Searcher) -> None:
    found = searcher.support("Where was the maker of the film Harbour Lights born?")
    together = " ".join(texts(found))
    assert "Harbour Lights is a film" in together
    assert "born in Szeged" in together
    assert len(found.joined_by) == len(found.hits)
    assert found.joined_by[0] == ""


def test_all_of_something_is_every_hit_that_meets_what_the_first_meets(searcher: Searcher) -> None:
    found = searcher.support("all that Acme sold")
    assert sorted(texts(found)) == ["Acme sold pumps to Finland.", "Acme sold valves to Norway."]


def test_what_none_of_the_hits_meets_is_named(searcher: Searcher) -> None:
    assert "zebra" in searcher.support("Who painted the lighthouse for a zebra?").unmet


def test_a_query_without_hits_has_an_empty_set(searcher: Searcher) -> None:
    assert searcher.support("zebra").hits == ()


def test_a_preset_of_the_paper_takes_what_can_be_believed_together() -> None:
    made = index(load_bytes(TEXT.strip().encode(), name="text.md"))
    assert Searcher(made, preset=PAPER).support("Acme sold pumps").bindings
