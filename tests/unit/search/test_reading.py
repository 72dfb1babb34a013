"""Readings say what the passage says, what was taken for what, and nothing false."""

from dataclasses import replace

import pytest

from abstrag import AbstRAG
from abstrag.config import Settings
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.document import OffsetMap, Span
from abstrag.model.query import Bridge, Literal, LiteralKind
from abstrag.model.ranking import GapTrace, Hit, LiteralTrace, WordTrace
from abstrag.model.segment import Segment, SegmentKind, SegmentRole
from abstrag.model.term import Family, Licence, LicenceKind, Mention, Relation
from abstrag.search.reading import read_aloud
from abstrag.search.relevance import ALIGNED, SMOOTH
from abstrag.search.trace import ALIGN_WORDS


def segment_of(text: str, section: tuple[str, ...] = ()) -> Segment:
    return Segment(
        "s",
        SegmentKind.SENTENCE,
        SegmentRole.TEXT,
        text,
        Span(0, len(text)),
        OffsetMap(((0, 0),)),
        0,
        section,
    )


def literal(label: str, *, kind: LiteralKind = LiteralKind.CONCEPT) -> Literal:
    return Literal(kind, label, (), 1.0)


def word(
    asked: str, said: str, *, price: float, family: Family | None, **more: object
) -> WordTrace:
    made = WordTrace(
        asked, 0, len(asked), price, 1.0, met=True, said=said, family=family, literal=0
    )
    return replace(made, **more)  # type: ignore[arg-type]


def trace_of(*literals: LiteralTrace) -> GapTrace:
    return GapTrace(literals, (), None, False, None, 0.5, 0.5, 2.0)


def by_words(label: str, said: str, cost: float, family: Family) -> LiteralTrace:
    bridge = Bridge(
        family, Relation.IMPLIES, ALIGN_WORDS, said, label, cost, 0.0, cost, truth_preserving=False
    )
    mention = Mention(said, 0, 0, len(said))
    return LiteralTrace(
        literal(label), met=True, distance=cost, via=said, bridges=(bridge,), mention=mention
    )


def read(trace: GapTrace, text: str, words: tuple[WordTrace, ...] = (), **more: object) -> str:
    section = more.pop("section", ())
    return read_aloud(
        trace,
        segment_of(text, section),  # type: ignore[arg-type]
        {},
        tau=1.5,
        words=words,
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("Two mice were kept.", ()),
        ("They were kept.", ("Mice",)),
    ],
)
def test_nothing_meets_is_never_said_of_words_that_stand_there(
    text: str, section: tuple[str, ...]
) -> None:
    unmet = LiteralTrace(literal("mouse"), met=False)
    said = read(trace_of(unmet), text, section=section)
    assert "nothing" not in said
    assert f"“mouse” stands {'in a heading' if section else 'there'}, but" in said
    assert "Nothing in it meets “mouse”" in read(trace_of(unmet), "Two rats were kept.")


def test_a_plural_that_is_a_word_of_its_own_is_not_said_to_be_missing() -> None:
    unmet = LiteralTrace(literal("Olympic"), met=False)
    assert "“Olympic” stands there" in read(trace_of(unmet), "She ran at the Olympics.")


def test_a_name_is_not_called_a_class() -> None:
    edge = Bridge(
        family=Family.CONCEPT,
        relation=Relation.IMPLIES,
        operator="abstract_concepts",
        source="entity:4k company",
        target="entity:4k",
        weight=0.0,
        distance=0.0,
        cost=0.0,
        truth_preserving=True,
        licence=Licence(LicenceKind.TEXT, "4K Company"),
    )
    asked = literal("4K", kind=LiteralKind.ENTITY)
    met = LiteralTrace(asked, met=True, distance=0.0, via="4K Company", bridges=(edge,))
    said = read(trace_of(met), "The firm grew.")
    assert "4K Company goes by the name “4K”" in said


def test_the_same_word_in_another_sense_is_called_that() -> None:
    unmet = LiteralTrace(literal("chip"), met=False)
    potato = word("chip", "chips", price=3.9, family=Family.RELATED, other_sense=True, met=False)
    assert "“chip” stands there in another sense" in read(trace_of(unmet), "Chips!", (potato,))


@pytest.mark.parametrize(
    ("asked", "said", "family", "told"),
    [
        ("storm", "Hurricanes", Family.CONCEPT, "“Hurricanes” is read as “storm” (a narrower word"),
        ("smell", "scent", Family.EXPRESSION, "“scent” is read as “smell” (another expression"),
        ("rise", "fell", Family.RELATED, "“fell” says the opposite of “rise” (0.90)"),
        ("title", "cup", Family.RELATED, "“cup” is read as “title” (a related word, 0.90)"),
    ],
)
def test_a_step_is_named_by_what_it_is(asked: str, said: str, family: Family, told: str) -> None:
    met = by_words(asked, said, 0.9, family)
    assert told in read(trace_of(met), said, (word(asked, said, price=0.9, family=family),))


def test_of_a_word_that_tells_no_event_nothing_is_said_about_parties() -> None:
    event = Literal(LiteralKind.EVENT, "repurchase", (), 1.0, slots=("who", "whom"))
    met = replace(by_words("repurchase", "Repurchase", 0.2, Family.EVENT), literal=event)
    direct = word("repurchased", "Repurchase", price=0.0, family=None)
    said = read(trace_of(met), "Repurchase of stock", (direct,))
    assert said.startswith("It says “Repurchase” (by the word alone, 0.20). Gap")


def test_another_word_that_tells_of_an_event_is_told_with_the_asked_one() -> None:
    event = Literal(LiteralKind.EVENT, "use", (), 1.0, slots=("who", "whom"))
    slot = Bridge(
        Family.EVENT, Relation.IMPLIES, "fill_slots", "event:use", "use", 0.0, 0.1, 0.1,
        truth_preserving=False, details=("who unfilled",),
    )  # fmt: skip
    met = LiteralTrace(
        event,
        met=True,
        distance=0.1,
        via="event:use",
        bridges=(slot,),
        mention=Mention("", 0, 0, 8),
    )
    said = read_aloud(
        trace_of(met), segment_of("utilized here"), {"event:use": "use"}, tau=1.5
    )  # fmt: skip
    assert said.startswith("It says “utilized” (for “use”, who does it is not found, 0.10). Gap")


@pytest.mark.parametrize(
    ("asked", "said", "told"),
    [
        ("warranty", "guarantee", "another expression"),
        ("method", "technique", "a narrower word"),
    ],
)
def test_a_step_over_classes_is_named_by_what_the_two_words_are(
    asked: str, said: str, told: str
) -> None:
    edge = Bridge(
        Family.CONCEPT, Relation.IMPLIES, "abstract_concepts", said, asked, 0.65, 0.0, 0.65,
        truth_preserving=False,
    )  # fmt: skip
    met = LiteralTrace(literal(asked), met=True, distance=0.65, via=said, bridges=(edge,))
    assert f"is read as “{asked}” ({told}, 0.65)" in read(trace_of(met), f"A {said}.")


def test_a_word_that_only_the_heading_has_is_said_to_stand_there() -> None:
    met = replace(by_words("smell", "scent", 0.4, Family.EXPRESSION), mention=None)
    headed = word("smell", "scent", price=0.4, family=Family.EXPRESSION, in_section=True)
    said = read(trace_of(met), "Hounds follow it.", (headed,), section=("scent",))
    assert "“scent” in the heading is read as “smell” (another expression" in said


def test_all_words_that_meet_a_phrase_are_quoted() -> None:
    met = by_words("cytology screening", "cytology testing", 0.35, Family.EXPRESSION)
    words = (
        word("cytology", "cytology", price=0.0, family=None),
        word("screening", "testing", price=0.3, family=Family.EXPRESSION),
    )
    said = read(trace_of(met), "cytology testing", words)
    assert "“cytology” and “testing” are read as “cytology screening”" in said


def test_a_hit_that_meets_no_word_says_why_it_is_there() -> None:
    unmet = LiteralTrace(literal("penguin"), met=False)
    nothing = word("penguin", "", price=4.0, family=None, met=False)
    said = read(trace_of(unmet), "Ships sail.", (nothing,), judgement=0.9)
    assert "as a whole it is about the same thing" in said
    assert "The judge takes it for evidence (0.90), for reasons that no step here shows." in said


def first_reading(text: str, query: str) -> str:
    made = index(load_bytes(text.encode(), name="text.md"))
    return Searcher(made, preset=SMOOTH).search(query, k=1, fill=True).hits[0].reading


def test_another_name_is_quoted_with_what_it_stands_for() -> None:
    text = "Oral anticoagulants (OACs) thin the blood.\n\nPatients took OACs daily."
    long = first_reading(text, "Did patients take oral anticoagulants daily?")
    assert "“OACs” (for “oral anticoagulant”)" in long
    assert "for" not in first_reading(text, "Did patients take OACs?")


def test_a_day_in_the_time_asked_for_is_told_as_lying_within_it() -> None:
    said = first_reading("Rain fell on 14 May 2024.", "Did rain fall in May 2024?")
    assert "“14 May 2024” (within “in May 2024”)" in said.replace("“May 2024”", "“in May 2024”")


def test_another_name_that_does_not_count_is_not_said_to_be_missing() -> None:
    unmet = LiteralTrace(literal("stem cell"), met=False)
    said = read(trace_of(unmet), "Fewer LT-HSCs divide.", names=[{"HSC"}])
    assert "“HSC”, a name of “stem cell”, does not count as met" in said
    assert "nothing in it meets" not in said


def test_what_comes_nearest_to_an_unmet_word_is_told() -> None:
    near = word("average", "Net", price=0.5, family=Family.RELATED, met=False)
    said = read(trace_of(LiteralTrace(literal("average"), met=False)), "Net income", (near,))
    assert "othing in it meets “average” (nearest: “Net”)" in said


def test_all_that_a_definition_defines_is_told_in_one_phrase() -> None:
    text = "A hat-trick is three goals by one player. The plumber managed a hat-trick. He was glad."
    made = index(load_bytes(text.encode(), name="defined.txt"))
    hits = Searcher(made, preset=SMOOTH).search("Who made three goals?", k=3).hits
    told = next(hit.reading for hit in hits if "plumber" in hit.text).replace("The t", "the t")
    assert "the text defines “hat-trick” by “three” and “goal”" in told.replace(
        "The text", "the text"
    )
    assert " is a " not in told


def test_a_background_is_called_by_its_file_where_it_has_one() -> None:
    for reference, told in (
        ("background: classes.Kurio", "Kurio is a tablet, as the Background states"),
        ("chips.toml: classes.Kurio", "Kurio is a tablet, as the Background chips.toml states"),
    ):
        licence = Licence(LicenceKind.BACKGROUND, reference)
        bridge = Bridge(
            Family.CONCEPT,
            Relation.IMPLIES,
            "abstract_concepts",
            "entity:kurio",
            "concept:tablet",
            0.0,
            0.0,
            0.0,
            truth_preserving=True,
            licence=licence,
        )
        trace = LiteralTrace(
            literal("tablet"),
            met=True,
            distance=0.0,
            via="entity:kurio",
            bridges=(bridge,),
            mention=Mention("entity:kurio", 0, 0, 5),
        )
        segment = segment_of("Kurio sells well.")
        labels = {"entity:kurio": "Kurio"}
        assert told in read_aloud(trace_of(trace), segment, labels, tau=1.5)


def test_no_stop_before_a_name_is_quoted() -> None:
    text = "It is today. Investors may call."
    trace = LiteralTrace(
        literal("investor"),
        met=True,
        distance=0.0,
        via="concept:investor",
        mention=Mention("concept:investor", 0, 11, 22),
    )
    assert read(trace_of(trace), text).startswith("It says “Investors”")


def first_hit(text: str, query: str) -> Hit:
    with AbstRAG.from_text(text) as rag:
        return rag.search(query).hits[0]


def test_what_stands_there_is_not_told_as_a_class_of_something() -> None:
    text = "Linux is the kernel of a system."
    kernel = next(t for t in first_hit(text, "What is the kernel?").trace.literals)
    assert (kernel.via, kernel.bridges) == ("concept:kernel", ())


def test_words_that_a_passage_writes_together_are_met() -> None:
    reading = first_hit(
        "SQLite works well for most websites.", "Does SQLite suit web sites?"
    ).reading
    assert "“websites”" in reading
    assert "“web”" not in reading


def test_a_time_that_only_overlaps_is_told_as_such_and_a_whole_life_is_no_year() -> None:
    band = first_hit("The band formed in 2009.", "What was formed in summer of 2009?").reading
    assert "a time that only overlaps it" in band
    life = "Thomas Worthington (11 April 1826 - 9 November 1909) was an architect."
    assert (
        "“1855”" in first_hit(life, "Which architect worked in 1855?").reading.partition("meets")[2]
    )


def test_a_holder_of_an_office_is_one_as_the_text_states() -> None:
    told = literal("CEO")
    step = Bridge(
        family=Family.CONCEPT,
        relation=Relation.IMPLIES,
        operator="abstract_concepts",
        source="entity:jane roe",
        target="role:ceo",
        weight=0.0,
        distance=0.0,
        cost=0.0,
        truth_preserving=True,
        licence=Licence(LicenceKind.TEXT, "Jane Roe, chief executive officer"),
    )
    met = LiteralTrace(told, met=True, distance=0.0, via="entity:jane roe", bridges=(step,))
    labels = {"entity:jane roe": "Jane Roe"}
    reading = read_aloud(trace_of(met), segment_of("Jane Roe spoke."), labels, tau=1.5)
    assert reading.startswith("Jane Roe is a CEO, as the text states.")
    named = replace(step, licence=Licence(LicenceKind.TEXT, "Roe Ltd."), source="entity:roe")
    met = replace(met, literal=literal("company"), via="entity:roe", bridges=(named,))
    reading = read_aloud(trace_of(met), segment_of("Roe sells."), {"entity:roe": "Roe"}, tau=1.5)
    assert reading.startswith("Roe is a company, judging by the name.")


def test_words_that_only_frame_a_question_are_no_condition() -> None:
    text = "The lock is escalated to an exclusive lock.\nThe assumptions about hardware are bold."
    for query in (
        "When does the lock become exclusive?",
        "How long does it take to escalate a lock?",
        "Which hardware assumptions are made?",
    ):
        assert "nothing" not in first_hit(text, query).reading


APART = """
# Notes

The boats give data every hour. A crane was set on the quay by the harbour company.

Each old data set was kept in the harbour, and the new data sets are large.

The data of the boats, which nobody had asked the old harbour company for, were a set of rows.
"""


def test_words_of_one_condition_in_two_sentences_are_told_apart_and_not_met() -> None:
    paragraphs = Settings(granularity="paragraph")
    notes = index(load_bytes(APART.encode(), name="notes.md"), settings=paragraphs)
    ranking = Searcher(notes, preset=ALIGNED).search("Which data sets were used?", k=5)
    crane = next(hit for hit in ranking.hits if "crane" in hit.quote)
    assert "Of “data sets” it says “data” and “set”, but in different sentences" in crane.reading
    assert not crane.trace.literals[0].met
    far = next(hit for hit in ranking.hits if "nobody" in hit.quote)
    assert "It says “data” … “set” (apart from each other, for “data sets”)" in far.reading
    assert ranking.hits[0].quote.startswith("Each old data set")


def test_of_words_that_stand_twice_those_that_belong_together_are_quoted() -> None:
    text = """
# Notes

Data was asked for. Each old data set was kept there, and the quay was set on fire.

The new data sets are large, and nobody reads the data sets.
"""
    notes = index(
        load_bytes(text.encode(), name="notes.md"), settings=Settings(granularity="paragraph")
    )
    hits = Searcher(notes, preset=ALIGNED).search("Which data sets were used?", k=5).hits
    kept = next(hit for hit in hits if "quay" in hit.quote)
    data, sets = (word for word in kept.words if word.asked in ("data", "sets"))
    assert data.said_end is not None
    assert data.said_end + 1 == sets.said_start
