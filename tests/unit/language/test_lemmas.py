"""Lemmas that the rules of the parser get wrong, and spelling gets right."""

import pytest

from abstrag.language.parser import corrections, parse


@pytest.mark.parametrize(
    ("sentence", "verb", "lemma"),
    [
        ("The council fined the baker.", "fined", "fine"),
        ("The judges rated the pies.", "rated", "rate"),
        ("They hoped for rain.", "hoped", "hope"),
        ("They were riding home.", "riding", "ride"),
        ("They planned a fair.", "planned", "plan"),
        ("The cook was sitting down.", "sitting", "sit"),
        ("The mayor visited the fair.", "visited", "visit"),
        ("Todd rewrote it.", "rewrote", "rewrite"),
        ("He found a boat.", "found", "find"),
    ],
)
def test_a_form_has_the_verb_that_its_spelling_says(sentence: str, verb: str, lemma: str) -> None:
    (doc,) = parse([sentence])
    assert [token.lemma_ for token in doc if token.text == verb] == [lemma]


def test_a_short_verb_doubles_its_consonant_and_y_becomes_ied() -> None:
    made = dict(corrections(["fin", "fine", "rout", "route", "remedy", "play"]))
    assert made == {"fined": "fine", "fining": "fine", "remedied": "remedy"}
