"""Verbs of events: WordNet's word counts for the very thing that is asked about."""

import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.ranking import WordTrace
from abstrag.search.relevance import GENERAL
from abstrag.search.said_of import one_event


@pytest.mark.parametrize(
    ("asked", "told"),
    [("reject", "dismiss"), ("destroy", "level"), ("grade", "mark"), ("die", "kill")],
)
def test_a_synonym_a_narrower_verb_and_an_effect_are_one_event(asked: str, told: str) -> None:
    assert one_event(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("increase", "decrease"),
        ("reject", "accept"),
        ("reject", "hear"),
        ("draw", "pass"),  # they share a rare sense
        ("convey", "mean"),  # which defines, and tells of nothing
        ("discard", "remove"),  # which tells of much else
    ],
)
def test_opposites_and_strangers_are_not(asked: str, told: str) -> None:
    assert not one_event(asked, told)


def step(text: str, query: str, word: str) -> str:
    """Return the word that meets a word of a query in the first hit, "" where none does."""
    made = index(load_bytes(text.encode(), name="told.txt"))
    hits = Searcher(made, preset=GENERAL).search(query).hits
    if not hits:
        return ""
    hit = hits[0]
    return next(w.said for w in hit.words if w.asked == word) if _met(hit.words, word) else ""


def _met(words: tuple[WordTrace, ...], word: str) -> bool:
    return any(w.asked == word and w.met for w in words)


def test_an_idiom_keeps_the_senses_it_has_as_a_verb() -> None:
    text = "The landlord caved in on the rent.\n\nThe cliff at the mill caved in."
    assert step(text, "Which cliff collapsed?", "collapsed") == "caved"


def test_a_title_ends_no_sentence() -> None:
    text = "Dr. Okafor translated the manual for Dr. Ames into Welsh."
    assert step(text, "Who rendered the manual for Ames?", "rendered") == "translated"


def test_where_nothing_else_is_named_a_verb_must_be_near() -> None:
    text = "Sister Agathe found a hedgehog in the linen."
    assert step(text, "Who has recovered?", "recovered") == ""


def test_what_is_asked_about_stands_in_the_sentence_that_tells_of_the_event() -> None:
    query = "Who destroyed the greenhouse at half-term?"
    assert step("Vandals smashed the greenhouse at half-term.", query, "destroyed") == "smashed"


def test_a_word_that_is_asked_for_does_not_meet_another_word_too() -> None:
    said = "This Agreement binds both parties to the fact."
    assert step(said, "Was the fact of the Agreement agreed?", "agreed") == ""
