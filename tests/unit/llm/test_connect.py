"""Settings become models that share a log, a ledger and a cap; a recording becomes models too."""

from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError, ModelError, NeedsModel, NotRecorded, OverBudget
from abstrag.llm.budget import Estimate
from abstrag.llm.connect import Models, connect, replay
from abstrag.llm.log import CallLog, save
from abstrag.llm.model import CallRole, Reply
from abstrag.llm.scripted import ScriptedModel
from abstrag.llm.settings import Endpoint, Limits, LlmSettings, Price, Timeouts
from abstrag.llm.usage import ModelUsage, RoleLedger
from abstrag.model.record import from_json, to_json
from tests.unit.llm.faulty import says, serving
from tests.unit.llm.makers import request

REMOTE = "https://models.example/v1"


def settings(url: str, **changes: Any) -> LlmSettings:
    values: dict[str, Any] = {
        "endpoints": {
            CallRole.INDEX: Endpoint("small", url),
            CallRole.JUDGE: Endpoint("large", url),
        },
        "prices": {"small": Price(100, 200), "large": Price(1000, 2000)},
        "patience": Timeouts(timeout_s=30, retries=0),
    }
    return LlmSettings(**{**values, **changes})


def test_each_role_asks_its_own_model_and_pays_its_own_price(tmp_path: Path) -> None:
    with (
        serving(says({"n": 1}, usage=(1000, 100))) as server,
        connect(settings(server.url), calls=tmp_path / "c.db") as models,
    ):
        small = models[CallRole.INDEX].complete(request(role=CallRole.INDEX))
        large = models[CallRole.JUDGE].complete(request(role=CallRole.JUDGE))
        again = models[CallRole.JUDGE].complete(request(role=CallRole.JUDGE))
        ledger = models.ledger()
    assert [body["model"] for body in server.bodies] == ["small", "large"]
    assert small.cost == pytest.approx(0.12)
    assert large.cost == pytest.approx(1.2)
    assert (again.cached, again.cost, again.call) == (True, 0.0, large.call)
    index, judge = ledger.roles
    assert (index.role, index.calls, index.cached) == (CallRole.INDEX, 1, 0)
    assert (judge.calls, judge.cached, judge.tokens_in, judge.tokens_out) == (1, 1, 1000, 100)
    assert ledger.total.cost == pytest.approx(1.32)
    assert from_json(ModelUsage, to_json(ledger)) == ledger


def test_the_cap_is_on_all_roles_together(tmp_path: Path) -> None:
    with serving(says({"n": 1})) as server:
        limited = settings(server.url, limits=Limits(max_calls=1))
        with connect(limited, calls=tmp_path / "c.db") as models:
            models[CallRole.INDEX].complete(request(role=CallRole.INDEX))
            with pytest.raises(OverBudget):
                models[CallRole.JUDGE].complete(request())


def test_equal_requests_side_by_side_are_paid_once(tmp_path: Path) -> None:
    with (
        serving(says({"n": 1})) as server,
        connect(settings(server.url), calls=tmp_path / "c.db") as models,
    ):
        replies = models[CallRole.JUDGE].complete_many([request(), request(), request("else")])
        assert len(server.bodies) == 2
        assert [r.cached for r in replies if isinstance(r, Reply)] == [False, True, False]
        assert models.ledger().total.cached == 1


def test_a_ledger_adds_up_what_the_roles_took() -> None:
    both = ModelUsage(
        (RoleLedger(CallRole.INDEX, calls=5, cost=1.5), RoleLedger(CallRole.JUDGE, calls=1))
    )
    assert (both.total.calls, both.total.cost) == (6, 1.5)
    assert ModelUsage().total.calls == 0


def test_a_role_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    with connect(settings(REMOTE), calls=tmp_path / "c.db") as models:
        assert CallRole.ANSWER not in models
        assert models.get(CallRole.ANSWER) is None
        with pytest.raises(NeedsModel, match="'answer'") as caught:
            models[CallRole.ANSWER]
        assert "--llm answer=MODEL" in str(caught.value.hint)


def test_a_cap_on_the_cost_needs_a_price(tmp_path: Path) -> None:
    unknown = settings(REMOTE, prices={}, limits=Limits(max_cost=1.0))
    with pytest.raises(InputError, match="price of 'large'"):
        connect(unknown, calls=tmp_path / "c.db")
    local = settings("http://127.0.0.1:1/v1", prices={}, limits=Limits(max_cost=1.0))
    connect(local, calls=tmp_path / "c.db").close()  # this machine costs nothing


def test_a_key_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    keyed = settings(REMOTE, endpoints={CallRole.INDEX: Endpoint("m", REMOTE, "SOME_KEY")})
    with pytest.raises(InputError, match="SOME_KEY"):
        connect(keyed, calls=tmp_path / "c.db", environment={})
    connect(keyed, calls=tmp_path / "c.db", environment={"SOME_KEY": "x"}).close()


def test_an_estimate_leaves_out_what_is_in_the_log(tmp_path: Path) -> None:
    work = [request(str(n)) for n in range(4)]
    with (
        serving(says({"n": 1})) as server,
        connect(settings(server.url), calls=tmp_path / "c.db") as models,
    ):
        models[CallRole.JUDGE].complete(work[0])
        guess = models.estimate([*work, work[1]])
        assert (guess.calls, guess.cached, guess.tokens_out) == (3, 1, 150)
        assert guess.cost == pytest.approx(Price(1000, 2000).of(guess.tokens_in, 150))
        assert len(server.bodies) == 1
        models[CallRole.JUDGE].complete_many(work)
        assert len(server.bodies) == 1 + guess.calls
        assert models.estimate(work).calls == 0


def test_an_estimate_knows_how_short_replies_are_kept(tmp_path: Path) -> None:
    short = settings(REMOTE, patience=Timeouts(reply_tokens=20))
    with connect(short, calls=tmp_path / "c.db") as models:
        assert models.estimate([request(max_tokens=50), request(max_tokens=9)]).tokens_out == 29


def test_an_estimate_is_a_sentence() -> None:
    guess = Estimate(3, 1, 1200, 300, 0.5) + Estimate(2, most=True)
    assert guess.sentence == (
        "at most 5 calls (and 1 in the log already), 1,200 tokens in, at most 300 out, "
        "at most $0.5000"
    )
    assert "price of m unknown" in Estimate(1, unpriced=("m",)).sentence


def test_an_unknown_price_is_said_and_not_made_up(tmp_path: Path) -> None:
    with connect(settings(REMOTE, prices={}), calls=tmp_path / "c.db") as models:
        assert models.guess(CallRole.JUDGE, 2, 10, 10).unpriced == ("large",)
        assert models.ledger().unpriced == ("large", "small")


def test_a_recording_replays_without_anybody_and_misses_loudly(tmp_path: Path) -> None:
    with (
        serving(says({"n": 7})) as server,
        connect(settings(server.url), calls=tmp_path / "c.db") as models,
    ):
        live = models[CallRole.JUDGE].complete(request())
        models[CallRole.INDEX].complete(request(role=CallRole.INDEX))
    with CallLog.open(tmp_path / "c.db") as log:
        save(log.calls(), tmp_path / "r.jsonl")
    with replay(tmp_path / "r.jsonl") as models:
        again = models[CallRole.JUDGE].complete(request())
        assert (again.value, again.call, again.cached) == ({"n": 7}, live.call, True)
        with pytest.raises(NotRecorded, match="stage 'count'"):
            models[CallRole.JUDGE].complete(request("new"))
        with pytest.raises(NotRecorded):
            models[CallRole.JUDGE].complete_many([request(), request("new")])
        assert models.ledger().total.calls == 0
    chosen = settings(REMOTE)
    assert replay(tmp_path / "r.jsonl", chosen)[CallRole.JUDGE].fingerprint == "large"


def test_a_recording_that_is_empty_or_unclear_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", "utf-8")
    with pytest.raises(InputError, match="empty"):
        replay(tmp_path / "empty.jsonl")


def test_a_script_answers_by_stage_and_counts() -> None:
    model = ScriptedModel({"count": lambda asked: {"n": len(asked.user)}, "broken": {"n": "x"}})
    models = Models.of(model)
    assert models[CallRole.ANSWER].complete(request("abc")).value == {"n": 3}
    with pytest.raises(NotRecorded, match="'other'"):
        model.complete(request(stage="other"))
    many = model.complete_many([request(), request(stage="broken"), request(stage="other")])
    assert [type(one).__name__ for one in many] == ["Reply", "BadReply", "NotRecorded"]
    assert model.calls == 5


def test_a_script_may_fail_and_over_budget_ends_the_work() -> None:
    model = ScriptedModel({"count": ModelError("down"), "dear": OverBudget("enough")})
    with pytest.raises(ModelError, match="down"):
        model.complete(request())
    with pytest.raises(OverBudget):
        model.complete_many([request(), request(stage="dear")])
