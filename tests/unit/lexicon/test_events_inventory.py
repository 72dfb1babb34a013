import pytest

from abstrag.errors import ResourceMissing
from abstrag.lexicon.events import (
    EventType,
    Inventory,
    event_key,
    event_type,
    inventory,
    named_event,
    names_event,
    nominalized,
)
from abstrag.lexicon.inventory import read_inventory
from abstrag.lexicon.wordnet import lexicon_version


def test_there_are_at_least_forty_types_and_each_has_a_word_of_its_own() -> None:
    types = inventory().types.values()
    assert len(types) >= 40
    assert [t.key for t in types if not t.verbs and not t.nouns] == []


def test_every_related_type_is_a_type_and_none_is_related_to_itself() -> None:
    types = inventory().types
    assert [t.key for t in types.values() if not set(t.related) <= types.keys()] == []
    assert [t.key for t in types.values() if t.key in t.related] == []


def test_every_slot_and_every_reading_of_of_is_one_that_frames_have() -> None:
    for kind in inventory().types.values():
        assert set(kind.slots) <= {"who", "whom"}
        assert kind.of in {"who", "whom"}


@pytest.mark.parametrize(
    ("verb", "noun"),
    [
        ("collaborate", "collaboration"),
        ("cooperate", "partnership"),
        ("acquire", "takeover"),
        ("evaluate", "assessment"),
        ("decide", "decision"),  # from here on not in the inventory
        ("migrate", "migration"),
        ("recognize", "recognition"),
        ("survive", "survival"),
        ("fail", "failure"),
        ("tokenize", "tokenization"),
        ("phosphorylate", "phosphorylation"),
    ],
)
def test_a_verb_and_its_noun_have_one_key(verb: str, noun: str) -> None:
    assert event_key(verb, "VERB") == event_key(noun, "NOUN")


def test_words_of_a_type_have_the_key_of_the_type() -> None:
    assert event_key("collaborate", "VERB") == "collaboration"
    assert event_key("team up", "VERB") == "collaboration"
    assert event_key("clinical trial", "NOUN") == "clinical trial"


def test_british_and_american_spellings_are_one_verb() -> None:
    assert event_key("analyse", "VERB") == event_key("analyze", "VERB") == "analysis"
    assert event_key("memorise", "VERB") == "memorize"
    assert event_key("summarisation", "NOUN") == "summarize"
    assert event_key("exercise", "VERB") == "exercise"


def test_an_unknown_phrase_goes_by_its_head() -> None:
    assert event_key("meet up", "VERB") == "meeting"
    assert event_key("carry out", "VERB") == "carry out"  # WordNet knows this one
    assert event_key("data collection", "NOUN") == "collection"


@pytest.mark.parametrize(
    "noun", ["organization", "building", "table", "task", "theory", "model", "user"]
)
def test_nouns_that_mean_things_are_no_events(noun: str) -> None:
    assert nominalized(noun) is None
    assert not names_event(noun)
    assert event_key(noun, "NOUN") == noun


def test_of_several_verbs_the_one_spelt_most_like_the_noun_is_taken() -> None:
    assert nominalized("preference") == "prefer"
    assert nominalized("differentiation") == "differentiate"


def test_an_artifact_keeps_its_own_key_unless_it_names_a_type() -> None:
    assert event_key("patent", "NOUN") == "patent"
    assert event_key("patent", "VERB") == "patenting"
    assert event_key("contract", "NOUN") == "contract"
    assert event_key("agreement", "NOUN") == "agreement"
    assert inventory().artifacts["patent"] == ("patenting",)


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("collaboration", "collaboration"),
        ("visits", "visit"),
        ("visited", "visit"),
        ("teamed up", "collaboration"),
        ("hold talks", "meeting"),
        ("patents", "patent"),
        ("decisions", "decide"),
        ("poach", "poach"),
        ("term sheet", "term sheet"),
    ],
)
def test_an_event_named_by_hand_is_found_in_any_form(name: str, event: str) -> None:
    assert named_event(name) == event


def test_an_inventory_that_is_not_there_is_named() -> None:
    with pytest.raises(ResourceMissing, match=r"'nowhere\.toml' cannot be read"):
        read_inventory("nowhere.toml")


def test_a_word_listed_twice_is_refused() -> None:
    with pytest.raises(ResourceMissing, match="'meet' twice"):
        Inventory([EventType("a", "a", verbs=("meet",)), EventType("b", "b", verbs=("meet",))])


def test_the_version_names_wordnet_and_the_inventories() -> None:
    assert "WordNet(" in lexicon_version()
    assert "inventories " in lexicon_version()


def test_an_event_outside_the_inventory_has_no_type() -> None:
    assert event_type("poach") is None
    meeting = event_type("meeting")
    assert meeting is not None
    assert meeting.reciprocal
