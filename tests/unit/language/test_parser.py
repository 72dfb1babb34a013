"""The parser is spaCy's, loaded without what parsing does not need."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

from abstrag.language.parser import MODEL, parse, parser, parses_from_bytes, parses_to_bytes

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
