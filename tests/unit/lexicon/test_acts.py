"""Verbs that may tell one act: what the lists hold, and what is read out of a text."""

import pytest

from abstrag.lexicon.acts import one_act, verbs_at
from abstrag.lexicon.inventory import ACTS, IDIOMS, entries, read_inventory, read_lists


@pytest.mark.parametrize(("asked", "told"), [("buy", "sell"), ("win", "lose"), ("sing", "sue")])
def test_opposites_and_strangers_are_not_one_act(asked: str, told: str) -> None:
    assert not one_act(asked, told)


def test_a_narrower_act_is_told_by_its_verb_and_not_the_other_way_round() -> None:
    assert one_act("reduce", "halve")
    assert not one_act("halve", "reduce")
    assert one_act("reduce", "lower")
    assert one_act("lower", "reduce")


@pytest.mark.parametrize(
    ("asked", "told"),
    [("win back", "recapture"), ("treat", "patch up"), ("arrest", "take into custody")],
)
def test_what_one_verb_asks_many_tell(asked: str, told: str) -> None:
    assert one_act(asked, told)


def test_no_verb_of_a_line_stands_in_it_twice() -> None:
    for asked, told in read_inventory(ACTS).items():
        words = [*asked.split(", "), *told]
        assert len(words) == len(set(words)), asked


def test_every_phrase_can_be_read_out_of_a_text() -> None:
    for asked, told in read_lists(ACTS):
        for phrase in (*asked.split(", "), *entries(told)):
            verb, _, rest = phrase.replace("one's", "her").partition(" ")
            forms = (f"{verb}{ending} {rest}" for ending in ("", "ed", "d", "s", "ing"))
            assert not rest or any(phrase in verbs_at(form, 0) for form in forms), phrase


def test_a_telling_word_need_not_ask() -> None:
    assert not one_act("nowhere to be found", "halve")


@pytest.mark.parametrize("name", [ACTS, IDIOMS])
def test_lists_that_are_read_fast_are_those_of_the_file(name: str) -> None:
    assert [(key, entries(told)) for key, told in read_lists(name)] == [
        *read_inventory(name).items()
    ]


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("The ice drew back by a mile.", "draw back"),
        ("The ice ate the pier.", "eat"),
        ("The ice outsprinted the sledge.", "outsprint"),  # WordNet does not have it
    ],
)
def test_verbs_and_phrases_are_read_out_of_a_text(text: str, verb: str) -> None:
    assert verb in verbs_at(text, len("The ice "))
