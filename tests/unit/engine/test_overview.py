"""A question about a document as a whole looks for what the document is about."""

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.search.query.question import said_of_itself
from abstrag.search.relevance import GENERAL

DUCKS = """# Duck

"Duckling" redirects here.

Duck is the common name for numerous species of waterfowl.

## See also

The Duck, a document of 1904, hangs in a museum. Duck as food.
"""
PAPER = """# Counting boats

## Abstract

We count boats from photographs of harbours.

## Method

Counting boats takes patience. A boat is counted once.
"""
FILING = """UNITED STATES SECURITIES AND EXCHANGE COMMISSION

FORM 10-K

For the fiscal year ended May 31, 2021

TARN MARINE, INC.

(Exact name of registrant as specified in its charter)

Our principal business is to build ships.

The form of the award was filed for the fiscal year ended May 31, 2021.
"""


def asked(text: str, *, name: str = "note.md") -> Searcher:
    return Searcher(index(load_bytes(text.encode(), name=name)), preset=GENERAL)


def test_the_words_of_the_title_are_looked_for_and_not_those_of_the_question() -> None:
    ranking = asked(DUCKS).search("What is this document about?")
    assert ranking.hits[0].quote == "Duck is the common name for numerous species of waterfowl."
    assert ranking.query.text == "What is this document about?"
    assert ranking.query.wording == "Duck"


def test_a_name_is_met_by_the_equal_word_of_another_kind() -> None:
    searcher = asked(DUCKS)
    (literal,) = searcher.normalize("Duck").literals
    assert {"entity:duck", "concept:duck"} <= {*literal.terms}


def test_of_a_paper_the_abstract_is_looked_at_alone() -> None:
    ranking = asked(PAPER).search("What is this paper about?")
    assert [hit.quote for hit in ranking.hits] == ["We count boats from photographs of harbours."]


def test_of_a_filing_the_business_of_its_filer_is_looked_for() -> None:
    searcher = asked(FILING, name="filing.txt")
    assert said_of_itself(searcher.index.document) == "TARN MARINE, INC.'s business"
    query = searcher.normalize("What is this filing about?")
    assert "business" in [literal.label for literal in query.literals]
    assert not any("10-K" in literal.label for literal in query.literals)
    assert query.window is None


def test_a_hit_is_explained_as_it_was_found() -> None:
    searcher = asked(DUCKS)
    (best, *_) = searcher.search("What is this document about?").hits
    assert searcher.explain("What is this document about?", best.segment) == best
