"""A cap is never overrun: not by retries, not by repairs, not by threads, whatever comes back."""

import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.errors import OverBudget
from abstrag.llm.budget import CallBudget, Spending
from abstrag.llm.settings import Limits, Price
from tests.unit.llm.faulty import (
    Handler,
    dies_mid_body,
    raw,
    resets,
    says,
    serving,
    slowly,
    status,
)
from tests.unit.llm.makers import asking, request

PRICE = Price(input=1000.0, output=5000.0)


def test_a_cap_stops_before_the_call(tmp_path: Path) -> None:
    with (
        serving(says({"n": 1})) as server,
        asking(server.url, tmp_path, limits=Limits(max_calls=2)) as model,
    ):
        model.complete(request("1"))
        model.complete(request("2"))
        with pytest.raises(OverBudget, match="number 3 of 2") as caught:
            model.complete(request("3"))
        assert caught.value.hint
        assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "limits", [Limits(max_calls=0), Limits(max_tokens=100), Limits(max_cost=0.01)]
)
def test_a_cap_that_is_too_small_for_one_call_sends_nothing(tmp_path: Path, limits: Limits) -> None:
    with serving(says({"n": 1})) as server:
        with asking(server.url, tmp_path, limits=limits, price=PRICE) as model:
            with pytest.raises(OverBudget):
                model.complete(request())
            assert model.log.lines() == []
        assert server.bodies == []


def test_what_is_in_the_log_needs_no_budget(tmp_path: Path) -> None:
    with serving(says({"n": 1})) as server:
        with asking(server.url, tmp_path) as model:
            model.complete(request())
        with asking(server.url, tmp_path, limits=Limits(max_calls=0)) as model:
            assert model.complete(request()).cached
            assert len(server.bodies) == 1


def test_a_repair_that_would_overrun_is_not_sent(tmp_path: Path) -> None:
    with (
        serving(says("x")) as server,
        asking(server.url, tmp_path, limits=Limits(max_calls=1)) as model,
    ):
        with pytest.raises(OverBudget):
            model.complete(request())
        assert len(server.bodies) == 1
        assert model.meter.ledger().total.tokens_in == 10  # what was spent is not forgotten


def test_work_over_budget_keeps_what_was_finished(tmp_path: Path) -> None:
    asked = [request(str(n)) for n in range(9)]
    with serving(slowly(says({"n": 1}), 0.02)) as server:
        with asking(server.url, tmp_path, limits=Limits(max_calls=5)) as model:
            with pytest.raises(OverBudget):
                model.complete_many(asked)
            assert len(server.bodies) == 5
        with asking(server.url, tmp_path, limits=Limits(max_calls=4)) as model:
            assert len(model.complete_many(asked)) == 9  # the other five are in the log


def test_eight_at_once_send_no_more_than_the_cap(tmp_path: Path) -> None:
    with (
        serving(slowly(says({"n": 1}), 0.02)) as server,
        asking(server.url, tmp_path, limits=Limits(max_calls=12), concurrency=8) as model,
    ):
        with pytest.raises(OverBudget):
            model.complete_many([request(str(n)) for n in range(40)])
        assert len(server.bodies) == 12
        assert model.meter.ledger().total.calls == 12


def test_a_call_waits_when_only_calls_under_way_stand_in_its_way() -> None:
    budget = CallBudget(Limits(max_tokens=100))
    worst, actual = Spending(1, 60), Spending(1, 10)
    budget.set_aside(worst)
    order: list[str] = []

    def second() -> None:
        budget.set_aside(worst)
        order.append("let through")

    thread = threading.Thread(target=second)
    thread.start()
    time.sleep(0.05)
    order.append("settled")
    budget.settle(worst, actual)
    thread.join(30)
    assert order == ["settled", "let through"]
    assert budget.spent == actual


def test_a_lost_reply_counts_with_its_worst_case(tmp_path: Path) -> None:
    limits = Limits(max_tokens=2000)  # room for two worst cases
    with serving(resets) as server, asking(server.url, tmp_path, limits=limits) as model:
        with pytest.raises(OverBudget):
            model.complete(request())
        assert 1 <= len(server.bodies) <= 2
        assert model.meter.ledger().total.lost == len(server.bodies)


def test_a_reply_that_was_not_counted_counts_with_its_worst_case(tmp_path: Path) -> None:
    limits = Limits(max_tokens=1500)  # room for one worst case and a bit
    uncounted = says({"n": 1}, usage=None)
    with serving(uncounted) as server, asking(server.url, tmp_path, limits=limits) as model:
        reply = model.complete(request("1"))
        assert reply.tokens_in > 0
        assert any("estimates" in note for note in model.log.call(reply.call).notes)
        with pytest.raises(OverBudget):
            model.complete(request("2"))
        assert len(server.bodies) == 1


FAULTS = {
    "429": status(429),
    "500": status(500),
    "400": status(400, "no"),
    "reset": resets,
    "dies": dies_mid_body,
    "html": raw(b"<html>"),
    "misfit": says("nope", usage=(700, 50)),
    "uncounted": says({"n": 1}, usage=None),
    "good": says({"n": 1}, usage=(700, 50)),
    "small": says({"n": 1}, usage=(20, 5)),
}
UNBILLED = {"429", "500", "400"}
MOST = {"small": (20, 5)}  # every other one is taken to have used all it could


@settings(max_examples=30, deadline=None)
@given(
    script=st.lists(st.sampled_from(sorted(FAULTS)), min_size=1, max_size=12),
    max_calls=st.integers(0, 8),
    max_tokens=st.integers(0, 8000),
    max_cost=st.floats(0, 8),
)
def test_no_cap_is_overrun_whatever_comes_back(
    script: list[str], max_calls: int, max_tokens: int, max_cost: float
) -> None:
    limits = Limits(max_calls, max_tokens, max_cost)
    used: list[tuple[int, int]] = []

    def behave(name: str) -> Any:
        def behaviour(handler: Handler) -> None:
            if name not in UNBILLED:
                used.append(MOST.get(name, (700, 50)))
            FAULTS[name](handler)

        return behaviour

    with (
        TemporaryDirectory() as folder,
        serving(*map(behave, script)) as server,
        asking(server.url, Path(folder), limits=limits, price=PRICE) as model,
        suppress(OverBudget),
    ):
        model.complete_many([request(str(n)) for n in range(8)])
    tokens_in, tokens_out = sum(u[0] for u in used), sum(u[1] for u in used)
    assert len(used) <= max_calls
    assert tokens_in + tokens_out <= max_tokens
    assert PRICE.of(tokens_in, tokens_out) <= max_cost
