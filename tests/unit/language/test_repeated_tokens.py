"""What is found out once for each distinct token is what the pipeline says of every token."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from abstrag.language.parser import MODEL, RULES, TokenForms, parse, parser

TEXTS = (
    "There is a bank, and there 's another; it is the one that she was going to.",
    "The company, which had got its  loans\nin 2019, doesn't have any. You and I saw it.",
    "The company got loans. Gets, got: better, best, worse.",
    " ",
    "The company got loans. Gets, got: better, best, worse.",
)


def test_every_attribute_is_that_of_the_whole_pipeline() -> None:
    whole = import_module(MODEL).load()
    expected = [doc.to_json() for doc in whole.pipe(TEXTS)]
    assert [doc.to_json() for doc in parse(TEXTS)] == expected
    assert [doc.to_json() for doc in parse(TEXTS)] == expected  # from memory


def test_a_text_that_comes_again_is_parsed_once() -> None:
    made = parse(TEXTS)
    assert made[2] is made[4]


def test_rows_that_cannot_be_told_apart_are_all_embedded(monkeypatch: Any) -> None:
    expected = parse(["It fell, and it rose."])[0].to_json()
    monkeypatch.setattr("abstrag.language.parser._MULTIPLIER", np.uint64(0))
    assert parse(["It fell, and it rose."])[0].to_json() == expected


def test_what_was_remembered_is_forgotten_when_it_is_too_much(monkeypatch: Any) -> None:
    monkeypatch.setattr("abstrag.language.parser._MOST", 3)
    forms = TokenForms.of(parser())
    assert forms is not None
    whole = parser().pipe(TEXTS)
    bare = list(parser().pipe(TEXTS, disable=RULES))
    for doc, same in zip(bare, whole, strict=True):
        forms.give([doc])
        assert doc.to_json() == same.to_json()


def test_a_pipeline_with_other_rules_is_left_alone() -> None:
    nlp = import_module(MODEL).load()
    nlp.get_pipe(RULES[0]).add([[{"ENT_TYPE": "ORG"}]], {"POS": "PROPN"})
    assert TokenForms.of(nlp) is None
    nlp.remove_pipe(RULES[1])
    assert TokenForms.of(nlp) is None
