"""Scored all at once, the entities are those that the pipeline's recognizer finds one by one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from abstrag.language.parser import MODEL, RECOGNIZER, EntityMoves, parse, parser

TEXTS = (
    "The Bank of New York Mellon Corporation paid $5.2 million to J. Smith on 3 May 2019. It rose.",
    "United  States\n\nSenator Maria Lopez-Ortega of Ohio, 61, met Angela Merkel's aides in Berlin",
    "IBM",
    "",
    "   ",
    "On Tuesday\n",
    "Reported by Acme Holdings. Reuters and the European Central Bank said so last week. Paris",
)


def test_entities_are_those_of_the_whole_pipeline() -> None:
    whole = import_module(MODEL).load()
    expected = [doc.to_json() for doc in whole.pipe(TEXTS)]
    assert sum(len(each["ents"]) for each in expected) > 10
    assert [doc.to_json() for doc in parse(TEXTS)] == expected


def test_what_is_found_in_a_text_does_not_depend_on_the_texts_beside_it() -> None:
    together = [doc.to_json() for doc in parse(TEXTS)]
    assert [parse([text])[0].to_json() for text in TEXTS] == together


def test_a_name_goes_on_to_the_end_of_the_text_or_of_the_sentence_at_most() -> None:
    moves = EntityMoves.of(parser())
    assert moves is not None
    for doc in parser().pipe(TEXTS, disable=[RECOGNIZER]):
        moves.give([doc])
        ends = {sentence.end for sentence in doc.sents}
        assert all(not ends & set(range(e.start + 1, e.end)) for e in doc.ents)


def test_another_recognizer_is_left_alone() -> None:
    assert EntityMoves.of(import_module(MODEL).load(exclude=[RECOGNIZER])) is None
    nlp: Any = import_module(MODEL).load()
    nlp.get_pipe(RECOGNIZER).cfg["beam_width"] = 4
    assert EntityMoves.of(nlp) is None
    assert EntityMoves.of(import_module(MODEL).load()) is not None
    nlp.get_pipe(RECOGNIZER).cfg["beam_width"] = 1
    nlp.add_pipe("entity_ruler")
    assert EntityMoves.of(nlp) is None
