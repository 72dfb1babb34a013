import pytest

from abstrag.indexing.concepts import AbstractConcepts
from abstrag.indexing.events import AbstractEvents
from abstrag.indexing.layers import Events
from abstrag.indexing.operator import IndexDraft
from abstrag.model.background import EventRule
from abstrag.model.term import Edge, Family, Frame, LicenceKind, Slot
from tests.unit.indexing.readied import readied

NAMES = ("Anthropic", "TSMC", "Acme", "Taipei")
EXAMPLE = "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."


def abstracted(
    *texts: str, rules: tuple[EventRule, ...] = (), links: tuple[tuple[str, str], ...] = ()
) -> tuple[IndexDraft, Events]:
    draft = readied(*texts, names=NAMES, times=("this Tuesday", "in May"), links=links)
    draft = AbstractEvents(rules)(AbstractConcepts()(draft))
    assert draft.events is not None
    return draft, draft.events


def frame(text: str, event: str) -> Frame:
    _, layer = abstracted(text)
    (found,) = [f for f in layer.frames if f.event == f"event:{event}"]
    return found


def roles(text: str, event: str) -> list[tuple[str, str]]:
    """Return the slots of the one frame of an event: name and words."""
    return [(s.name, text[s.start : s.end]) for s in frame(text, event).slots]


def edges(layer: Events, source: str) -> dict[str, Edge]:
    return {e.target: e for e in layer.edges if e.source == source}


# --- The paper's example --------------------------------------------------------------------------


def test_offices_of_the_example_stand_for_their_organizations() -> None:
    draft, layer = abstracted(EXAMPLE)
    (visit,) = [f for f in layer.frames if f.event == "event:visit"]
    text = draft.segments[0].text
    assert text[visit.start : visit.end] == "visited"
    office = "the head of TSMC's 3 nm fabrication division"
    who, whom, when = 0, text.index(office), text.index("this Tuesday")
    assert visit.slots == (
        Slot("who", who, who + len("The CTO of Anthropic"), "entity:anthropic", coerced=True),
        Slot("whom", whom, whom + len(office), "entity:tsmc", coerced=True),
        Slot("when", when, when + len("this Tuesday"), "time:2024-05-14"),
    )
    assert not visit.negated
    assert not visit.artifact


def test_a_visit_may_be_read_as_a_meeting_and_by_rule_as_a_collaboration() -> None:
    _, layer = abstracted(EXAMPLE, rules=(EventRule("visit", "collaboration"),))
    up = edges(layer, "event:visit")
    meeting, collaboration = up["event:meeting"], up["event:collaboration"]
    assert meeting.licence.reference == "event inventory: visit -> meeting"
    assert meeting.licence.kind is LicenceKind.LEXICON
    assert collaboration.licence.reference == "background: events visit -> collaboration"
    assert collaboration.licence.kind is LicenceKind.BACKGROUND
    for edge in (meeting, collaboration):
        assert edge.family is Family.EVENT
        assert edge.cost == pytest.approx(0.90)
        assert not edge.truth_preserving
    assert {"event:meeting", "event:collaboration"} <= {t.id for t in layer.terms}


def test_without_the_rule_nothing_leads_from_the_visit_to_a_collaboration() -> None:
    assert "event:collaboration" not in edges(abstracted(EXAMPLE)[1], "event:visit")


# --- Triggers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "event", "words"),
    [
        ("Anthropic collaborated with TSMC.", "collaboration", "collaborated"),
        ("The collaboration with TSMC ended.", "collaboration", "collaboration"),
        ("They teamed up with TSMC.", "collaboration", "teamed up"),
        ("Anthropic held long talks with TSMC.", "meeting", "held long talks"),
        ("They made a decision.", "decide", "made a decision"),
        ("They migrated to Taipei.", "migrate", "migrated"),
        ("We fine-tuned the model.", "training", "fine-tuned"),
        ("The clinical trial failed.", "clinical trial", "clinical trial"),
    ],
)
def test_verbs_nouns_and_frames_meet_in_one_term(text: str, event: str, words: str) -> None:
    draft, layer = abstracted(text)
    (mention,) = [m for m in layer.mentions if m.term == f"event:{event}"]
    assert draft.segments[0].text[mention.start : mention.end] == words


def test_bullets_and_prepositions_are_no_events_whatever_the_tagger_says() -> None:
    _, layer = abstracted("• Sports grew. They sold tools, including saws.")
    assert {f.event for f in layer.frames} == {"event:growth", "event:sale"}


def test_auxiliaries_and_support_verbs_are_no_events() -> None:
    _, layer = abstracted("They have been happy and had a car. They made a decision.")
    assert {f.event for f in layer.frames} == {"event:decide"}


def test_a_word_that_cannot_be_a_verb_is_no_event_whatever_the_tagger_says() -> None:
    draft, layer = abstracted("AI startup Anthropic signed a deal.")
    assert [t.pos_ for t in draft.tokens(0)][1] == "VERB"
    told = "event:sign in sign (contract)"  # "sign" of a deal tells what "conclude" does
    assert {f.event for f in layer.frames} == {"event:signing", "event:agreement", told}
    assert draft.concepts is not None
    assert "concept:startup" in {m.term for m in draft.concepts.mentions}


def test_an_artifact_suggests_its_event_at_a_price() -> None:
    _, layer = abstracted("The patent is old.")
    (found,) = layer.frames
    assert found.artifact
    edge = edges(layer, found.event)["event:patenting"]
    assert edge.cost == pytest.approx(0.90 + 0.30)


def test_an_event_said_to_have_happened_is_no_artifact() -> None:
    assert not frame("They reached an accord with TSMC.", "agreement").artifact


def test_a_rule_makes_its_own_words_events() -> None:
    rule = EventRule("term sheet", "merger", artifact=True)
    _, layer = abstracted("A term sheet leaked.", rules=(rule,))
    assert edges(layer, "event:term sheet")["event:merger"].cost == pytest.approx(1.20)
    (sheet,) = [f for f in layer.frames if f.event == "event:term sheet"]
    assert sheet.artifact


def test_a_rule_may_start_from_a_verb_and_its_object() -> None:
    rule = EventRule("shake hands", "agreement")
    _, layer = abstracted("Anthropic shook its hands.", rules=(rule,))
    assert "event:agreement" in edges(layer, "event:shake hands")


def test_a_rule_for_something_the_document_does_not_tell_is_left_out() -> None:
    _, layer = abstracted("A cat slept.", rules=(EventRule("visit", "collaboration"),))
    assert "event:collaboration" not in {t.id for t in layer.terms}


# --- Slots ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "event", "expected"),
    [
        ("Acme sued TSMC.", "lawsuit", [("who", "Acme"), ("whom", "TSMC")]),
        ("TSMC was sued by Acme.", "lawsuit", [("who", "Acme"), ("whom", "TSMC")]),
        (
            "The acquisition of Acme by TSMC failed.",
            "acquisition",
            [("who", "TSMC"), ("whom", "Acme")],
        ),
        ("Acme's visit to TSMC failed.", "visit", [("who", "Acme"), ("whom", "TSMC")]),
        ("Talks between Acme and TSMC failed.", "talk", [("who", "Acme"), ("whom", "TSMC")]),
        ("Acme and TSMC met.", "meeting", [("who", "Acme"), ("whom", "TSMC")]),
        (
            "Acme and TSMC sued Anthropic.",
            "lawsuit",
            [("who", "Acme"), ("who", "TSMC"), ("whom", "Anthropic")],
        ),
        ("Anthropic, which sued Acme, won.", "lawsuit", [("who", "Anthropic"), ("whom", "Acme")]),
        ("Anthropic decided to sue Acme.", "lawsuit", [("who", "Anthropic"), ("whom", "Acme")]),
        ("Anthropic asked TSMC to sue Acme.", "lawsuit", [("who", "TSMC"), ("whom", "Acme")]),
        (
            "Anthropic signed an agreement with TSMC.",
            "signing",
            [("who", "Anthropic"), ("whom", "TSMC")],
        ),
        (
            "Anthropic signed an agreement with TSMC.",
            "agreement",
            [("who", "Anthropic"), ("whom", "TSMC")],
        ),
        (
            "Anthropic met TSMC in Taipei this Tuesday.",
            "meeting",
            [("who", "Anthropic"), ("whom", "TSMC"), ("when", "this Tuesday"), ("where", "Taipei")],
        ),
        ("Acme was sued and penalized.", "fine", [("whom", "Acme")]),
        ("Founded by Acme, TSMC grew.", "founding", [("who", "Acme"), ("whom", "TSMC")]),
        ("A plant built by TSMC closed.", "construction", [("who", "TSMC"), ("whom", "A plant")]),
        (
            "The lease is governed by and construed in accordance with the laws of Taipei.",
            "govern",
            [("who", "the laws of Taipei"), ("whom", "The lease")],
        ),
        (
            "A share was owned by and held for the trust of Acme.",
            "own",
            [("who", "the trust of Acme"), ("whom", "A share")],
        ),
        (
            "The dealer collects and sells old coins.",
            "collection",
            [("who", "The dealer"), ("whom", "old coins")],
        ),
        ("They came, saw and left the city.", "come", [("who", "They")]),
        (
            "The return or destruction of the papers was late.",
            "destruction",
            [("whom", "the papers")],
        ),
        ("The price of tin and the sale of boats rose.", "sale", [("whom", "boats")]),
        (
            "Information gathered later by the firm is not secret.",
            "collection",
            [("who", "the firm"), ("whom", "Information")],
        ),
        (
            "The Employee hereby grants to the Company a license.",
            "licensing",
            [("who", "The Employee"), ("whom", "the Company")],
        ),
        ("It was a post they hold.", "hold", [("who", "they"), ("whom", "a post")]),
        (
            "The boats that Acme bought were old.",
            "purchase",
            [("who", "Acme"), ("whom", "The boats")],
        ),
        ("The day the king died was cold.", "death", [("who", "the king")]),
    ],
)
def test_arguments_fill_slots(text: str, event: str, expected: list[tuple[str, str]]) -> None:
    assert roles(text, event) == expected


def test_a_pronoun_stands_for_its_antecedent() -> None:
    _, layer = abstracted("Anthropic grew. It sued Acme.", links=(("It", "Anthropic"),))
    (lawsuit,) = [f for f in layer.frames if f.event == "event:lawsuit"]
    assert [s.term for s in lawsuit.slots] == ["entity:anthropic", "entity:acme"]
    assert not lawsuit.slots[0].coerced


def test_a_role_without_an_organization_stands_for_itself() -> None:
    who = frame("The judge visited TSMC.", "visit").slots[0]
    assert (who.term, who.coerced) == ("role:judge", False)


def test_a_role_that_only_the_background_knows_is_a_role() -> None:
    draft = AbstractConcepts(roles=(("site lead", ("manager",)),))(readied("A site lead slept."))
    layer = AbstractEvents()(draft).events
    assert layer is not None
    assert [s.term for f in layer.frames for s in f.slots] == ["role:site lead"]


def test_a_name_nobody_knows_as_an_entity_still_takes_part() -> None:
    who, whom = frame("The CTO of Zorbex visited Zorbex Labs.", "visit").slots
    assert (who.term, who.coerced) == ("concept:zorbex", True)
    assert (whom.term, whom.coerced) == ("concept:zorbex labs", False)


def test_a_field_of_work_written_large_is_no_organization() -> None:
    who = frame("The Director of Research visited TSMC.", "visit").slots[0]
    assert (who.term, who.coerced) == ("role:director", False)


def test_a_division_stands_for_its_company_by_coercion() -> None:
    who = frame("TSMC's packaging division sued Acme.", "lawsuit").slots[0]
    assert (who.term, who.coerced) == ("entity:tsmc", True)
    who = frame("A branch of Acme sued TSMC.", "lawsuit").slots[0]
    assert (who.term, who.coerced) == ("entity:acme", True)


def test_a_branch_of_a_field_is_no_part_of_an_organization() -> None:
    who = frame("The branch of Chemistry grew.", "growth").slots[0]
    assert (who.term, who.coerced) == (None, False)


def test_a_time_belongs_to_the_nearest_event_above_it() -> None:
    text = "Acme said that TSMC sued Anthropic this Tuesday."
    assert "when" in {s.name for s in frame(text, "lawsuit").slots}
    assert "when" not in {s.name for s in frame(text, "statement").slots}


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("Acme did not sue TSMC.", "lawsuit"),
        ("Acme never sued TSMC.", "lawsuit"),
        ("Acme failed to acquire TSMC.", "acquisition"),
        ("Acme denied it had acquired TSMC.", "acquisition"),
        ("No agreement was signed.", "agreement"),
        ("They left without an agreement.", "agreement"),
        ("They held no talks.", "meeting"),
        ("Nobody sued Acme.", "lawsuit"),
        ("Neither side sued Acme.", "lawsuit"),
    ],
)
def test_what_did_not_happen_is_marked(text: str, event: str) -> None:
    assert frame(text, event).negated


def test_what_happened_is_not_marked() -> None:
    assert not frame("Acme sued TSMC.", "lawsuit").negated


# --- Verbs in WordNet -----------------------------------------------------------------------------


def test_a_verb_leads_to_its_sense_to_broader_ones_and_to_what_it_entails() -> None:
    _, layer = abstracted("The child snored and murmured.")
    snore = edges(layer, "event:snore")
    assert snore["event:snore.v.01"].cost == pytest.approx(0.65)
    assert snore["event:sleep.v.01"].distance == 0.30
    assert snore["event:snore.v.01"].family is Family.CONCEPT
    broader = [e for e in edges(layer, "event:murmur").values() if e.distance > 0]
    assert broader


def test_nothing_is_left_to_chance() -> None:
    assert abstracted(EXAMPLE)[1] == abstracted(EXAMPLE)[1]
