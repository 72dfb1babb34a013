"""Queries as people ask them: instructions, abbreviations, subjects, equal words of two kinds."""

from functools import cache

import pytest

from abstrag.config import MAX_LITERALS
from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.model.query import AnswerForm, Query
from abstrag.search.query.normalize import normalize
from abstrag.search.query.question import read_request
from abstrag.search.query.vocabulary import Vocabulary

TEXT = b"""3M makes tape. Capital expenditures of 3M rose in 2018. Property, plant and equipment
fell.

The COPI coat binds the vesicle. The write-ahead log is flushed by the engine. Copi is a protein.

NAC removes NO from blood. The authors of this paper thank the staff. The earnings per share grew.
"""


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary.of(index(load_bytes(TEXT, name="text.txt")))


def asked(text: str) -> Query:
    return normalize(text, vocabulary())


def labels(text: str) -> list[str]:
    return [literal.label for literal in asked(text).literals]


def test_instructions_are_answer_form_and_source_and_no_condition() -> None:
    query = asked(
        "What is the FY2018 capital expenditure amount (in USD millions) for 3M? Give a response "
        "to the question by relying on the details shown in the cash flow statement."
    )
    assert {x.label for x in query.literals} == {"FY2018", "capital expenditure", "amount", "3M"}
    assert query.answer_form == AnswerForm(unit="USD millions")
    assert query.sources == ("cash flow statement",)


def test_who_answers_and_in_which_words_is_no_condition() -> None:
    query = asked(
        "Answer the following question as if you are an investor: does 3M make tape? Answer in one "
        "word. If not stated, say so."
    )
    assert [x.label for x in query.literals] == ["3M", "make", "tape"]
    form = AnswerForm(length="one word", reader="an investor", says_when_missing=True)
    assert query.answer_form == form


@pytest.mark.parametrize(
    "question",
    [
        "If the agreement ends, must the receiving party return documents?",
        "State whether the policy permits resale.",
        "Use of statins lowers mortality.",
        "Answer in one word",
    ],
)
def test_a_request_without_instructions_or_with_nothing_else_stays_whole(question: str) -> None:
    request = read_request(question)
    assert request.question == question
    assert request.form is None


def test_how_many_things_are_to_be_named_is_no_quantity_of_the_text() -> None:
    query = asked("What are three main coats of COPI?")
    assert query.answer_form == AnswerForm(count=3)
    assert "three" not in [x.label for x in query.literals]


def test_an_abbreviation_is_met_by_what_it_stands_for() -> None:
    (capex, *_) = asked("capex in 2018").literals
    assert capex.label == "capex"
    assert "concept:capital expenditure" in capex.terms


def test_an_abbreviation_whose_long_form_is_no_phrase_falls_apart_into_its_words() -> None:
    assert {"property", "plant", "equipment"} <= set(labels("What is the net PP&E of 3M?"))


def test_a_company_called_like_a_number_is_a_name() -> None:
    (literal,) = [x for x in asked("Is 3M growing?").literals if x.label == "3M"]
    assert literal.kind == "entity"


def test_a_name_in_the_query_meets_the_same_word_in_the_text_whatever_its_kind() -> None:
    for form in ("COPI", "copi", "Copi"):
        query = asked(f"Does {form} bind the vesicle?")
        literal = next(x for x in query.literals if x.label.casefold() == "copi")
        assert vocabulary().frequency(literal.terms) >= 1, form


def test_a_hyphenated_phrase_of_the_text_is_one_literal() -> None:
    assert "write-ahead log" in labels("How is the write-ahead log flushed?")


def test_nitric_oxide_denies_nothing_and_a_denied_verb_does_not_deny_its_subject() -> None:
    assert not any(x.negated for x in asked("NAC removes NO from blood").literals)
    query = asked("3M did not make tape")
    assert {x.label: x.negated for x in query.literals}["3M"] is False
    assert {x.label: x.negated for x in query.literals}["make"] is True


def test_what_points_at_the_document_is_not_looked_for() -> None:
    assert "paper" not in labels("Which engine does this paper use?")
    assert "paper" in labels("Which paper mill burned?")


def test_the_subject_is_kept_however_many_literals_there_are() -> None:
    query = asked(
        "Tape that protects red boats, green cars, tall towers, wide bridges, long rivers, dark "
        "forests, small villages, old churches and loud engines sells in shops."
    )
    assert len(query.literals) == MAX_LITERALS
    assert query.subject is not None
    assert query.literals[query.subject].label == "tape"


def test_the_noun_that_which_asks_for_is_the_answer_type_and_never_a_verb() -> None:
    assert asked("Which large product category grew?").answer_type == "category"
    assert asked("What drove the growth of 3M?").answer_type is None


def test_data_are_called_data() -> None:
    assert "data" in labels("What data does 3M keep?")
