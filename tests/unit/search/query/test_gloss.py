"""Models read a query in the words of the document, where a Background says what those are."""

import numpy as np
import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.background import Background
from abstrag.model.index import DocumentIndex
from abstrag.search.relevance import ALIGNED, FAST

KNOWN = Background(
    aliases={"myocardial infarction": ("KX-0001", "heart attack"), "BioNTech": ("BNTX",)}
)
TEXT = b"Twelve patients had a heart attack. BioNTech paid for the trial. Nine had a stroke."


@pytest.fixture(scope="module")
def informed() -> DocumentIndex:
    return index(load_bytes(TEXT, name="trial.txt"), background=KNOWN)


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Who had a KX-0001?", "Who had a heart attack?"),  # by way of a name that nobody writes
        ("Did BNTX pay for KX-0001?", "Did BioNTech pay for heart attack?"),
        ("Who had a heart attack?", "Who had a heart attack?"),
        ("Who had a stroke?", "Who had a stroke?"),
    ],
)
def test_names_of_a_background_are_read_as_the_document_writes_them(
    informed: DocumentIndex, asked: str, read: str
) -> None:
    query = Searcher(informed, preset=FAST).normalize(asked)
    assert (query.text, query.reading) == (asked, read)


def test_without_a_background_a_query_is_read_as_it_is() -> None:
    plain = Searcher(index(load_bytes(TEXT, name="trial.txt")), preset=FAST)
    assert plain.normalize("Who had a KX-0001?").reading == "Who had a KX-0001?"


def test_a_query_in_other_names_is_about_the_same(informed: DocumentIndex) -> None:
    searcher = Searcher(informed, preset=ALIGNED)
    found = [
        searcher.scoring(text).alignment
        for text in ("Who had a KX-0001?", "Who had a heart attack?")
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert np.array_equal(found[0].gist, found[1].gist)


def test_a_stated_name_finds_the_plural_that_the_document_writes() -> None:
    known = Background(aliases={"neutrophil": ("KX-0122",)})
    text = b"Neutrophils were counted on Monday. The ward was closed."
    searcher = Searcher(index(load_bytes(text, name="ward.txt"), background=known), preset=FAST)
    hit = searcher.search("KX-0122", k=1).hits[0]
    assert hit.quote.startswith("Neutrophils")
    assert (hit.trace.share, hit.gap) == (1.0, 0.0)
