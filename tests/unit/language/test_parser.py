"""The parser is spaCy's, loaded without what parsing does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np

from abstrag.language.parser import (
    MODEL,
    RECOGNIZER,
    RULES,
    EntityMoves,
    TokenForms,
    parse,
    parser,
    parses_from_bytes,
    parses_to_bytes,
)

TEXTS = (
    "Dr. Smith doesn't think that 3M's fine-tuned U.S. business isn't worth $4.5bn (approx.).",
    "See http://example.org/a?b=c, e.g. Fig. 3; \"we're 10km away\", said O'Neill :-)",
    "What was the goodwill impairment in FY2018?",
)
LOADED = (
    "import sys\nfrom abstrag.language.parser import import_spacy\nimport_spacy()\nimport spacy\n"
)


def run(code: str) -> None:
    """Run code in a fresh process, in which nothing has imported spaCy."""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_texts_are_parsed_as_by_the_whole_pipeline() -> None:
    whole = import_module(MODEL).load()
    assert [doc.to_json() for doc in parse(TEXTS)] == [doc.to_json() for doc in whole.pipe(TEXTS)]


def test_a_process_on_one_core_lets_numpy_multiply_and_parses_alike() -> None:
    code = "from abstrag.language.parser import parse, parser\n"
    code += "assert not parser().get_pipe('tok2vec').model.ops.use_blis\n"
    code += f"print([doc.to_json() for doc in parse({TEXTS!r})])"
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    line = [sys.executable, "-c", code]
    made = subprocess.run(line, check=True, env=alone, capture_output=True, text=True).stdout
    assert made.strip() == str([doc.to_json() for doc in parse(TEXTS)])


def test_the_tokenizer_has_the_rules_of_the_model_and_its_language() -> None:
    whole = import_module(MODEL).load().tokenizer
    mine: Any = parser().tokenizer
    assert mine.rules == whole.rules
    assert mine.explain(TEXTS[0]) == whole.explain(TEXTS[0])


def test_parses_are_read_back_as_they_were_written() -> None:
    made = parse(TEXTS)
    again = parses_from_bytes(parses_to_bytes(made))
    assert [doc.to_json() for doc in again] == [doc.to_json() for doc in made]


def test_the_command_line_of_spacy_is_left_out() -> None:
    run(LOADED + "assert not {'spacy.cli', 'spacy.cli.info', 'typer'} & set(sys.modules)")


def test_the_command_line_of_spacy_is_there_for_whoever_asks() -> None:
    run(LOADED + "assert spacy.cli.download.__module__ == 'spacy.cli.download'")
    run(LOADED + "from spacy.cli.info import info\nassert info.__module__ == 'spacy.cli.info'")
    run(LOADED + "assert spacy.info(silent=True)['spacy_version'] == spacy.__version__")


def test_a_name_that_spacy_does_not_have_is_still_missing() -> None:
    run(LOADED + "assert not hasattr(spacy, 'no_such_name')")


def test_a_spacy_that_is_loaded_already_is_left_as_it_is() -> None:
    run(
        "import spacy\nbefore = dict(vars(spacy))\n"
        "from abstrag.language.parser import import_spacy\nimport_spacy()\n"
        "assert dict(vars(spacy)) == before"
    )


# What is found out once for each distinct token is what the pipeline says of every token.

REPEATING = (
    "There is a bank, and there 's another; it is the one that she was going to.",
    "The company, which had got its  loans\nin 2019, doesn't have any. You and I saw it.",
    "The company got loans. Gets, got: better, best, worse.",
    " ",
    "The company got loans. Gets, got: better, best, worse.",
)


def test_every_attribute_is_that_of_the_whole_pipeline() -> None:
    whole = import_module(MODEL).load()
    expected = [doc.to_json() for doc in whole.pipe(REPEATING)]
    assert [doc.to_json() for doc in parse(REPEATING)] == expected
    assert [doc.to_json() for doc in parse(REPEATING)] == expected  # from memory


def test_a_text_that_comes_again_is_parsed_once() -> None:
    made = parse(REPEATING)
    assert made[2] is made[4]


def test_rows_that_cannot_be_told_apart_are_all_embedded(monkeypatch: Any) -> None:
    expected = parse(["It fell, and it rose."])[0].to_json()
    monkeypatch.setattr("abstrag.language.parser._MULTIPLIER", np.uint64(0))
    assert parse(["It fell, and it rose."])[0].to_json() == expected


def test_what_was_remembered_is_forgotten_when_it_is_too_much(monkeypatch: Any) -> None:
    monkeypatch.setattr("abstrag.language.parser._MOST", 3)
    forms = TokenForms.of(parser())
    assert forms is not None
    whole = parser().pipe(REPEATING)
    bare = list(parser().pipe(REPEATING, disable=RULES))
    for doc, same in zip(bare, whole, strict=True):
        forms.give([doc])
        assert doc.to_json() == same.to_json()


def test_a_pipeline_with_other_rules_is_left_alone() -> None:
    nlp = import_module(MODEL).load()
    nlp.get_pipe(RULES[0]).add([[{"ENT_TYPE": "ORG"}]], {"POS": "PROPN"})
    assert TokenForms.of(nlp) is None
    nlp.remove_pipe(RULES[1])
    assert TokenForms.of(nlp) is None


# Scored all at once, the entities are those that the pipeline's recognizer finds one by one.

NAMING = (
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
    expected = [doc.to_json() for doc in whole.pipe(NAMING)]
    assert sum(len(each["ents"]) for each in expected) > 10
    assert [doc.to_json() for doc in parse(NAMING)] == expected


def test_what_is_found_in_a_text_does_not_depend_on_the_texts_beside_it() -> None:
    together = [doc.to_json() for doc in parse(NAMING)]
    assert [parse([text])[0].to_json() for text in NAMING] == together


def test_a_name_goes_on_to_the_end_of_the_text_or_of_the_sentence_at_most() -> None:
    moves = EntityMoves.of(parser())
    assert moves is not None
    for doc in parser().pipe(NAMING, disable=[RECOGNIZER]):
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
