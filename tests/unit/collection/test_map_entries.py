"""Entries: what a document tells its collection about the things it names."""

from abstrag.collection.entries import Entries, NamedThing, entries_of
from abstrag.collection.homonyms import BearerKind
from abstrag.model.record import from_json, to_json
from tests.unit.collection.things import indexed

NEWS = """# Vaccines

The World Health Organization (WHO) approved the vaccine in March 2024. Jane Smith, a doctor,
praised the World Health Organization. She works with the Gates Foundation in Geneva.
"""


def of(text: str) -> dict[str, NamedThing]:
    return {entry.label: entry for entry in entries_of(indexed("d", text)).entries}


def test_a_name_comes_with_the_words_that_state_it_in_full() -> None:
    document = indexed("d", NEWS).document
    who = of(NEWS)["World Health Organization"]
    (stated,) = [n for n in who.names if n.surface == "WHO"]
    assert stated.term == "entity:who"
    assert stated.licence is not None
    assert stated.licence.span is not None
    assert document.quote(stated.licence.span) == "World Health Organization (WHO)"
    assert {"=WHO", "worldhealthorganization"} <= set(who.forms)


def test_kinds_are_what_the_document_shows() -> None:
    found = of(NEWS)
    assert found["Jane Smith"].kinds == (BearerKind.PERSON,)
    assert found["World Health Organization"].kinds == (BearerKind.ORGANIZATION,)
    assert {c.label for c in found["Jane Smith"].classes} == {"doctor"}


def test_what_stands_near_a_name_has_none_of_its_words() -> None:
    made = entries_of(indexed("d", NEWS))
    (smith,) = [e for e in made.entries if e.label == "Jane Smith"]
    near = {made.context[i] for i in smith.near}
    assert "entity:gates foundation" in near
    assert not any("smith" in token for token in near)


def test_an_event_has_named_participants_and_a_time() -> None:
    (approval,) = [
        h for h in entries_of(indexed("d", NEWS)).happenings if h.event == "event:approval"
    ]
    assert approval.participants == (("who", "entity:world health organization"),)
    assert approval.when is not None
    assert (approval.when.start, approval.when.end) == ("2024-03-01", "2024-03-31")


def test_a_denied_event_is_none() -> None:
    text = "# Deal\n\nAcme Steel did not buy Borden Mills in 2021.\n"
    assert entries_of(indexed("d", text)).happenings == ()


def test_a_word_in_capitals_is_no_short_form() -> None:
    text = "# Trial\n\nMETHODS We tested DNA. RESULTS The DNA was intact. METHODS were checked.\n"
    assert "DNA" in of(text)
    assert not {"METHODS", "RESULTS"} & set(of(text))


def test_entries_survive_being_written_down() -> None:
    made = entries_of(indexed("d", NEWS))
    assert from_json(Entries, to_json(made)) == made
