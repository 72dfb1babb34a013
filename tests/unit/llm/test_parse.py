"""JSON as models write it is read; what is not certain is not guessed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.llm.client import parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        (" 3 ", 3),
        ('{"a": 1}', {"a": 1}),
        ("```\n[1]\n```", [1]),
        ('```json {"a": 1} ``` and more', {"a": 1}),
        ('```json\n{"a": 1}', {"a": 1}),
        ('The set {x} is meant: {"a": 1}', {"a": 1}),
        ('{"a": "```"}', {"a": "```"}),
        ("[1, 2,]", [1, 2]),
        ('{"a": ",]", "b": [1,\n],}', {"a": ",]", "b": [1]}),
        ('{"a": [{"b": "c"}', {"a": [{"b": "c"}]}),
        ('{"a": {"b": true', {"a": {"b": True}}),
        ('{"a": "x",', {"a": "x"}),
    ],
)
def test_what_can_be_read_is_read(text: str, value: Any) -> None:
    parsed = parse(text)
    assert parsed is not None
    assert parsed.value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "no JSON here",
        '{"a": 12',  # 12, or 123?
        '{"a": "uns',
        '{"a": tru',
        '{"a":',
        '{"a"',
        '{"a": [1}',
        "{'a': 1}",
        '{"a": Infinity}',
        "[" * 100_000,
        '{"a": "\\ud800"}',  # half a character
    ],
)
def test_what_is_not_certain_is_not_guessed(text: str) -> None:
    assert parse(text) is None


def test_a_text_that_was_cut_off_is_not_closed() -> None:
    text = '{"names": ["a", "b"'
    assert parse(text) is not None
    assert parse(text, complete=False) is None


def test_a_part_of_something_unfinished_is_not_taken_for_the_whole() -> None:
    assert parse('{"all": [{"a": 1}, {"b": 2', complete=False) is None


def test_repairs_are_named_in_order() -> None:
    parsed = parse('Here: {"a": ["x",')
    assert parsed is not None
    assert parsed.repairs == (
        "took the JSON out of other text",
        "removed trailing commas",
        "added closing brackets",
    )


@given(VALUES)
def test_proper_json_needs_no_repair(value: Any) -> None:
    parsed = parse(json.dumps(value))
    assert parsed is not None
    assert (parsed.value, parsed.repairs) == (value, ())


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), st.data())
def test_a_cut_object_is_never_read_as_another_one(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    parsed = parse(text[:cut], complete=False)
    assert parsed is None


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    parse(text)
    parse("{" + text)
