"""British and American spellings are one word; words that only look like it are not."""

import pytest

from abstrag.search.document_words import american, forms


@pytest.mark.parametrize(
    ("british", "other"),
    [
        ("licences", "licensed"),
        ("colours", "color"),
        ("organisations", "organization"),
        ("analysing", "analyze"),
        ("centres", "center"),
        ("fibre", "fibers"),
        ("programmes", "program"),
        ("anaemia", "anemia"),
        ("manoeuvre", "maneuvers"),
        ("modelling", "modeling"),
    ],
)
def test_two_spellings_of_a_word_are_the_same_word(british: str, other: str) -> None:
    assert set(forms(british)) & set(forms(other))


@pytest.mark.parametrize(
    "word", ["hour", "tour", "four", "promise", "exercise", "shoe", "seller", "sense", "advise"]
)
def test_what_only_looks_british_has_no_other_spelling(word: str) -> None:
    assert american(word) == ""
