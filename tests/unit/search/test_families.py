"""What kind of step leads from a word of a text to a word of a query."""

import pytest

from abstrag.search.document_words import forms, literals_of_words
from abstrag.search.families import direction, office_around, one_word, opposite, step_family


@pytest.mark.parametrize(
    ("asked", "said", "family"),
    [
        ("resign", "quit", "expression"),
        ("tumor", "tumour", "expression"),
        ("classifier", "classification", "expression"),
        ("significantly", "significant", "expression"),
        ("expensive", "costly", "expression"),
        ("tweat", "tweets", "expression"),
        ("data", "datasets", "concept"),
        ("die", "drowned", "concept"),
        ("defeat", "trounced", "concept"),
        ("European", "France", "concept"),
        ("reduction", "lowered", "concept"),
        ("infection", "postinfection", "concept"),
        ("executive", "CEO", "intent"),
        ("company", "CEO", "intent"),
        ("kill", "died", "event"),
        ("sleep", "snore", "event"),
        ("percentage", "%", "expression"),
        ("not", "neither", "expression"),
        ("occurrence", "occurred", "expression"),
        ("official", "director", "intent"),
        ("leader", "head coach", "intent"),
        ("executive", "chief legal officer", "intent"),
        ("cancelled", "scrapped", "event"),
        ("revenue", "tax", "related"),
        ("mortality", "incidence", "related"),
        ("universe", "university", "related"),
        ("rise", "fell", "related"),
        ("drakes", "ducklings", "related"),  # though a duckling is a duck, and so is a drake
        ("ducks", "ducklings", "concept"),
        ("sent", "Recipient", "related"),
    ],
)
def test_all_senses_and_derivations_name_the_family(asked: str, said: str, family: str) -> None:
    assert step_family(asked, said) == family


def test_a_word_aside_that_nothing_names_is_the_context() -> None:
    assert step_family("role", "Filmography", aside=True) == "context"
    assert step_family("win", "winners", aside=True) == "expression"


def test_an_office_is_read_by_its_whole_name() -> None:
    text = "The chief legal officer of Blau met the head of security and the head coach."
    names = {
        word: office_around(text, text.index(word), text.index(word) + len(word))
        for word in ("officer", "head of", "coach", "Blau")
    }
    assert names["officer"] == "chief legal officer"
    assert names["coach"] == "head coach"
    assert names["Blau"] == ""
    start = text.index("head coach")
    assert office_around(text, start, start + 4) == "head coach"


def test_opposites_and_directions_are_told() -> None:
    assert opposite("rise", "fell")
    assert not opposite("rise", "rose")
    assert direction("storm", "hurricanes") == "narrower"
    assert direction("hurricane", "storms") == "broader"
    assert direction("river", "lawyer") == ""


def test_a_word_of_two_literals_belongs_to_the_one_that_has_its_neighbours() -> None:
    words = ["Confidential", "Information", "include", "verbally", "conveyed", "information"]
    labels = ["Confidential Information", "include", "convey", "information"]
    assert literals_of_words(words, labels, forms) == (0, 0, 1, -1, 2, 3)


def test_a_word_joined_by_a_hyphen_belongs_to_its_literal() -> None:
    assert literals_of_words(["hospital", "mortality"], ["in-hospital", "mortality"], forms) == (
        0,
        1,
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("mice", "mouse", True),
        ("NDAs", "NDA", True),
        ("analyses", "analysis", True),
        ("related", "relative", False),
        ("universe", "university", False),
    ],
)
def test_only_inflections_are_the_same_word(one: str, other: str, *, same: bool) -> None:
    assert bool(set(forms(one)) & set(forms(other))) is same


@pytest.mark.parametrize(
    ("asked", "said", "one"),
    [
        ("disclosed", "disclosure", True),
        ("evaluate", "evaluation", True),
        ("winners", "won", True),
        ("altered", "changed", False),
        ("sued", "litigation", False),
    ],
)
def test_forms_of_one_word_are_told_from_synonyms(asked: str, said: str, one: bool) -> None:
    assert one_word(asked, said) == one
