from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.indexing.coref import ResolveCoreference, rewritten_as
from abstrag.indexing.layers import Coreference
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.indexing.pipeline import canonical_texts
from abstrag.model.document import BlockKind
from abstrag.model.segment import SegmentKind
from tests.unit.indexing.drafts import draft_of


def resolved(*texts: str) -> IndexDraft:
    return ResolveCoreference()(draft_of(*texts))


def layer(draft: IndexDraft) -> Coreference:
    assert draft.coreference is not None
    return draft.coreference


def links(draft: IndexDraft) -> list[tuple[str, str]]:
    texts = [segment.text for segment in draft.segments]
    return [
        (
            texts[x.segment][x.start : x.end],
            texts[x.antecedent_segment][x.antecedent_start : x.antecedent_end],
        )
        for x in layer(draft).links
    ]


def flagged(draft: IndexDraft) -> dict[str, str]:
    texts = [segment.text for segment in draft.segments]
    return {texts[a.segment][a.start : a.end]: a.reason for a in layer(draft).ambiguities}


def test_the_operator_declares_its_place_in_the_chain() -> None:
    assert ResolveCoreference.requires is Layer.SEGMENTS
    assert ResolveCoreference.provides is Layer.COREFERENCE
    assert ResolveCoreference.conservative


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Jane Smith lives in Paris. She works at Acme.", [("She", "Jane Smith")]),
        ("Peter Miller wrote a book. His work sold well.", [("His", "Peter Miller")]),
        ("Microsoft said it would buy the startup.", [("it", "Microsoft")]),
        ("Microsoft raised its prices in May.", [("its", "Microsoft")]),
        ("Microsoft and its subsidiaries grew.", [("its", "Microsoft")]),
        ("The packets were lost because they were damaged.", [("they", "The packets")]),
        ("Peter Miller met Jane Smith in May. She smiled.", [("She", "Jane Smith")]),
        ("Ms. Smith joined in 1998. Later she became president.", [("she", "Ms. Smith")]),
    ],
)
def test_a_plain_pronoun_is_linked(text: str, found: list[tuple[str, str]]) -> None:
    assert links(resolved(text)) == found


def test_a_name_that_lately_was_the_subject_goes_on_being_referred_to() -> None:
    draft = resolved(
        "Anthropic, an AI startup, makes models. Anthropic PBC was founded in 2021. "
        "Customers pay the AI startup for every question. Its researchers published a paper."
    )
    assert links(draft) == [("the AI startup", "Anthropic"), ("Its", "Anthropic")]


def test_a_drawback_is_not_what_has_it() -> None:
    assert links(resolved("The drawback is that it needs labels.")) == []


def test_it_in_reach_of_each_is_left_alone() -> None:
    assert links(resolved("Microsoft reads each paper to see whether it is good.")) == []


def test_a_link_goes_to_the_first_mention_of_the_name() -> None:
    draft = resolved(
        "Dr. Jane Smith founded the institute in 1990. It grew. Smith retired. She moved to Rome."
    )
    assert ("She", "Dr. Jane Smith") in links(draft)


def test_a_chain_of_pronouns_goes_on_to_the_name() -> None:
    draft = resolved("Peter Miller was born in Rome. He studied law. He moved to Berlin in 1990.")
    assert links(draft) == [("He", "Peter Miller")] * 2


@pytest.mark.parametrize(
    "text",
    [
        "Peter Miller met John Brown. He smiled.",
        "Intel sued Microsoft over a patent. It was old.",
        "The dogs chased the cats until they were tired.",
    ],
)
def test_two_candidates_about_as_likely_stay_open(text: str) -> None:
    draft = resolved(text)
    assert links(draft) == []
    (ambiguity,) = layer(draft).ambiguities
    assert ambiguity.reason == "several antecedents"
    assert len(ambiguity.candidates) > 1


@pytest.mark.parametrize(
    "text",
    [
        "Acme grew. It is clear that prices fell.",
        "Acme grew. It seems that prices fell.",
        "Acme grew. It rained all day.",
        "Acme grew. It took three years to finish.",
        "Acme makes it possible to fly.",
        "Acme is slow when it comes to boats.",
        "Acme grew. It is worth noting that prices fell.",
        "Acme grew. It should be noted that prices fell.",
    ],
)
def test_an_empty_it_refers_to_nothing(text: str) -> None:
    draft = resolved(text)
    assert links(draft) == []
    assert layer(draft).ambiguities == ()


def test_he_and_she_tell_people_apart() -> None:
    draft = resolved("Jane Smith married Peter Miller in 1990. He is a lawyer and she is a nurse.")
    assert links(draft) == [("He", "Peter Miller"), ("she", "Jane Smith")]


def test_somebody_called_he_is_not_she_later() -> None:
    draft = resolved("Sushil called the police. He was angry. She left.")
    assert ("He", "Sushil") in links(draft)
    assert ("She", "Sushil") not in links(draft)


def test_an_object_does_not_refer_to_its_own_subject() -> None:
    assert links(resolved("Peter Miller saw him.")) == []


def test_a_thing_is_not_what_it_contains() -> None:
    assert links(resolved("The owner of its garden smiled.")) == []


def test_a_pronoun_before_its_name_is_left_alone() -> None:
    draft = resolved("Acme grew in May. In its report, Microsoft praised the year.")
    assert links(draft) == []


def test_words_in_quotation_are_somebody_elses() -> None:
    draft = resolved("Peter Miller spoke. “I told them that he would never come back,” Brown said.")
    assert links(draft) == []
    assert flagged(draft)["he"] == "quoted"


def test_a_bare_demonstrative_is_flagged() -> None:
    draft = resolved("Acme lost its licence. This was bad for investors.")
    assert flagged(draft)["This"] == "bare demonstrative"


def test_an_anaphor_without_antecedent_is_flagged() -> None:
    assert flagged(resolved("She left in May.")) == {"She": "no antecedent"}


def test_a_stammered_its_is_one_word_and_refers_to_nothing() -> None:
    assert links(resolved("Well if-if that's what it is, then it's-it's crazy.")) == []


def test_the_trade_it_is_no_pronoun() -> None:
    assert links(resolved("Microsoft won the award for IT services.")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Anthropic, the AI startup, raised money. The AI startup hired Peter Miller.",
            ("The AI startup", "Anthropic"),
        ),
        (
            "Anthropic is an AI startup in California. Investors like the AI startup.",
            ("the AI startup", "Anthropic"),
        ),
        (
            "The Hudson River froze. People crossed the river on foot.",
            ("the river", "Hudson River"),
        ),
        ("Microsoft grew in May. The company's shares rose.", ("The company", "Microsoft")),
    ],
)
def test_a_description_stands_for_what_the_text_said_it_is(
    text: str, found: tuple[str, str]
) -> None:
    draft = resolved(text)
    assert links(draft) == [found]
    assert layer(draft).links[0].kind == "description"


@pytest.mark.parametrize(
    "text",
    [
        "Microsoft grew in May. The parent company did not.",  # said of nothing here
        "Microsoft sued Intel in May. The company lost.",  # two companies
        "Microsoft bought a startup. The startup grew.",  # another one, without a name
        "Microsoft grew in May. The company of his father did not.",  # narrowed
        "Microsoft grew in May. The fruit was ripe.",  # no company
        "Jane Miller lived in Rome. The miller was rich.",  # a surname says nothing
        "Microsoft bought the company.",  # nobody buys himself
        "A Microsoft executive spoke in May. The company was silent.",  # named in passing only
    ],
)
def test_a_description_that_may_mean_something_else_is_not_linked(text: str) -> None:
    assert links(resolved(text)) == []


def test_two_companies_are_named_as_candidates() -> None:
    draft = resolved("Microsoft sued Intel in May. The company lost.")
    (ambiguity,) = layer(draft).ambiguities
    assert sorted(ambiguity.candidates) == ["Intel", "Microsoft"]


def test_canonical_text_reads_the_antecedent() -> None:
    draft = resolved("Jane Smith founded Acme in 1990. She sold her shares. Peter visited her.")
    assert canonical_texts(draft)[1] == "Jane Smith sold Jane Smith's shares."
    assert canonical_texts(draft)[2] == "Peter visited Jane Smith."
    assert draft.segments[1].text == "She sold her shares."


@pytest.mark.parametrize(
    ("anaphor", "antecedent", "owns", "text"),
    [
        ("it", "A novel model", False, "the novel model"),
        ("Its", "an agent", True, "The agent's"),
        ("they", "The authors", False, "the authors"),
        ("their", "The authors", True, "the authors'"),
        ("She", "Jane Smith", False, "Jane Smith"),
    ],
)
def test_an_antecedent_fits_its_new_place(
    anaphor: str, antecedent: str, owns: bool, text: str
) -> None:
    assert rewritten_as(anaphor, antecedent, owns=owns) == text


def test_nothing_refers_across_sections() -> None:
    draft = draft_of("Jane Smith founded Acme.", "She sold it.")
    assert draft.segmented is not None
    first, second = draft.segments
    apart = replace(draft.segmented, segments=(first, replace(second, section=("Later",))))
    assert links(ResolveCoreference()(replace(draft, segmented=apart))) == []


def test_a_footnote_between_two_sentences_does_not_stand_between_them() -> None:
    draft = draft_of("Jane Smith founded Acme.", "Peter Miller wrote this.", "She retired in 1990.")
    blocks = list(draft.document.blocks)
    blocks[1] = replace(blocks[1], kind=BlockKind.FOOTNOTE)
    draft = replace(draft, document=replace(draft.document, blocks=tuple(blocks)))
    assert links(ResolveCoreference()(draft)) == [("She", "Jane Smith")]


def test_table_rows_refer_to_nothing() -> None:
    draft = draft_of("Jane Smith founded Acme.", "She | 3 | 4")
    assert draft.segmented is not None
    first, *rows = draft.segments
    rows = [replace(row, kind=SegmentKind.TABLE_ROW) for row in rows]
    table = replace(draft.segmented, segments=(first, *rows))
    result = ResolveCoreference()(replace(draft, segmented=table))
    assert links(result) == []
    assert layer(result).ambiguities == ()


def test_sentences_inside_a_paragraph_segment_are_read_one_by_one() -> None:
    text = "Jane Smith founded Acme in 1990. Peter ran. She sold her shares."
    draft = draft_of(text)
    assert draft.segmented is not None
    whole = replace(
        draft.segments[0],
        kind=SegmentKind.PARAGRAPH,
        text=text,
        span=draft.document.blocks[0].span,
    )
    tokens = ((0, 0, len(draft.parses[0])),)
    paragraph = replace(draft.segmented, segments=(whole,), tokens=tokens)
    result = ResolveCoreference()(replace(draft, segmented=paragraph))
    assert links(result) == [("She", "Jane Smith"), ("her", "Jane Smith")]
    assert canonical_texts(result)[0].endswith("Jane Smith sold Jane Smith's shares.")


PIECES = (
    "Jane Smith founded Acme Inc. in Paris.",
    "She sold it because he left.",
    "The company's shares and their owners suffered.",
    "Peter Miller said “they never told us that it was his idea”.",
    "This was clear to them.",
    "It is likely that the AI startup Anthropic hired her.",
    "Their results (see Figure 2) are in its appendix…",
    "ééé It\u00a0works; he or she knows.",
)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_everything_found_lies_inside_its_segment_and_apart(pieces: list[str]) -> None:
    draft = resolved(" ".join(pieces[:3]), " ".join(pieces[3:]) or "End.")
    found = layer(draft)
    sizes = [len(segment.text) for segment in draft.segments]
    places = [(x.segment, x.start, x.end) for x in found.links]
    places += [(x.segment, x.start, x.end) for x in found.ambiguities]
    places += [(x.segment, x.start, x.end) for x in found.rewrites]
    assert all(0 <= start < end <= sizes[segment] for segment, start, end in places)
    for link in found.links:
        assert 0 <= link.antecedent_start < link.antecedent_end <= sizes[link.antecedent_segment]
        before = (link.antecedent_segment, link.antecedent_end) <= (link.segment, link.start)
        assert before
        assert 0.0 < link.confidence <= 1.0
    for one, other in pairwise(found.rewrites):
        assert (one.segment, one.end) <= (other.segment, other.start)
    linked = {(x.segment, x.start) for x in found.links}
    assert not linked & {(a.segment, a.start) for a in found.ambiguities}
    assert layer(resolved(" ".join(pieces[:3]), " ".join(pieces[3:]) or "End.")) == found
