"""Whatever a server does, a call ends in time: with a reply that fits or an error that says why."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from abstrag.errors import BadReply, InputError, ModelError, ModelUnreachable, OverBudget
from abstrag.llm.model import Reply
from abstrag.llm.settings import Limits
from tests.unit.llm.faulty import (
    Behaviour,
    dies_mid_body,
    drips_body,
    drips_headers,
    floods,
    raw,
    resets,
    says,
    serving,
    stalls,
    status,
    together,
)
from tests.unit.llm.makers import asking, request

GOOD = says({"n": 3})
WHILE_S = 30.0  # less than servers stall here, and more than a busy machine does


@pytest.mark.parametrize(
    "fault",
    [
        status(429, "slow down"),
        status(500, "oops"),
        status(503, "busy"),
        resets,
        dies_mid_body,
        raw(b"<html>bad gateway</html>"),
        raw(b'{"choices": []}'),
        raw(b'{"choices": [{"message": {"content": 7}}]}'),
        raw(b""),
    ],
)
def test_a_fault_that_passes_is_waited_out(tmp_path: Path, fault: Behaviour) -> None:
    with serving(fault, GOOD) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request())
        assert reply.value == {"n": 3}
        assert len(server.bodies) == 2
        assert any("tried again" in note for note in model.log.call(reply.call).notes)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (status(429, "slow down"), "slow down"),
        (status(503, "busy"), "busy"),
        (status(500, "oops"), "oops"),
        (resets, "connection broke"),
        (dies_mid_body, "connection broke"),
        (raw(b"<html>"), "<html>"),
        (stalls, "0.4 s"),
        (drips_headers, "0.4 s"),
        (drips_body, "0.4 s"),
        (floods, "8,388,608 bytes"),
    ],
)
def test_a_fault_that_stays_is_an_error_in_time(tmp_path: Path, fault: Behaviour, why: str) -> None:
    patience = 0.4 if why == "0.4 s" else 30.0
    with serving(fault) as server, asking(server.url, tmp_path, timeout_s=patience) as model:
        began = time.monotonic()
        with pytest.raises(ModelUnreachable, match=why) as caught:
            model.complete(request())
        assert time.monotonic() - began < WHILE_S
        assert caught.value.hint
        assert model.meter.ledger().total.failed == 1
        failed = model.log.lines(failed=True)
        assert [why in (line.error or "") for line in failed] == [True]


def test_no_server_at_all_is_said_so(tmp_path: Path) -> None:
    with serving(GOOD) as server:
        url = server.url
    with asking(url, tmp_path) as model, pytest.raises(ModelUnreachable, match="no connection"):
        model.complete(request())


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    script = status(429, Retry_After="0.3"), GOOD
    with serving(*script) as server, asking(server.url, tmp_path) as model:
        began = time.monotonic()
        model.complete(request())
        assert time.monotonic() - began >= 0.3


def test_a_server_that_wants_an_hour_is_not_waited_for(tmp_path: Path) -> None:
    with (
        serving(status(429, "quota", Retry_After="3600")) as server,
        asking(server.url, tmp_path) as model,
    ):
        with pytest.raises(ModelUnreachable, match="quota"):
            model.complete(request())
        assert len(server.bodies) == 1


@pytest.mark.parametrize("code", [401, 402, 403, 404])
def test_a_refusal_of_us_is_not_tried_again(tmp_path: Path, code: int) -> None:
    with serving(status(code, "no")) as server, asking(server.url, tmp_path) as model:
        with pytest.raises(ModelUnreachable, match=f"status {code}: no"):
            model.complete(request())
        assert len(server.bodies) == 1


def test_a_dead_endpoint_is_not_asked_a_hundred_times(tmp_path: Path) -> None:
    with serving(status(503, "down")) as server, asking(server.url, tmp_path) as model:
        answers = model.complete_many([request(str(n)) for n in range(100)])
        assert all(isinstance(answer, ModelUnreachable) for answer in answers)
        assert "not asked again" in str(answers[-1])
        assert len(server.bodies) <= 3 * 4 * 3  # a few calls at a time, with their retries


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ('```json\n{"n": 1}\n```', 1, "code fence"),
        ('Sure! Here it is: {"n": 2}. Anything else?', 2, "other text"),
        ('{"n": 3,}', 3, "trailing commas"),
        ('{"n": 4, "x": "y"', None, ""),  # not a fit once it is closed
        ('<think>{"n": 0}? no</think>{"n": 5}', 5, "thoughts"),
    ],
)
def test_untidy_json_is_read_and_said_to_be_so(
    tmp_path: Path, text: str, value: int | None, note: str
) -> None:
    with serving(says(text), GOOD) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request())
        kept = model.log.call(reply.call)
        if value is None:
            assert len(server.bodies) == 2
        else:
            assert reply.value == {"n": value}
            assert kept.raw == text
            assert any(note in one for one in kept.notes)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (says('{"n": "three"}'), "n: 'three' is not of type 'integer'"),
        (says('{"verdict": "yes"}'), "'n' is a required property"),  # a reply for another schema
        (says("[1, 2]"), "is not of type 'object'"),
        (says('{"n": 1', finish="length"), "cut off after 50 tokens"),
        (says("   \n \n  ", finish="length"), "empty after 50 tokens"),
        (says(None), "empty"),
        (says("I cannot say."), "not JSON"),
        (says('{"n": NaN}'), "not JSON"),
    ],
)
def test_a_reply_that_does_not_fit_is_asked_for_once_more(
    tmp_path: Path, bad: Behaviour, why: str
) -> None:
    with serving(bad, GOOD) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request())
        assert reply.value == {"n": 3}
        assert len(server.bodies) == 2
        assert why in server.bodies[1]["messages"][-1]["content"]  # the model is told
        assert any(why in note for note in model.log.call(reply.call).notes)
    with serving(bad) as server, asking(server.url, tmp_path) as model:
        with pytest.raises(BadReply, match="twice") as caught:
            model.complete(request("another"))
        assert why in str(caught.value)
        assert model.log.lines(failed=True)[0].id in str(caught.value.hint)
        assert len(server.bodies) == 2


def test_a_list_that_was_cut_off_is_not_taken_for_a_short_one(tmp_path: Path) -> None:
    names = {"type": "array", "items": {"type": "string"}}
    cut, whole = says('["a", "b"', finish="length"), says(["a", "b", "c"])
    with serving(cut, whole) as server, asking(server.url, tmp_path) as model:
        assert model.complete(request(schema=names)).value == ["a", "b", "c"]
    with serving(says('["a", "b"')) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request("forgetful", schema=names))  # it ended by itself
        assert reply.value == ["a", "b"]
        assert "added closing brackets" in model.log.call(reply.call).notes


def test_a_reply_with_half_a_character_is_kept_like_any_other(tmp_path: Path) -> None:
    half = raw(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}')
    with serving(half) as server, asking(server.url, tmp_path) as model:
        reply = model.complete(request(schema=None))
        assert reply.value == "a?b"
        assert model.complete(request(schema=None)).cached


def test_a_question_that_cannot_be_kept_is_not_asked(tmp_path: Path) -> None:
    with serving(GOOD) as server, asking(server.url, tmp_path) as model:
        with pytest.raises(InputError, match="not valid Unicode"):
            model.complete(request("\ud800"))
        assert server.bodies == []


def test_one_bad_reply_does_not_spoil_the_others(tmp_path: Path) -> None:
    with (
        serving(GOOD, GOOD, says("x"), says("x"), GOOD) as server,
        asking(server.url, tmp_path, concurrency=1) as model,
    ):
        answers = model.complete_many([request(str(n)) for n in range(4)])
    assert [isinstance(one, Reply) for one in answers] == [True, True, False, True]
    assert isinstance(answers[2], BadReply)


def test_a_second_run_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    asked = [request(str(n)) for n in range(6)]
    script = [GOOD, GOOD, GOOD, status(503, "down")]
    with serving(*script) as server, asking(server.url, tmp_path, concurrency=1) as model:
        first = model.complete_many(asked)
        assert sum(isinstance(one, Reply) for one in first) == 3
    with serving(GOOD) as server, asking(server.url, tmp_path) as model:
        second = model.complete_many(asked)
        assert [one.cached for one in second if isinstance(one, Reply)] == [True] * 3 + [False] * 3
        assert len(server.bodies) == 3
        assert model.meter.ledger().total.cached == 3


def test_replies_can_be_kept_short_without_becoming_other_calls(tmp_path: Path) -> None:
    with serving(GOOD) as server:
        with asking(server.url, tmp_path, reply_tokens=7) as model:
            reply = model.complete(request(max_tokens=50))
            assert "limited to 7 tokens" in model.log.call(reply.call).notes[0]
        with asking(server.url, tmp_path) as model:
            assert model.complete(request(max_tokens=50)).cached
            model.complete(request("else", max_tokens=50))
        assert [body["max_tokens"] for body in server.bodies] == [7, 50]


def test_calls_are_made_side_by_side_but_no_more_than_allowed(tmp_path: Path) -> None:
    with serving(together(GOOD, 3)) as server:
        with asking(server.url, tmp_path, concurrency=3) as model:
            model.complete_many([request(str(n)) for n in range(12)])
        assert server.most_at_once == 3


@pytest.mark.parametrize("alone", [True, False])
def test_a_call_that_is_called_off_ends_at_once(tmp_path: Path, alone: bool) -> None:
    with serving(stalls) as server, asking(server.url, tmp_path, timeout_s=60.0) as model:

        def interrupt() -> None:
            while not server.bodies:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        began = time.monotonic()
        asked = [request(str(n)) for n in range(8)]
        with pytest.raises(KeyboardInterrupt):
            model.complete(asked[0]) if alone else model.complete_many(asked)
        assert time.monotonic() - began < WHILE_S
        assert model.meter.ledger().total.lost >= 1  # it may have been worked on


SCRIPT = """
import sys
from pathlib import Path
from tests.unit.llm.makers import asking, request
with asking(sys.argv[1], Path(sys.argv[2]), timeout_s=60, concurrency=2) as model:
    print("ready", flush=True)
    model.complete_many([request(str(n)) for n in range(10)])
"""


def test_an_interrupt_keeps_what_is_finished_and_the_program_ends(tmp_path: Path) -> None:
    with serving(GOOD, GOOD, GOOD, stalls) as server:
        program = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, server.url, str(tmp_path)],
            stderr=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        )
        deadline = time.monotonic() + 30
        while len(server.bodies) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=WHILE_S)
        assert b"KeyboardInterrupt" in said
    with serving(GOOD) as server, asking(server.url, tmp_path) as model:
        again = model.complete_many([request(str(n)) for n in range(10)])
        assert sum(one.cached for one in again if isinstance(one, Reply)) == 3
        assert len(server.bodies) == 7


def test_the_key_is_sent_and_shown_nowhere(tmp_path: Path) -> None:
    key = "sk-very-secret"
    script = status(401, f"the key {key} is wrong"), GOOD
    with serving(*script) as server, asking(server.url, tmp_path, key=key) as model:
        with pytest.raises(ModelError, match=r"\*\*\*") as caught:
            model.complete(request())
        assert key not in str(caught.value)
        model.complete(request())
        assert server.headers[0]["Authorization"] == f"Bearer {key}"
        assert key not in repr(model)
    assert all(key.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def odd(**parts: object) -> Behaviour:
    """Reply with a completion of which some parts are not what they should be."""
    message = {"content": json.dumps({"n": 3}), **{k: v for k, v in parts.items() if k != "usage"}}
    body = {"choices": [{"message": message}], "usage": parts.get("usage")}
    return raw(json.dumps(body).encode())


@pytest.mark.parametrize("refusal", [7, ["no"], {"why": "no"}, True])
def test_a_refusal_that_is_no_text_is_no_completion(tmp_path: Path, refusal: object) -> None:
    with (
        serving(odd(refusal=refusal)) as server,
        asking(server.url, tmp_path) as model,
        pytest.raises(ModelUnreachable, match="not a chat completion"),
    ):
        model.complete(request())


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 10**300, "completion_tokens": 1},
        {"prompt_tokens": -5, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 1.5, "completion_tokens": 1},
        ["prompt_tokens"],
        "many",
    ],
)
def test_an_odd_count_of_tokens_does_not_loosen_the_cap(tmp_path: Path, usage: object) -> None:
    with (
        serving(odd(usage=usage)) as server,
        asking(server.url, tmp_path, limits=Limits(max_tokens=10**6)) as model,
    ):
        model.complete(request())
        assert model.client._sender._budget.spent.tokens > 100  # the worst case


def test_replies_that_are_errors_count_as_calls(tmp_path: Path) -> None:
    with (
        serving(status(503, "busy")) as server,
        asking(server.url, tmp_path, limits=Limits(max_calls=2), retries=9) as model,
    ):
        with pytest.raises(OverBudget):
            model.complete(request())
        assert len(server.bodies) == 2


def test_a_key_that_a_reply_repeats_is_not_kept(tmp_path: Path) -> None:
    key = "sk-secret-0123456789"
    with (
        serving(says({"n": 3, "note": f"your key is {key}"})) as server,
        asking(server.url, tmp_path, key=key) as model,
        suppress(ModelError),
    ):  # the note is more than was asked for
        model.complete(request())
    assert server.bodies
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in kept
    assert b"***" in kept
