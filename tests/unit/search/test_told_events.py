"""Verbs of events: WordNet's word counts for the very thing that is asked about."""

import pytest

from abstrag.search.told_events import one_event


@pytest.mark.parametrize(
    ("asked", "told"),
    [("reject", "dismiss"), ("destroy", "level"), ("grade", "mark"), ("die", "kill")],
)
def test_a_synonym_a_narrower_verb_and_an_effect_are_one_event(asked: str, told: str) -> None:
    assert one_event(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"), [("increase", "decrease"), ("reject", "accept"), ("reject", "hear")]
)
def test_opposites_and_strangers_are_not(asked: str, told: str) -> None:
    assert not one_event(asked, told)
