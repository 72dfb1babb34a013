"""The probabilities of the words that a reply might have had in a field."""

from math import log
from pathlib import Path
from typing import Any

import pytest

from abstrag.llm.client import weighed
from abstrag.llm.connect import replay
from abstrag.llm.log import save
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.sender import TokenChoice
from abstrag.llm.settings import Endpoint, LlmSettings
from tests.unit.llm.faulty import Handler, completion, serving, status
from tests.unit.llm.makers import asking, request

MET: dict[str, Any] = {
    "type": "object",
    "properties": {"met": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["met"],
    "additionalProperties": False,
}


def token(text: str, **likely: float) -> TokenChoice:
    return TokenChoice(text, tuple((name, log(p)) for name, p in likely.items()))


def asked(**changes: Any) -> ModelRequest:
    return request(schema=MET, weighed="met", **changes)


def told(handler: Handler) -> None:
    """Reply as an endpoint does that tells what else might have stood there."""
    parts = ['{"met', '": "', "yes", '"}']
    content = [
        {
            "token": part,
            "logprob": log(0.6),
            "top_logprobs": [
                {"token": part, "logprob": log(0.6)},
                {"token": "no", "logprob": log(0.3)},
            ],
        }
        for part in parts
    ]
    handler.send(200, completion("".join(parts), logprobs={"content": content}))


def test_each_occurrence_of_the_field_has_the_weights_of_its_own_place() -> None:
    tokens = (
        token('{"a": [{"met": "'),
        token("yes", yes=0.7, no=0.2, Yes=0.1),
        token('"}, {"met"'),
        TokenChoice(': "no"', ((': "no"', log(0.5)), (': "yes', log(0.25)), (" yes", log(0.25)))),
        token("}]}"),
    )
    value = {"a": [{"met": "yes"}, {"met": "no"}]}
    first, second = weighed(value, "met", tokens)["a"]
    assert first["met_weights"] == pytest.approx({"yes": 0.7, "no": 0.2, "Yes": 0.1})
    assert second["met_weights"] == pytest.approx({"no": 0.5, "yes": 0.25})


def test_a_field_that_is_only_quoted_counts_for_nothing() -> None:
    tokens = (token('{"note": "\\"met\\": \\"yes\\"", "met": "'), token("no", no=1.0), token('"}'))
    value = weighed({"note": '"met": "yes"', "met": "no"}, "met", tokens)
    assert value["met_weights"] == {"no": 1.0}


def test_where_text_and_value_differ_nothing_is_added() -> None:
    assert weighed({"met": "yes"}, "met", (token("yes", yes=1.0),)) == {"met": "yes"}


def test_weights_come_with_the_reply_and_again_from_log_and_recording(tmp_path: Path) -> None:
    with serving(told) as server, asking(server.url, tmp_path) as model:
        first = model.complete(asked())
        body = server.bodies[0]
        assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
        assert first.value == {"met": "yes", "met_weights": {"yes": 0.6, "no": 0.3}}
        again = model.complete(asked())
        assert again.cached
        assert again.value == first.value
        save(model.log.calls(), tmp_path / "calls.jsonl")
        name = model.fingerprint
    settings = LlmSettings({CallRole.JUDGE: Endpoint(name)}, {})
    with replay(tmp_path / "calls.jsonl", settings) as models:
        assert models[CallRole.JUDGE].complete(asked()).value == first.value


def test_an_endpoint_that_refuses_to_tell_is_asked_for_the_word_alone(tmp_path: Path) -> None:
    def refusing(handler: Handler) -> None:
        if "logprobs" in handler.server.bodies[-1]:
            status(400, "logprobs is not supported")(handler)
        else:
            handler.send(200, completion('{"met": "no"}'))

    with serving(refusing) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(asked())
        assert reply.value == {"met": "no"}
        assert any("did without logprobs" in note for note in model.log.call(reply.call).notes)
        model.complete(asked(user="another"))
        assert [("logprobs" in body) for body in server.bodies] == [True, False, False]


def test_nothing_is_asked_for_where_no_field_is_weighed(tmp_path: Path) -> None:
    with serving(told) as server, asking(server.url, tmp_path) as model:
        assert model.complete(request(schema=MET)).value == {"met": "yes"}
        assert "logprobs" not in server.bodies[0]
