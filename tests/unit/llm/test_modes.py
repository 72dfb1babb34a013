"""What an endpoint refuses is given up in order, remembered, and written down."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import ModelError
from abstrag.llm.client import Dialect, KnownDialects, ReplyFormat
from tests.unit.llm.faulty import Handler, says, serving, status
from tests.unit.llm.makers import NUMBER, asking, request


def kinds(bodies: list[dict[str, Any]]) -> list[str]:
    return [body.get("response_format", {}).get("type", "text") for body in bodies]


def accepting(*formats: str) -> Any:
    """Make a server that knows only some formats."""

    def behave(handler: Handler) -> None:
        asked = kinds(handler.server.bodies[-1:])[0]
        known = asked in formats
        (says({"n": 1}) if known else status(400, f"unknown {asked}"))(handler)

    return behave


@pytest.mark.parametrize(
    ("formats", "order"),
    [
        (["json_schema"], ["json_schema"]),
        (["json_object", "text"], ["json_schema", "json_schema", "json_object"]),
        (["text"], ["json_schema", "json_schema", "json_object", "text"]),
    ],
)
def test_modes_are_tried_in_order_and_the_one_that_works_is_remembered(
    tmp_path: Path, formats: list[str], order: list[str]
) -> None:
    with serving(accepting(*formats)) as server, asking(server.url, tmp_path) as model:
        first = model.complete(request())
        assert kinds(server.bodies) == order
        model.complete(request("again"))
        model.complete(request("elsewhere", stage="other"))
        assert kinds(server.bodies)[len(order) :] == [order[-1]] * 2
        kept = model.log.call(first.call)
        assert kept.mode == order[-1]
        refused = sorted({mode for mode in order if mode != order[-1]})
        assert all(any(f"did without {mode}" in note for note in kept.notes) for mode in refused)
        outcomes = [one.outcome for one in model.log.exchanges(first.call)]
        assert outcomes[-1] == "ok"
        assert all("status 400" in outcome for outcome in outcomes[:-1])


def test_strict_goes_first_because_some_endpoints_know_schemas_without_it(tmp_path: Path) -> None:
    with (
        serving(status(400, "schema not strict"), says({"n": 1})) as server,
        asking(server.url, tmp_path) as model,
    ):
        model.complete(request())
        sent = [body["response_format"]["json_schema"] for body in server.bodies]
        assert ["strict" in one for one in sent] == [True, False]


def test_an_open_schema_is_never_called_strict(tmp_path: Path) -> None:
    loose = {"type": "object", "properties": {"n": {"type": "integer"}}}
    with serving(says({"n": 1})) as server, asking(server.url, tmp_path) as model:
        model.complete(request(schema=loose))
        assert "strict" not in server.bodies[0]["response_format"]["json_schema"]


@pytest.mark.parametrize(
    ("name", "sent", "instead"),
    [
        ("max_tokens", {}, {"max_completion_tokens": 50}),
        ("temperature", {"temperature": 0.3}, {}),
        ("seed", {"temperature": 0.3, "sample": 2}, {}),
    ],
)
def test_a_parameter_that_is_refused_is_left_out(
    tmp_path: Path, name: str, sent: dict[str, Any], instead: dict[str, Any]
) -> None:
    def fussy(handler: Handler) -> None:
        known = name not in handler.server.bodies[-1]
        (says({"n": 1}) if known else status(400, f"unsupported parameter: '{name}'"))(handler)

    with serving(fussy) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request(**sent))
        first, second = server.bodies
        assert name in first
        assert second == {**{k: v for k, v in first.items() if k != name}, **instead}
        assert any(f"did without {name}" in note for note in model.log.call(reply.call).notes)
        model.complete(request("again", **sent))
        assert len(server.bodies) == 3


def test_a_schema_that_is_accepted_and_ignored_is_shown_to_the_model(tmp_path: Path) -> None:
    def ignoring(handler: Handler) -> None:
        shown = "JSON schema" in handler.server.bodies[-1]["messages"][0]["content"]
        says({"n": 1} if shown else "There are many.")(handler)

    with serving(ignoring) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request())
        assert any("was not kept to" in note for note in model.log.call(reply.call).notes)
        model.complete(request("again"))
        assert kinds(server.bodies) == ["json_schema", "json_object", "json_object"]


def test_a_list_is_never_asked_for_as_an_object(tmp_path: Path) -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}

    def no_schemas(handler: Handler) -> None:
        fine = kinds(handler.server.bodies[-1:]) == ["text"]
        (says([1, 2]) if fine else status(400, "no"))(handler)

    with serving(no_schemas) as server, asking(server.url, tmp_path) as model:
        assert model.complete(request(schema=numbers)).value == [1, 2]
        assert kinds(server.bodies) == ["json_schema", "json_schema", "text"]


def test_a_schema_too_much_for_an_endpoint_concerns_only_its_stage(tmp_path: Path) -> None:
    def no_patterns(handler: Handler) -> None:
        asked = json.dumps(handler.server.bodies[-1].get("response_format", {}))
        (status(400, "no patterns") if "pattern" in asked else says({"n": 1}))(handler)

    fancy = {"type": "object", "properties": {"s": {"type": "string", "pattern": "x"}}}
    with serving(no_patterns) as server, asking(server.url, tmp_path) as model:
        model.complete(request())
        model.complete(request(stage="fancy", schema=fancy))
        model.complete(request("again"))
        model.complete(request("again", stage="fancy", schema=fancy))
        assert kinds(server.bodies) == [
            "json_schema",
            "json_schema",
            "json_object",
            "json_schema",
            "json_object",
        ]


def test_a_server_that_breaks_on_schemas_is_asked_without(tmp_path: Path) -> None:
    def brittle(handler: Handler) -> None:
        fine = kinds(handler.server.bodies[-1:]) == ["text"]
        (says({"n": 1}) if fine else status(500, "grammar"))(handler)

    with serving(brittle) as server, asking(server.url, tmp_path) as model:
        assert model.complete(request()).value == {"n": 1}
        assert model.complete(request("again")).value == {"n": 1}
        assert kinds(server.bodies)[-2:] == ["text", "text"]


def test_a_request_that_is_too_long_is_not_reworded(tmp_path: Path) -> None:
    with (
        serving(status(400, "the request exceeds the available context size")) as server,
        asking(server.url, tmp_path) as model,
    ):
        with pytest.raises(ModelError, match="too long") as caught:
            model.complete(request())
        assert caught.value.hint
        assert len(server.bodies) == 1


def test_a_refusal_of_everything_is_an_error_that_quotes_it(tmp_path: Path) -> None:
    with (
        serving(status(422, "I do not like you")) as server,
        asking(server.url, tmp_path) as model,
        pytest.raises(ModelError, match="I do not like you"),
    ):
        model.complete(request())


def test_text_is_asked_for_without_any_format(tmp_path: Path) -> None:
    with serving(says("  seven  ")) as server, asking(server.url, tmp_path) as model:
        assert model.complete(request(schema=None)).value == "seven"
        assert kinds(server.bodies) == ["text"]


def test_what_text_requests_do_says_nothing_about_schemas() -> None:
    fluency = KnownDialects()
    fluency.answered(Dialect(ReplyFormat.TEXT), request(schema=None))
    assert fluency.dialect("count").mode is ReplyFormat.JSON_SCHEMA


def test_the_same_sample_has_the_same_seed_and_another_one_another() -> None:
    def seed(**changes: Any) -> object:
        return Dialect().payload("m", request(**changes), None).get("seed")

    assert seed(temperature=0.3, sample=1) == 1
    assert seed(temperature=0.3, sample=2) == 2
    assert seed(temperature=0.0, sample=2) is None


def test_a_stage_of_any_name_gives_a_schema_a_lawful_name() -> None:
    made = Dialect().payload("m", request(stage="coréf / x", schema=NUMBER), None)
    assert made["response_format"]["json_schema"]["name"] == "cor_f___x"


def test_a_number_out_of_range_is_asked_for_again_and_changes_no_mode(tmp_path: Path) -> None:
    small = {**NUMBER, "properties": {"n": {"type": "integer", "maximum": 5}}}

    def generous(handler: Handler) -> None:
        again = len(handler.server.bodies[-1]["messages"]) > 2
        says({"n": 1 if again else 10})(handler)

    with serving(generous) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request(schema=small))
        assert reply.value == {"n": 1}
        assert any(
            "10 is greater than the maximum of 5" in n for n in model.log.call(reply.call).notes
        )
        model.complete(request("again", schema=small))
        assert set(kinds(server.bodies)) == {"json_schema"}
