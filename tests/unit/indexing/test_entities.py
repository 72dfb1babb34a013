from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.entities import NormalizeEntities
from abstrag.indexing.layers import Entities
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.indexing.pipeline import canonical_texts
from abstrag.model.document import Quote, Span
from abstrag.model.term import Edge, Family, LicenceKind, Relation, TermKind
from tests.unit.indexing.drafts import draft_of

Aliases = tuple[tuple[str, tuple[str, ...]], ...]


def normalized(*texts: str, aliases: Aliases = ()) -> IndexDraft:
    return NormalizeEntities(aliases, "chips.toml")(ResolveCoreference()(draft_of(*texts)))


def layer(draft: IndexDraft) -> Entities:
    assert draft.entities is not None
    return draft.entities


def mentions(draft: IndexDraft) -> list[tuple[str, str]]:
    return [
        (draft.segments[m.segment].text[m.start : m.end], m.term)
        for m in layer(draft).mentions
        if m.header is None
    ]


def edge(draft: IndexDraft, source: str, target: str) -> Edge:
    (found,) = [e for e in layer(draft).edges if (e.source, e.target) == (source, target)]
    return found


def term_ids(draft: IndexDraft) -> set[str]:
    return {term.id for term in layer(draft).terms}


def test_the_operator_declares_its_place_in_the_chain() -> None:
    assert NormalizeEntities.requires is Layer.COREFERENCE
    assert NormalizeEntities.provides is Layer.ENTITIES
    assert NormalizeEntities.conservative


def test_an_acronym_becomes_its_long_form() -> None:
    draft = normalized(
        "TSMC (Taiwan Semiconductor Manufacturing Company) makes chips. TSMC's plant is new."
    )
    long = "entity:taiwan semiconductor manufacturing company"
    assert mentions(draft)[-1] == ("TSMC", long)
    step = edge(draft, "entity:tsmc", long)
    assert step.relation is Relation.EQUIVALENT
    assert step.family is Family.EXPRESSION
    assert step.truth_preserving
    assert step.cost == 0.0
    assert step.weight == OMEGA["expression"]
    assert step.distance > 0
    assert step.licence.kind is LicenceKind.TEXT
    assert step.licence.span is not None
    quoted = draft.document.quote(step.licence.span)
    assert quoted == step.licence.reference == "TSMC (Taiwan Semiconductor Manufacturing Company"
    assert canonical_texts(draft) == (
        "TSMC (Taiwan Semiconductor Manufacturing Company) makes chips.",
        "Taiwan Semiconductor Manufacturing Company's plant is new.",
    )


def test_a_description_that_always_means_one_thing_becomes_an_alias() -> None:
    draft = normalized(
        "Anthropic, the AI startup, raised money in May. The AI startup hired Jane Smith."
    )
    step = edge(draft, "entity:ai startup", "entity:anthropic")
    assert step.relation is Relation.EQUIVALENT
    assert step.truth_preserving
    assert step.licence.reference == "Anthropic, the AI startup"
    assert ("The AI startup", "entity:anthropic") in mentions(draft)
    assert canonical_texts(draft)[1] == "Anthropic hired Jane Smith."


def test_a_description_with_another_use_is_no_alias() -> None:
    draft = normalized(
        "Anthropic, the AI startup, raised money in May. The AI startup hired Jane Smith.",
        "Every AI startup needs money.",
    )
    assert "entity:ai startup" not in term_ids(draft)


def test_a_description_that_is_also_a_name_is_no_alias() -> None:
    draft = normalized(
        "Microsoft grew in May. The company hired Jane Smith.",
        "Company is a musical by Stephen Sondheim. Critics loved Company.",
    )
    assert ("The company", "entity:microsoft") in mentions(draft)
    assert not [e for e in layer(draft).edges if e.truth_preserving and "company" in e.source]


def test_a_pronoun_is_a_mention_of_what_it_stands_for() -> None:
    draft = normalized("Jane Smith founded Acme in 1990. She retired.")
    assert ("She", "entity:jane smith") in mentions(draft)


def test_a_common_noun_with_an_acronym_is_a_concept() -> None:
    draft = normalized("We study large language models (LLMs). The LLM is big. LLMs are slow.")
    concept = "concept:large language model"
    assert mentions(draft) == [
        ("large language models", concept),
        ("LLMs", concept),
        ("LLM", concept),
        ("LLMs", concept),
    ]
    assert edge(draft, "concept:llm", concept).truth_preserving
    (term,) = [t for t in layer(draft).terms if t.id == concept]
    assert term.kind is TermKind.CONCEPT
    assert term.label == "large language model"
    assert canonical_texts(draft)[1:] == (
        "The large language model is big.",
        "Large language models are slow.",
    )


def test_an_acronym_of_two_things_is_none_of_them() -> None:
    draft = normalized(
        "Machine learning (ML) is fun. Maximum likelihood (ML) is old. ML works.",
    )
    assert all(e.source != "concept:ml" or not e.truth_preserving for e in layer(draft).edges)
    flagged = [a for a in layer(draft).ambiguities if a.segment == 2]
    assert flagged[0].candidates == ("machine learning", "maximum likelihood")


def test_names_of_one_person_are_one() -> None:
    draft = normalized(
        "Dr. Jane Smith leads Acme. Smith is new. Ms. Smith likes Rome. J. Smith signed.",
    )
    people = [term for text, term in mentions(draft) if "Smith" in text]
    assert people == ["entity:jane smith"] * 4
    (term,) = [t for t in layer(draft).terms if t.id == "entity:jane smith"]
    assert term.label == "Jane Smith"
    assert term.surfaces == tuple(sorted(term.surfaces))
    assert {"Dr. Jane Smith", "Smith", "Ms. Smith"} <= set(term.surfaces)


def test_a_surname_of_two_people_stays_open_and_costs() -> None:
    draft = normalized("John Smith met Jane Smith in Rome. Smith left early.")
    assert ("Smith", "entity:smith") in mentions(draft)
    (ambiguity,) = layer(draft).ambiguities
    assert ambiguity.candidates == ("Jane Smith", "John Smith")
    for source, target in (
        ("entity:smith", "entity:jane smith"),
        ("entity:jane smith", "entity:smith"),
    ):
        step = edge(draft, source, target)
        assert step.relation is Relation.IMPLIES
        assert not step.truth_preserving
        assert step.distance == pytest.approx(0.5 + DELTA_EXPR_ALIAS)
        assert step.cost == pytest.approx(OMEGA["expression"] + step.distance)


def test_a_cited_surname_is_not_the_author_of_the_same_name() -> None:
    draft = normalized("Jane Smith thanks her team. We follow Smith et al. (2019) in this.")
    assert ("Smith", "entity:jane smith") not in mentions(draft)


def test_a_man_is_not_merged_with_a_woman_of_his_name() -> None:
    draft = normalized("Jane Smith spoke first. Mr. Smith answered. Then Smith left.")
    assert ("Mr. Smith", "entity:jane smith") not in mentions(draft)
    assert ("Smith", "entity:jane smith") not in mentions(draft)


def test_a_company_is_one_with_and_without_its_legal_form() -> None:
    draft = normalized("Apple Inc. was founded in 1976. Apple sells phones.")
    assert [t for _, t in mentions(draft)] == ["entity:apple", "entity:apple"]
    assert edge(draft, "entity:apple inc", "entity:apple").licence.reference == "Apple Inc."
    assert canonical_texts(draft)[0] == "Apple was founded in 1976."


def test_a_word_that_opens_the_sentence_is_no_part_of_the_name() -> None:
    draft = normalized("TSMC grew. Chipmaker TSMC said so. Reporters visited TSMC in Taiwan.")
    assert {text for text, _ in mentions(draft)} == {"TSMC", "Taiwan"}


def test_two_companies_of_one_name_stay_two() -> None:
    draft = normalized("Acme Ltd. sued Acme Inc. in May. Acme won the case against Intel.")
    terms = {term for text, term in mentions(draft) if "Acme" in text}
    assert {"entity:acme ltd", "entity:acme inc"} <= terms
    assert not [e for e in layer(draft).edges if e.truth_preserving]


def test_spellings_of_one_name_are_one() -> None:
    draft = normalized(
        "The World Health Organisation met. The World Health Organization agreed with Microsoft."
    )
    met, agreed = [term for text, term in mentions(draft) if "Health" in text]
    assert met == agreed


def test_a_misspelling_is_a_guess_and_costs() -> None:
    draft = normalized("Tchaikovsky wrote music in Moscow. Tchaikowsky wrote operas in Moscow.")
    step = edge(draft, "entity:tchaikovsky", "entity:tchaikowsky")
    assert not step.truth_preserving
    assert step.relation is Relation.IMPLIES
    assert step.cost > OMEGA["expression"]


def test_numbers_keep_names_apart() -> None:
    draft = normalized("Apollo 11 flew in July 1969. Apollo 12 flew in November 1969.")
    assert layer(draft).edges == ()


def test_a_defined_term_stands_for_the_company() -> None:
    draft = normalized(
        'Acme Inc., a Delaware corporation (the "Company"), sells ropes. The Company grew.'
    )
    assert ("Company", "entity:acme") in mentions(draft)
    assert edge(draft, "entity:company", "entity:acme").truth_preserving


def test_a_name_that_is_quoted_after_hereinafter_is_another_name() -> None:
    draft = normalized(
        'Lowther Bakeries, hereinafter "the Lessee", left in March. The Lessee owed two months.'
    )
    assert mentions(draft)[-1] == ("Lessee", "entity:lowther bakeries")


@pytest.mark.parametrize(
    "sentence",
    [
        "Lowther Bakeries (we say the Ovens) left in March.",
        "Lowther Bakeries, colloquially the Ovens, left in March.",
        "Lowther Bakeries, since renamed the Ovens, left in March.",
        "Neighbours call Lowther Bakeries the Ovens.",
        "The Ovens, as Lowther Bakeries is known, left in March.",
    ],
)
def test_a_name_that_people_use_is_another_name(sentence: str) -> None:
    draft = normalized(f"{sentence} The Ovens owed two months.")
    assert mentions(draft)[-1] == ("Ovens", "entity:lowther bakeries")


def test_a_day_after_a_call_names_nobody() -> None:
    draft = normalized("They called Lowther Bakeries the Friday before. On Friday it rained.")
    assert not layer(draft).edges


def test_a_term_for_both_parties_stands_for_neither() -> None:
    draft = normalized('Acme Inc. and Bolt Ltd. (collectively, the "Parties") agree.')
    assert {"entity:acme", "entity:bolt"} <= term_ids(draft)
    assert not [e for e in layer(draft).edges if "parties" in e.source]


def test_background_aliases_are_premises() -> None:
    aliases = (("TSMC", ("Taiwan Semi",)), ("Nvidia", ("NVDA",)))
    draft = normalized("The head of Taiwan Semi met the CTO of Anthropic.", aliases=aliases)
    assert ("Taiwan Semi", "entity:tsmc") in mentions(draft)
    step = edge(draft, "entity:taiwan semi", "entity:tsmc")
    assert step.truth_preserving
    assert step.confidence == 1.0
    assert step.licence.kind is LicenceKind.BACKGROUND
    assert step.licence.reference == "chips.toml: aliases.TSMC"
    assert step.licence.span is None
    assert "entity:nvidia" not in term_ids(draft)  # the document does not speak of it
    assert canonical_texts(draft)[0] == "The head of TSMC met the CTO of Anthropic."


def test_a_background_name_wins_over_the_long_form() -> None:
    draft = normalized(
        "The World Health Organization (WHO) met in Geneva. The WHO agreed.",
        aliases=(("WHO", ("World Health Organization",)),),
    )
    assert {t for text, t in mentions(draft) if text == "WHO"} == {"entity:who"}
    assert edge(draft, "entity:world health organization", "entity:who").truth_preserving


def test_an_alias_the_background_gives_to_two_things_merges_nothing() -> None:
    aliases = (("Acme Ropes", ("Acme",)), ("Acme Boats", ("Acme",)))
    draft = normalized("Acme Ropes and Acme Boats trade. Acme grew.", aliases=aliases)
    assert edge_free(draft, "entity:acme ropes", "entity:acme boats")


def edge_free(draft: IndexDraft, one: str, other: str) -> bool:
    """True when no free step leads from one term to the other, even through a third."""
    free = [e for e in layer(draft).edges if e.truth_preserving]
    reach = {one}
    while more := {e.target for e in free if e.source in reach} - reach:
        reach |= more
    while more := {e.source for e in free if e.target in reach} - reach:
        reach |= more
    return other not in reach


def test_the_papers_sentence_names_both_companies() -> None:
    draft = normalized(
        "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."
    )
    assert {"Anthropic", "TSMC"} <= {text for text, _ in mentions(draft)}


def test_a_name_spacy_missed_once_is_still_found() -> None:
    draft = normalized("Microsoft grew.", "Row: Microsoft | 3 | 4")
    assert [text for text, _ in mentions(draft)] == ["Microsoft", "Microsoft"]


def test_a_longer_name_wins_over_the_shorter_one_in_it() -> None:
    draft = normalized("New York is big. The New York Times is a newspaper. New York grew.")
    assert [text for text, _ in mentions(draft)] == ["New York", "New York Times", "New York"]


def test_known_names_are_found_in_headers() -> None:
    draft = draft_of("Microsoft grew in 2020.", "It sold 3 units.")
    assert draft.segmented is not None
    first, second = draft.segments
    headers = (Quote("Year", Span(0, 4)), Quote("Sales of Microsoft", Span(0, 4)))
    with_headers = replace(draft.segmented, segments=(first, replace(second, headers=headers)))
    result = NormalizeEntities()(ResolveCoreference()(replace(draft, segmented=with_headers)))
    (found,) = [m for m in layer(result).mentions if m.header is not None]
    assert (found.term, found.segment, found.header) == ("entity:microsoft", 1, 1)
    assert headers[1].text[found.start : found.end] == "Microsoft"


PIECES = (
    "Dr. Jane Smith leads Acme Inc. in Paris.",
    "Smith met Mr. Miller and Peter Miller.",
    "The World Health Organization (WHO) praised Acme Ltd. in May.",
    "WHO officials said it was late.",
    "Large language models (LLMs) help Acme; LLMs are slow.",
    "TSMC (Taiwan Semiconductor Manufacturing Company) hired her.",
    "Acme, the rope maker, grew. The rope maker sold TSMC.",
    'Bolt Corp. (the "Company") and J. Smith signed; the Company grew.',
    "Jane Q. Smith and John Smith of the WHO left Krak\u00f3w and Krakow.",
)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6, unique=True))
def test_the_layer_is_sound(pieces: list[str]) -> None:
    draft = normalized(*pieces, aliases=(("Bolt", ("Bolt Corp.",)),))
    found = layer(draft)
    ids = [term.id for term in found.terms]
    assert ids == sorted(set(ids))
    sizes = [len(segment.text) for segment in draft.segments]
    for m in found.mentions:
        assert m.term in ids
        assert 0 <= m.start < m.end <= sizes[m.segment]
    for e in found.edges:
        assert {e.source, e.target} <= set(ids)
        assert e.source != e.target
        if e.licence.span is not None:
            assert draft.document.quote(e.licence.span) == e.licence.reference
    # a free step always ends at a canonical term: none leads on
    free = {e.source: e.target for e in found.edges if e.truth_preserving}
    assert not set(free.values()) & set(free)
    assert {m.term for m in found.mentions}.isdisjoint(free)
    assert draft.coreference is not None
    rewrites = sorted(
        (r.segment, r.start, r.end) for r in (*found.rewrites, *draft.coreference.rewrites)
    )
    assert all((a[0], a[2]) <= (b[0], b[1]) for a, b in pairwise(rewrites))
    assert layer(normalized(*pieces, aliases=(("Bolt", ("Bolt Corp.",)),))) == found


@settings(max_examples=8, deadline=None)
@given(st.permutations(PIECES[:4] + PIECES[6:]))
def test_what_is_merged_does_not_depend_on_the_order_of_the_text(pieces: list[str]) -> None:
    def partition(texts: list[str]) -> set[frozenset[str]]:
        groups: dict[str, set[str]] = {}
        for text, term in mentions(normalized(*texts)):
            if text[0].isupper():  # pronouns do depend on what came before them
                groups.setdefault(term, set()).add(text)
        return {frozenset(group) for group in groups.values()}

    assert partition(pieces) == partition(sorted(pieces))


def test_a_name_goes_on_after_many_owners() -> None:
    text = "The Marlow Tenants' Association sued. The Association won."
    assert "entity:marlow tenants' association" in term_ids(normalized(text))
    assert "entity:acme's orbit" not in term_ids(normalized("They like Acme's Orbit."))
