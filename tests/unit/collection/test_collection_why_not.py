"""A passage of a collection that is not found is told where it was lost."""

from collections.abc import Iterator

import pytest

from abstrag.collection.card_table import ShortlistSource
from abstrag.collection.filters import Filters
from abstrag.collection.results import CollectionWhyNot, LostAt
from abstrag.collection.why_not import SoughtPassage, why_not
from abstrag.errors import InputError, UnknownDocument
from abstrag.model.ranking import Cause
from abstrag.stores.open import open_store
from abstrag.stores.protocol import Store
from tests.unit.collection.small_library import Topics, fill, indexes, put, searcher

WALKS = "Hounds need long walks"
LOCK = "Cargo vessels pass the lock at dawn"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("lost") / "library.db") as store:
        yield fill(store)


def asked(
    store: Store, query: str, passage: SoughtPassage, *, size: int = 9, k: int = 10, **more: object
) -> CollectionWhyNot:
    return why_not(searcher(store, shortlist=size), query, passage, k=k, **more)  # type: ignore[arg-type]


def test_a_passage_that_is_found_says_so(library: Store) -> None:
    told = asked(library, "vessels passing a lock", SoughtPassage(LOCK))
    assert (told.lost, told.document, told.rank) == (LostAt.FOUND, "harbour", 1)
    assert told.detail == "it is found, at rank 1 of all hits"


def test_words_of_no_document(library: Store) -> None:
    told = asked(library, "vessels passing a lock", SoughtPassage("The moon is made of cheese"))
    assert (told.lost, told.document) == (LostAt.NOT_IN_COLLECTION, None)


def test_a_document_that_a_filter_drops_is_named_with_the_filter(library: Store) -> None:
    told = asked(library, "long walks", SoughtPassage(WALKS), filters=Filters(since="2020"))
    assert (told.lost, told.document) == (LostAt.FILTERED, "hounds")
    assert told.detail == "its date is 2019-06-10, and only documents since 2020 are asked for"


def test_a_document_off_the_shortlist_is_told_what_each_source_thought(library: Store) -> None:
    many = searcher(library, shortlist=1, embeddings=True, encoder=Topics())
    told = why_not(many, "walks to the lock with vessels", SoughtPassage(WALKS))
    assert (told.lost, told.document) == (LostAt.NOT_SHORTLISTED, "hounds")
    assert told.detail.startswith("it ranks 2 of ")
    assert "documents and 1 is opened: BM25 ranks it 2 with 0." in told.detail
    assert "the costed postings rank it" in told.detail
    assert "embeddings rank it" in told.detail
    assert (
        [s.source for s in told.standings]
        == [s.source for s in told.least]
        == [s for s in ShortlistSource if s is not ShortlistSource.ALIGNMENT]  # it is not open
    )
    assert told.least[0].score > told.standings[0].score


def test_a_document_without_anything_of_the_query(library: Store) -> None:
    told = asked(library, "craters", SoughtPassage(WALKS))
    assert told.lost is LostAt.NOT_SHORTLISTED
    assert told.detail == "no source finds anything of the query in it"


def test_a_passage_lost_within_its_document_has_that_reason(library: Store) -> None:
    told = asked(
        library, "the council paid for a lock", SoughtPassage("A crane arrived from Hamburg")
    )
    assert (told.lost, told.document) == (LostAt.WITHIN, "harbour")
    assert told.within is not None
    assert told.within.cause is not Cause.FOUND
    assert told.detail == told.within.detail


def test_a_passage_that_other_documents_outrank(library: Store) -> None:
    query = "Mercury is the planet nearest to the sun"
    told = asked(library, query, SoughtPassage("Mercury poisons the nervous system"), k=2)
    assert (told.lost, told.document) == (LostAt.OUTRANKED, "metal")
    assert told.within is not None
    assert told.within.cause is Cause.FOUND
    assert told.rank is not None
    assert told.rank > 2
    assert "its document ranks it" in told.detail


def test_a_segment_is_named_with_its_document(library: Store) -> None:
    segment = indexes()["metal"].segments[0].id
    told = asked(library, "Mercury", SoughtPassage(segment=segment, document="metal"))
    assert (told.lost, told.document) == (LostAt.FOUND, "metal")
    with pytest.raises(InputError) as caught:
        SoughtPassage(segment=segment)
    assert caught.value.hint == "name one with --document ID"
    with pytest.raises(UnknownDocument):
        asked(library, "Mercury", SoughtPassage(segment=segment, document="nowhere"))
    with pytest.raises(InputError, match="either the words"):
        SoughtPassage()


def test_a_copy_is_found_where_its_twin_is(library: Store) -> None:
    name = put(library, indexes()["visit"], "/copies/visit.md")
    try:
        passage = SoughtPassage("Both sides spoke about accelerators", document=name)
        told = asked(library, "Who spoke about accelerators?", passage)
        assert (told.lost, told.document) == (LostAt.FOUND, name)
    finally:
        library.remove(name)
