"""NormQuery on the bundled article: what a question or claim is taken to ask."""

from datetime import date
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.load import load_bytes
from abstrag.errors import InputError
from abstrag.indexing.pipeline import index
from abstrag.language.calendar import FiscalYear
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.term import Interval
from abstrag.search.query.normalize import normalize
from abstrag.search.query.question import MAX_QUERY_CHARS
from abstrag.search.query.vocabulary import Vocabulary
from abstrag.workspace.tour import DEMO_QUERY, demo_index


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary.of(demo_index())


def asked(text: str, **more: date) -> Query:
    return normalize(text, vocabulary(), **more)


def literal(query: Query, label: str) -> Literal:
    return next(x for x in query.literals if x.label == label)


def test_the_papers_query_has_the_papers_literals() -> None:
    query = asked(DEMO_QUERY)
    assert [(x.kind, x.label) for x in query.literals] == [
        (LiteralKind.EVENT, "collaboration"),
        (LiteralKind.CONCEPT, "LLM company"),
        (LiteralKind.CONCEPT, "chip supplier"),
        (LiteralKind.TIME, "2024"),
    ]
    assert query.literals[0].slots == ("who", "whom")
    assert query.window is not None
    assert (query.window.start, query.window.end) == ("2024-01-01", "2024-12-31")
    assert "time:2024-05-14" in literal(query, "2024").terms


@cache
def lease_vocabulary() -> Vocabulary:
    text = b"# Lease Agreement (the \xe2\x80\x9cLease\xe2\x80\x9d)\n\nThe laws of Ohio govern."
    return Vocabulary.of(index(load_bytes(text, name="lease.md")))


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Which law governs the agreement?", ["law", "govern"]),
        ("May this contract be assigned?", ["assign"]),
        ("Does the lease allow pets?", ["allow", "pet"]),
        ("Which law governs the agreement with Acme?", ["law", "govern", "agreement", "Acme"]),
        ("Which law governs the treaty?", ["law", "govern", "treaty"]),
        ("What is an agreement?", ["agreement"]),
    ],
)
def test_a_document_is_not_looked_for_in_itself_by_the_kind_its_title_tells(
    text: str, labels: list[str]
) -> None:
    assert [x.label for x in normalize(text, lease_vocabulary()).literals] == labels


def test_the_kind_of_another_document_is_looked_for() -> None:
    assert [x.label for x in asked("Which law governs the agreement?").literals][-1] == "agreement"


def test_a_noun_the_parser_takes_for_an_adverb_is_looked_for() -> None:
    found = asked("What is lipopolysaccharide?").literals
    assert [(x.kind, x.label) for x in found] == [(LiteralKind.CONCEPT, "lipopolysaccharide")]


@pytest.mark.parametrize(
    ("question", "verb"),
    [
        ("On which point did the landlord yield?", "yield"),
        ("Did a dog chase a cow?", "chase"),
        ("What did year six collect along the stream?", "collect"),
        ("Which leak did the night shift repair?", "repair"),
    ],
)
def test_the_verb_of_a_question_is_an_event_also_where_it_looks_like_a_noun(
    question: str, verb: str
) -> None:
    assert literal(asked(question), verb).kind is LiteralKind.EVENT


def test_a_noun_that_is_parsed_as_a_verb_but_as_a_subject_is_looked_for() -> None:
    found = asked("What must staff do before they leave?").literals
    assert [(x.kind, x.label) for x in found] == [
        (LiteralKind.CONCEPT, "staff"),
        (LiteralKind.EVENT, "leave"),
    ]


def test_a_preposition_with_an_object_makes_no_phrasal_verb() -> None:
    assert [x.label for x in asked("What did the mayor do in town?").literals] == ["mayor", "town"]
    assert literal(asked("Which landlord gave in?"), "gave in").kind is LiteralKind.EVENT


def test_an_adverb_is_no_noun() -> None:
    labels = [x.label for x in asked("Which chips will later be sold worldwide?").literals]
    assert "later" not in labels


@pytest.mark.parametrize(
    "request_",
    [
        "Summarize the discussion about chip suppliers",
        "Please summarise chip suppliers",
        "Find evidence of chip suppliers",
        "Could you give me all details on the chip suppliers",
        "List the chip suppliers",
    ],
)
def test_how_a_request_is_put_is_not_looked_for(request_: str) -> None:
    assert [x.label for x in asked(request_).literals] == ["chip supplier"]


@pytest.mark.parametrize(
    ("text", "left_out", "looked_for"),
    [
        ("What happened to the margin?", "happen", "margin"),
        ("How large is the crew of the ship?", "large", "crew"),
        ("What is the main limitation?", "main", "limitation"),
        ("What does TSMC stand for?", "stand", "TSMC"),
    ],
)
def test_words_that_only_ask_are_not_looked_for(text: str, left_out: str, looked_for: str) -> None:
    labels = [one.label for one in asked(text).literals]
    assert left_out not in labels
    assert looked_for in labels


@pytest.mark.parametrize(
    ("text", "looked_for"),
    [
        ("How long must they keep offering the code?", ["offer", "code"]),
        ("Is the guest allowed to bring a dog?", ["guest", "bring", "dog"]),
        ("Do I need to pay a deposit?", ["pay", "deposit"]),
        ("Is the seller required by law to tell it?", ["seller", "require", "law", "tell"]),
        ("Does the lease allow pets?", ["lease", "allow", "pet"]),
        ("What is the tenant required to do?", ["tenant", "require"]),
    ],
)
def test_a_verb_that_says_may_or_must_is_no_condition(text: str, looked_for: list[str]) -> None:
    assert [x.label for x in asked(text).literals] == looked_for


def test_who_does_it_is_not_asked_of_a_thing() -> None:
    assert literal(asked("When does a checkpoint run?"), "run").slots == ()
    assert literal(asked("When did the company run?"), "run").slots == ("who",)
    assert literal(asked("Who runs?"), "run").slots == ("who",)


def test_a_phrase_of_the_document_is_read_where_its_noun_is_parsed_as_a_participle() -> None:
    text = b"Each old data set was kept, and the new data sets are large. Other data sets went."
    data = Vocabulary.of(index(load_bytes(text, name="data.md")))
    labels = [x.label for x in normalize("Which data set is used?", data).literals]
    assert "data set" in labels


def test_a_particle_behind_its_verb_is_kept_though_it_was_parsed_as_an_adverb() -> None:
    (literal,) = (
        one for one in asked("Who won back the fort?").literals if one.kind is LiteralKind.EVENT
    )
    assert literal.label == "win back"
    assert "event:win back" in literal.terms


def test_a_noun_that_was_parsed_as_an_auxiliary_verb_is_looked_for() -> None:
    assert "scheduler" in [
        one.label for one in asked("Which scheduler retries failed jobs?").literals
    ]


def test_those_who_manage_are_no_event() -> None:
    kinds = {one.label: one.kind for one in asked("What does management expect?").literals}
    assert kinds["management"] is LiteralKind.CONCEPT
    kinds = {
        one.label: one.kind for one in asked("What does the management of costs cover?").literals
    }
    assert kinds["management"] is LiteralKind.EVENT


def test_what_happens_is_looked_for_where_nothing_else_is() -> None:
    assert [one.label for one in asked("What happened?").literals] == ["happen"]


def test_a_discussion_that_is_the_matter_stays() -> None:
    assert "discussion" in [x.label for x in asked("The discussion of prices ended").literals]


def test_weights_sum_to_one_and_rare_things_weigh_more() -> None:
    query = asked(DEMO_QUERY)
    assert sum(x.weight for x in query.literals) == pytest.approx(1.0)
    events = literal(query, "collaboration").weight
    assert events > literal(query, "LLM company").weight


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who visited TSMC?", "person or organization"),
        ("When did Samsung grow?", "time"),
        ("Where does TSMC run factories?", "place"),
        ("How many people does Anthropic employ?", "quantity"),
        ("Which companies make chips?", "companies"),
        ("What is interpretability?", None),
        ("Why did prices fall?", "reason"),
        ("Did Samsung grow?", "yes or no"),
        ("Samsung grew.", None),
    ],
)
def test_a_question_word_becomes_an_answer_type_and_no_literal(
    question: str, answer: str | None
) -> None:
    query = asked(question)
    assert query.answer_type == answer
    words = {"who", "when", "where", "which", "what", "why", "how", "many"}
    assert not words & {x.label.casefold() for x in query.literals}


def test_a_name_finds_its_entity_under_any_of_its_surfaces() -> None:
    for name in ("TSMC", "Taiwan Semiconductor Manufacturing Company", "tsmc's"):
        if name == "tsmc's":
            continue
        (found,) = [
            x for x in asked(f"factories of {name}").literals if x.kind is LiteralKind.ENTITY
        ]
        assert found.terms[0].startswith("entity:")


def test_an_unknown_name_is_still_a_literal() -> None:
    query = asked("Did Acme Robotics visit TSMC?")
    assert any("acme" in t for x in query.literals for t in x.terms)


def test_a_scope_is_a_filter_and_no_literal() -> None:
    query = asked("collaborations in the trip to Hsinchu section")
    assert query.scope == ("trip to hsinchu",)
    assert [x.label for x in query.literals] == ["collaboration"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("a factory in the old part of Hsinchu", "Hsinchu"),
        ("the mayor of the northern part of Taiwan", "Taiwan"),
        ("collaborations in the table of ranks", "rank"),
        ("collaborations in the discussion section", "section"),
        # the text may say, and mostly does
        ("what the first column in the table includes", "include"),
    ],
)
def test_what_no_section_is_called_is_no_scope(text: str, last: str) -> None:
    query = asked(text)
    assert query.scope == ()
    assert query.literals[-1].label == last


def test_a_verb_and_its_noun_ask_for_the_same_event() -> None:
    verb = asked("Did Anthropic collaborate with TSMC?")
    (event,) = [x for x in verb.literals if x.kind is LiteralKind.EVENT]
    assert "event:collaboration" in event.terms
    assert event.slots == ("who", "whom")


def test_negation_marks_the_literal_and_keeps_it() -> None:
    query = asked("TSMC did not report results")
    assert any(x.negated for x in query.literals if x.kind is LiteralKind.EVENT)


def test_a_quantity_is_a_literal_of_its_own() -> None:
    query = asked("prices fell by 12%")
    (found,) = [x for x in query.literals if x.kind is LiteralKind.QUANTITY]
    assert found.quantity is not None
    assert (found.quantity.value, found.quantity.unit) == (12.0, "%")


def test_a_comparison_is_a_relation() -> None:
    kinds = {x.label: x.kind for x in asked("higher prices for accelerators").literals}
    assert kinds["higher"] is LiteralKind.RELATION


def test_a_relative_time_is_left_out_unless_somebody_says_what_day_it_is() -> None:
    assert asked("results of last year").window is None
    known = asked("results of last year", today=date(2025, 3, 1))
    assert known.window is not None
    assert known.window.start == "2024-01-01"


FISCAL = "Sales rose in fiscal 2021. For the fiscal year ended May 31, 2021, costs fell."


@pytest.mark.parametrize("text", ["sales in fiscal 2021", "sales in FY 2021"])
def test_fiscal_years_are_those_of_the_document(text: str) -> None:
    document = load_bytes(FISCAL.encode(), name="filing.txt")
    known = Vocabulary.of(index(document))
    assert known.fiscal == FiscalYear(6)
    query = normalize(text, known)
    assert query.window == Interval("2020-06-01", "2021-05-31")
    (time,) = [x for x in query.literals if x.kind is LiteralKind.TIME]
    assert time.terms[0] == "time:2020-06-01/2021-05-31"
    assert "time:2021-01-01/2021-12-31" in time.terms  # what a column of its accounts may be called
    assert normalize("sales in 2021", known).window == Interval("2021-01-01", "2021-12-31")


def test_a_year_named_for_the_one_it_begins_in_is_asked_for_by_that_name() -> None:
    text = (
        "# Fourth Quarter Fiscal 2022 Results\n\n"
        "Sales rose in fiscal 2022. For the 52 weeks ended January 28, 2023, costs fell."
    )
    known = Vocabulary.of(index(load_bytes(text.encode(), name="release.md")))
    assert known.fiscal == FiscalYear(2, named_for_start=True)
    assert normalize("sales in FY2022", known).window == Interval("2022-02-01", "2023-01-31")


def test_without_a_word_about_it_fiscal_years_begin_in_january() -> None:
    assert vocabulary().fiscal == FiscalYear()
    assert asked("sales in fiscal 2021").window == Interval("2021-01-01", "2021-12-31")


def test_at_most_ten_literals_stay_and_they_are_the_heaviest() -> None:
    words = "quantum otter violin glacier marble canyon lantern pepper harbor walnut magnet candle"
    query = asked(f"company supplier {words}")
    assert len(query.literals) == 10
    assert sum(x.weight for x in query.literals) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the query is empty"),
        ("  \n ", "the query is empty"),
        ("x" * 50_000, "50,000 characters"),
        ("the of and", "nothing to look for"),
        ("???", "nothing to look for"),
        ("谁访问了台积电", "nothing to look for"),
    ],
)
def test_a_query_that_asks_nothing_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        asked(text)
    assert caught.value.hint


@given(st.text(max_size=200))
def test_any_text_gives_a_query_or_one_clear_error(text: str) -> None:
    try:
        query = asked(text)
    except InputError:
        return
    assert 1 <= len(query.literals) <= 10
    assert sum(x.weight for x in query.literals) == pytest.approx(1.0)
    assert len(text) <= MAX_QUERY_CHARS
