"""The client against a real server: shapes, counts and error paths; the model has little sense."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import BadReply, ModelError, OverBudget
from abstrag.llm.call import call_id
from abstrag.llm.choose import choose
from abstrag.llm.connect import Models, connect, replay
from abstrag.llm.log import CallLog, save
from abstrag.llm.model import CallRole, ModelRequest, Reply
from abstrag.llm.prompt import Program, ask
from abstrag.llm.settings import Endpoint, Limits, LlmSettings, Timeouts
from abstrag.llm.shape import misfit
from abstrag.model.record import record
from tests.local_server.server import LocalServer

Connecting = Callable[..., Models]

FRUITS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "fruits": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {"type": "string", "maxLength": 12},
        },
        "ripe": {"type": "boolean"},
        "color": {"type": "string", "enum": ["red", "green"]},
    },
    "required": ["fruits", "ripe", "color"],
    "additionalProperties": False,
}


def fruits(user: str = "Name fruits.", **changes: Any) -> ModelRequest:
    values: dict[str, Any] = {
        "role": CallRole.INDEX,
        "stage": "fruits",
        "system": "You reply with JSON.",
        "user": user,
        "schema": FRUITS,
        "max_tokens": 80,
    }
    return ModelRequest(**{**values, **changes})


@pytest.fixture
def connecting(local_server: LocalServer, tmp_path: Path) -> Connecting:
    def made(**changes: Any) -> Models:
        endpoint = Endpoint(local_server.model, local_server.base_url)
        values: dict[str, Any] = {
            "endpoints": dict.fromkeys(CallRole, endpoint),
            "prices": {},
            "patience": Timeouts(timeout_s=60, retries=1, concurrency=2),
        }
        return connect(LlmSettings(**{**values, **changes}), calls=tmp_path / "calls.db")

    return made


def test_the_server_keeps_to_the_schema(connecting: Connecting, tmp_path: Path) -> None:
    asked = [fruits(f"Name fruits that begin with {letter}.") for letter in "AB"]
    with connecting() as models:
        replies = models[CallRole.INDEX].complete_many(asked)
        ledger = models.ledger()
    assert [misfit(one.value, FRUITS) for one in replies if isinstance(one, Reply)] == [None, None]
    with CallLog.open(tmp_path / "calls.db") as log:
        kept = list(log.calls())
    assert [(call.mode, call.notes) for call in kept] == [("json_schema", ())] * 2
    assert ledger.total.calls == 2
    assert ledger.total.tokens_in == sum(call.tokens_in for call in kept) > 0
    assert 0 < ledger.total.tokens_out <= 160
    assert ledger.total.cost == 0.0
    assert ledger.unpriced == ()  # this machine costs nothing


def test_a_schema_without_limits_gets_some_that_the_server_can_compile(
    connecting: Connecting,
) -> None:
    text = {"type": "string"}
    row = {
        "type": "object",
        "properties": {"a": text, "b": text, "tags": {"type": "array", "items": text}},
    }
    open_ended = {
        "type": "object",
        "properties": {"title": text, "rows": {"type": "array", "items": row}},
    }
    with connecting(patience=Timeouts(timeout_s=60, retries=0)) as models:
        (reply,) = models[CallRole.INDEX].complete_many([fruits(schema=open_ended, max_tokens=60)])
    if isinstance(reply, ModelError):
        assert "cut off after 60 tokens" in str(reply)  # it went on and on, and was stopped
    else:
        assert misfit(reply.value, open_ended) is None


def test_it_tells_how_likely_the_words_of_a_field_are(connecting: Connecting) -> None:
    with connecting() as models:
        shown = {"system": 'Reply like {"fruits": ["plum"], "ripe": false, "color": "green"}'}
        plain = models[CallRole.INDEX].complete(fruits(**shown))
        told = models[CallRole.INDEX].complete(fruits(**shown, weighed="color"))
    weights = told.value.pop("color_weights")
    assert told.value == plain.value
    assert weights
    assert all(0 < one <= 1 for one in weights.values())
    assert sum(weights.values()) <= 1.001
    assert any(told.value["color"].startswith(one) for one in weights)


def test_what_was_asked_before_is_not_asked_again(connecting: Connecting) -> None:
    with connecting() as models:
        first = models[CallRole.INDEX].complete(fruits())
    with connecting(limits=Limits(max_calls=0)) as models:
        again = models[CallRole.INDEX].complete(fruits())
        assert (again.value, again.call, again.cached) == (first.value, first.call, True)
        assert (models.ledger().total.calls, models.ledger().total.cached) == (0, 1)
        with pytest.raises(OverBudget):
            models[CallRole.INDEX].complete(fruits("something else"))


def test_a_recording_of_it_replays(connecting: Connecting, tmp_path: Path) -> None:
    with connecting() as models:
        live = models[CallRole.JUDGE].complete(fruits())
    with CallLog.open(tmp_path / "calls.db") as log:
        save(log.calls(), tmp_path / "calls.jsonl")
    assert replay(tmp_path / "calls.jsonl")[CallRole.JUDGE].complete(fruits()).value == live.value


def test_samples_of_one_question_are_calls_of_their_own(connecting: Connecting) -> None:
    asked = [fruits(temperature=0.8, sample=n) for n in range(3)]
    with connecting() as models:
        replies = models[CallRole.JUDGE].complete_many(asked)
        assert models.ledger().total.calls == 3
    assert len({one.call for one in replies if isinstance(one, Reply)}) == 3


def test_a_schema_the_server_refuses_is_asked_for_in_humbler_modes(
    connecting: Connecting, tmp_path: Path
) -> None:
    # lawful JSON schema that llama.cpp does not know how to follow
    anchored = {
        "type": "object",
        "properties": {"fruit": {"$ref": "#name"}},
        "required": ["fruit"],
        "additionalProperties": False,
        "$defs": {"name": {"$anchor": "name", "type": "string"}},
    }
    asked = fruits(schema=anchored, max_tokens=30)
    with connecting() as models:
        try:
            reply = models[CallRole.INDEX].complete(asked)
            assert misfit(reply.value, anchored) is None
        except BadReply:
            pass  # the schema was only shown to it, and so small a model may not understand
    with CallLog.open(tmp_path / "calls.db") as log:
        call = log.call(call_id("smollm2-135m", asked))
        exchanges = log.exchanges(call.id)
    assert [one.mode for one in exchanges][:3] == ["json_schema", "json_schema", "json_object"]
    assert ["status 400" in one.outcome for one in exchanges[:2]] == [True, True]
    assert exchanges[2].outcome == "ok"
    assert any(note.startswith("did without json_schema") for note in call.notes)


def test_text_without_a_schema_is_text(connecting: Connecting) -> None:
    with connecting() as models:
        reply = models[CallRole.ANSWER].complete(fruits(schema=None, max_tokens=12))
    assert isinstance(reply.value, str)
    assert 0 < reply.tokens_out <= 12


def test_a_text_too_long_for_the_model_is_said_so(connecting: Connecting) -> None:
    with connecting() as models, pytest.raises(ModelError, match="too long") as caught:
        models[CallRole.INDEX].complete(fruits("word " * 9000))
    assert "context" in str(caught.value.hint)


@record
class Fruits:
    fruits: tuple[str, ...]
    ripe: bool
    color: str


def test_a_program_gets_an_answer_of_its_type(connecting: Connecting) -> None:
    program = Program("fruits", "Name fruits.", FRUITS)
    with connecting() as models:
        answered = ask(
            models[CallRole.INDEX], program, Fruits, {"about": "salad"}, role=CallRole.INDEX
        )
    assert isinstance(answered.value, Fruits)
    assert answered.call


def test_a_config_file_is_all_a_command_needs(local_server: LocalServer, tmp_path: Path) -> None:
    chosen = choose(environment=local_server.environment(tmp_path, reply_tokens=16))
    assert chosen is not None
    with connect(chosen, calls=tmp_path / "calls.db") as models:
        reply = models[CallRole.ANSWER].complete(fruits(schema=None, max_tokens=500))
    assert reply.tokens_out <= 16
