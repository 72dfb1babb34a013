"""Definitions a text states serve queries in their words; overviews are read as titles."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.files import read_data_file
from abstrag.indexing.pipeline import index
from abstrag.model.background import Background
from abstrag.model.index import DocumentIndex
from abstrag.search.query import definition
from abstrag.search.query.definition import (
    _FORMS,
    StatedDefinition,
    StatedDefinitions,
    UsedDefinition,
    _defined,
)
from abstrag.search.query.question import asks_for_overview
from abstrag.search.query.vocabulary import Vocabulary
from abstrag.search.relevance import ALIGNED, FAST

TEXT = """# Guide

{}

Two drivers had phlebitis after the journey.
"""


def stated(sentence: str) -> StatedDefinitions:
    made = index(load_bytes(TEXT.format(sentence).encode(), name="guide.md"))
    return StatedDefinitions.of(made, Vocabulary.of(made))


@pytest.mark.parametrize(
    "sentence",
    [
        "Phlebitis is an inflammation of a vein.",
        'For this guide, "phlebitis" shall mean an inflammation of a vein.',
        'The term "phlebitis" refers to an inflammation of a vein.',
        "Phlebitis: an inflammation of a vein.",
        "Phlebitis is defined as inflammation of a vein.",
        "An inflammation of a vein is called phlebitis.",
        "Phlebitis, which is an inflammation of a vein, is rare.",
        "Phlebitis is, in short, an inflammation of a vein.",
        "In medicine, phlebitis is an inflammation of a vein.",
        "What doctors call phlebitis is an inflammation of a vein.",
        "When we speak of phlebitis we mean an inflammation of a vein.",
        "Doctors call an inflammation of a vein a phlebitis.",
        "Phlebitis (an inflammation of a vein) is rare.",
    ],
)
def test_a_query_in_the_words_of_a_definition_is_read_with_its_term(sentence: str) -> None:
    assert stated(sentence).glossed("Who had an inflammation of a vein?") == "Who had phlebitis?"


@pytest.mark.parametrize(
    "query", ["Who had a vein?", "Who had phlebitis, an inflammation of a vein?", "Who drove?"]
)
def test_a_query_that_does_not_use_it_stays_as_it_is(query: str) -> None:
    assert stated("Phlebitis is an inflammation of a vein.").glossed(query) == query


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("Phlebitis — veins | (487) | (489)", "How many veins are there?"),
        ("A vein is called a vessel and swelling of it is called phlebitis.", "How do veins look?"),
        ("Phlebitis: vein [OPTION...] FILE", "How do veins look?"),
        ("A phlebitis (the input of the model) is large.", "What input is used?"),
    ],
)
def test_a_row_a_command_an_aside_or_the_name_of_another_thing_defines_nothing(
    sentence: str, query: str
) -> None:
    assert stated(sentence).used(query) == ()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What is the document about?", True),
        ("What does this paper discuss?", True),
        ("Summarize this report.", True),
        ("What is the main topic of this article?", True),
        ("What is the clause about?", False),
        ("What does this paper say about beavers?", False),
    ],
)
def test_only_a_question_about_the_whole_is_one_for_an_overview(text: str, asks: bool) -> None:
    assert asks_for_overview(text) is asks


def test_who_asks_for_the_kind_of_thing_does_not_ask_for_the_defined_one() -> None:
    defined = stated("Phlebitis is a painful chronic inflammation of a vein in the leg.")
    assert defined.used("Who had a chronic inflammation?") == ()
    assert len(defined.used("Who had a chronic inflammation of a vein?")) == 1


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ("Which patients had an inflammation of a vein?", False),
        ("Whose inflammation of a vein lasted?", False),
        ("Which inflammation of a vein?", True),
        ("An inflammation of a vein", True),
    ],
)
def test_what_only_defines_answers_no_question_that_asks_for_more(
    query: str, answers: bool
) -> None:
    known = stated("Phlebitis is an inflammation of a vein.")
    assert (not known.no_answers(query)) is answers
    assert bool(known.applying(query)) is not answers


@pytest.mark.parametrize(
    "sentence", ["The report describes the flood of a valley.", "The committee consists of people."]
)
def test_what_something_does_or_has_defines_nothing(sentence: str) -> None:
    assert stated(sentence.replace("report", "phlebitis")).found == ()


# Models read a query in the words of the document, where a Background says what those are.

KNOWN = Background(
    aliases={"myocardial infarction": ("KX-0001", "heart attack"), "BioNTech": ("BNTX",)}
)
TRIAL = b"Twelve patients had a heart attack. BioNTech paid for the trial. Nine had a stroke."


@pytest.fixture(scope="module")
def informed() -> DocumentIndex:
    return index(load_bytes(TRIAL, name="trial.txt"), background=KNOWN)


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Who had a KX-0001?", "Who had a heart attack?"),  # by way of a name that nobody writes
        ("Did BNTX pay for KX-0001?", "Did BioNTech pay for heart attack?"),
        ("Who had a heart attack?", "Who had a heart attack?"),
        ("Who had a stroke?", "Who had a stroke?"),
    ],
)
def test_names_of_a_background_are_read_as_the_document_writes_them(
    informed: DocumentIndex, asked: str, read: str
) -> None:
    query = Searcher(informed, preset=FAST).normalize(asked)
    assert (query.text, query.reading) == (asked, read)


def test_without_a_background_a_query_is_read_as_it_is() -> None:
    plain = Searcher(index(load_bytes(TRIAL, name="trial.txt")), preset=FAST)
    assert plain.normalize("Who had a KX-0001?").reading == "Who had a KX-0001?"


def test_a_query_in_other_names_is_about_the_same(informed: DocumentIndex) -> None:
    searcher = Searcher(informed, preset=ALIGNED)
    found = [
        searcher.scoring(text).alignment
        for text in ("Who had a KX-0001?", "Who had a heart attack?")
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert np.array_equal(found[0].gist, found[1].gist)


def test_a_stated_name_finds_the_plural_that_the_document_writes() -> None:
    known = Background(aliases={"neutrophil": ("KX-0122",)})
    text = b"Neutrophils were counted on Monday. The ward was closed."
    searcher = Searcher(index(load_bytes(text, name="ward.txt"), background=known), preset=FAST)
    hit = searcher.search("KX-0122", k=1).hits[0]
    assert hit.quote.startswith("Neutrophils")
    assert (hit.trace.share, hit.gap) == (1.0, 0.0)


def test_what_only_modifies_the_first_noun_of_a_definition_is_not_what_it_says() -> None:
    defined = stated('"Phlebitis" means inflamed veins of the leg.')
    assert defined.used("Which finger is inflamed?") == ()
    assert len(defined.used("Who has inflamed veins?")) == 1


Places = Sequence[tuple[re.Match[str], frozenset[str]]]
SHAPES = read_data_file("abstrag.search.query", "definitions.toml")


@pytest.mark.parametrize("number", range(len(SHAPES["form"])))
def test_every_shape_of_a_definition_is_the_first_to_match_its_example(number: int) -> None:
    example = SHAPES["form"][number]["example"]
    matching = [at for at, form in enumerate(_FORMS) if form.match(example)]
    assert matching[:1] == [number]


def test_a_text_is_compared_with_the_definitions_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = stated("Phlebitis is an inflammation of a vein.")
    looked: list[str] = []
    own = definition._used

    def used(one: StatedDefinition, places: Places) -> UsedDefinition | None:
        looked.append(one.term)
        return own(one, places)

    monkeypatch.setattr(definition, "_used", used)
    question = "Who had an inflammation of a vein?"
    assert found.used(question)
    assert found.glossed(question)
    assert found.no_answers(question) == (0,)
    assert looked == ["Phlebitis"]


@pytest.mark.parametrize(
    ("sentence", "term"),
    [
        ("In this guide fallow means a field that is left unsown.", "fallow"),
        ("A fallow, simply put, is a field that is left unsown.", "fallow"),
        ("Any field that is left unsown is deemed a fallow.", "fallow"),
        ("The Act defines a fallow as a field that is left unsown.", "fallow"),
        ("A field left unsown, a so-called fallow, rests the soil.", "fallow"),
        ("When a field is left unsown we call it a fallow.", "fallow"),
        ("- **Fallow**: a field that is left unsown.", "Fallow"),
        ("A fallow is extra land that farmers rest.", "fallow"),
    ],
)
def test_a_definition_is_read_in_other_words(sentence: str, term: str) -> None:
    assert [found for found, _, _ in _defined(sentence)] == [term]


@pytest.mark.parametrize(
    "sentence",
    [
        "The boat is kept in the harbour.",
        "Nobody is a friend of the mayor.",
        "A fallow is not a field that is left unsown.",
    ],
)
def test_what_defines_nothing_is_no_definition(sentence: str) -> None:
    assert not [*_defined(sentence)]


def test_an_act_is_spoken_of_by_its_verb() -> None:
    text = (
        "Subletting is the letting of a flat by a tenant.\n\nAn old conductor sublet his attic.\n"
    )
    made = index(load_bytes(text.encode(), name="guide.md"))
    (one,) = StatedDefinitions.of(made, Vocabulary.of(made)).found
    assert (one.term, one.used_in) == ("Subletting", (1,))
