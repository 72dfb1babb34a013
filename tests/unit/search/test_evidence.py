"""How cheap a learned step must be to count."""

import pytest

from abstrag.search.families import LIMITS, SYNONYMS, price_limit, step_family


def limit(asked: str, said: str, *, own_word: bool = False) -> float:
    return price_limit(asked, said, step_family(asked, said), own_word=own_word)


def test_more_may_be_paid_where_a_lexicon_knows_the_pair() -> None:
    assert limit("collect", "gathered") == SYNONYMS
    assert limit("join", "United") < LIMITS["expression"]
    assert limit("tumor", "tumorigenic") == LIMITS["expression"]
    assert limit("people", "humans") == LIMITS["related"]
    assert LIMITS["related"] < LIMITS["concept"] <= LIMITS["expression"] < SYNONYMS


def test_synonyms_in_a_rare_sense_alone_must_be_as_near_as_two_verbs() -> None:
    assert limit("father", "founder") == 0.35
    assert limit("promise", "assure") == 0.35
    assert limit("reduced", "decreased") == SYNONYMS


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("only", "limited"),
        ("people", "million"),
        ("average", "Net"),
        ("RANKL", "RANK"),
        ("female", "Male"),
    ],
)
def test_what_counts_or_codes_or_names_the_opposite_thing_is_met_by_itself_alone(
    asked: str, said: str
) -> None:
    assert limit(asked, said) == 0.0


def test_an_opposite_that_says_what_happens_still_counts() -> None:
    assert limit("less", "more") == LIMITS["related"]
    assert limit("rise", "fall") > 0.0


def test_a_related_word_must_be_nearer_where_the_document_has_the_asked_one() -> None:
    assert limit("revenue", "tax", own_word=True) < limit("revenue", "tax")


def test_words_of_another_part_of_speech_must_be_nearer() -> None:
    assert limit("neural", "learning") < limit("nicotine", "smoking")
