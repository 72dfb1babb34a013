"""Prompts and batches: what operators are given to ask with."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.errors import BadReply, InputError, ModelUnreachable
from abstrag.llm.budget import Batching
from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Program, Prompt
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.record import record

SCHEMA = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}, "maxItems": 3}},
    "required": ["names"],
}
PROGRAM = Program("name", "Name it.", SCHEMA)


@record
class Names:
    names: tuple[str, ...]


def prompt(model: ScriptedModel, program: Program = PROGRAM) -> Prompt:
    return Prompt(program, model, CallRole.INDEX)


def test_a_prompt_is_named_by_its_program_and_its_model() -> None:
    one = prompt(ScriptedModel({}))
    assert repr(one) == repr(prompt(ScriptedModel({"name": {}})))
    assert repr(one) != repr(prompt(ScriptedModel({}), replace(PROGRAM, rules=("Be brief.",))))
    assert "scripted" in repr(one)


def test_a_limit_is_read_off_the_schema() -> None:
    assert prompt(ScriptedModel({})).limit("names", 9) == 3
    assert prompt(ScriptedModel({})).limit("others", 9) == 9


def test_one_failure_stands_in_its_place() -> None:
    model = ScriptedModel({"name": lambda r: BadReply("no") if "2" in r.user else {"names": ["x"]}})
    replies = prompt(model).ask_many(Names, [{"n": 1}, {"n": 2}, {"n": 3}])
    assert [isinstance(reply, BadReply) for reply in replies] == [False, True, False]


def test_a_model_that_nobody_can_reach_is_an_error_but_one_lost_call_is_not() -> None:
    lost = ModelUnreachable("no answer")
    with pytest.raises(ModelUnreachable):
        prompt(ScriptedModel({"name": lost})).ask_many(Names, [{"n": 1}, {"n": 2}])
    model = ScriptedModel({"name": lambda r: lost if "2" in r.user else {"names": []}})
    assert len(prompt(model).ask_many(Names, [{"n": 1}, {"n": 2}])) == 2
    assert prompt(ScriptedModel({})).ask_many(Names, []) == []


@given(st.lists(st.integers(0, 50)), st.integers(1, 60), st.integers(1, 8))
def test_batches_hold_everything_once_in_order_and_within_both_limits(
    sizes: list[int], tokens: int, items: int
) -> None:
    runs = Batching(tokens, items).cut(sizes)
    assert [i for run in runs for i in run] == list(range(len(sizes)))
    for run in runs:
        assert 1 <= len(run) <= items
        assert len(run) == 1 or sum(sizes[i] for i in run) <= tokens


def test_a_batch_can_be_kept_smaller_than_the_setting() -> None:
    assert [len(run) for run in Batching(items=20).cut([1] * 30, most=12)] == [12, 12, 6]


def test_a_batch_that_holds_nothing_is_refused() -> None:
    with pytest.raises(InputError):
        Batching(items=0)
