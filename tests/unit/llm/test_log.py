"""The log answers what was asked before, shows everything that happened, and survives company."""

import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.errors import FileMissing, InputError, StoreCorrupt, StoreError, StoreTooNew
from abstrag.llm.call import Call, Exchange, call_id, quantile
from abstrag.llm.log import CallLog, Recording, default_calls_path, save
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.record import to_json
from tests.unit.llm.makers import request


def call(asked: ModelRequest | None = None, **changes: object) -> Call:
    asked = asked or request()
    made = Call(
        id=call_id("m", asked),
        model="m",
        request=asked,
        raw='{"n": 3}',
        value={"n": 3},
        mode="json_schema",
        notes=("a note",),
        tokens_in=10,
        tokens_out=5,
        seconds=0.5,
        cost=0.25,
        at="2024-05-14T10:00:00.000+00:00",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


WIRE = [Exchange("json_schema", "status 429", 0.1), Exchange("json_schema", "ok", 0.5, 10, 5, 0.25)]


@pytest.fixture
def log(tmp_path: Path) -> CallLog:
    return CallLog.open(tmp_path / "deep" / "calls.db")


def test_a_call_comes_back_as_it_was_and_costs_nothing(log: CallLog) -> None:
    kept = call()
    log.add(kept, WIRE)
    found = log.find(kept.id)
    assert found == kept
    reply = found.reply()
    assert (reply.value, reply.cached, reply.cost) == ({"n": 3}, True, 0.0)
    assert log.exchanges(kept.id) == WIRE
    assert log.known([kept.id, "other"]) == {kept.id}


def test_a_call_is_found_by_the_beginning_of_its_id(log: CallLog) -> None:
    one, other = call(id="abc1"), call(id="abd2")
    log.add(one, [])
    log.add(other, [])
    assert log.call("abc") == one
    for wrong in ("ab", "x", "", "%", "abc1_"):
        with pytest.raises(InputError):
            log.call(wrong)


def test_a_failure_is_kept_but_answers_nothing_and_yields_to_a_reply(log: CallLog) -> None:
    kept = call()
    log.add(replace(kept, value=None, error="nonsense"), WIRE[:1])
    assert log.find(kept.id) is None
    assert log.known([kept.id]) == frozenset()
    assert [line.error for line in log.lines(failed=True)] == ["nonsense"]
    log.add(kept, WIRE[1:])
    assert log.find(kept.id) == kept
    log.add(replace(kept, value=None, error="later"), [])
    assert log.find(kept.id) == kept
    assert log.exchanges(kept.id) == WIRE  # what was spent on the failure still shows


def test_calls_are_summed_up_by_role(log: CallLog) -> None:
    log.add(call(request("1")), WIRE)
    log.add(call(request("2")), [Exchange("text", "ok", 1.5, 20, 5, 0.75)])
    log.add(call(request("3", role=CallRole.ANSWER), error="no", value=None), [])
    log.find(call_id("m", request("1")))
    judge, answer = log.summary()
    assert (judge.role, judge.calls, judge.cached, judge.faults) == (CallRole.JUDGE, 2, 1, 1)
    assert (judge.tokens_in, judge.tokens_out, judge.cost) == (30, 10, 1.0)
    assert (judge.p50_s, judge.p95_s) == (0.5, 1.5)
    assert (answer.failed, answer.p50_s) == (1, None)


def test_lists_are_latest_first_and_can_be_narrowed(log: CallLog) -> None:
    for hour in range(3):
        asked = request(str(hour), role=CallRole.INDEX if hour else CallRole.JUDGE)
        log.add(call(asked, at=f"2024-05-14T1{hour}:00:00.000+00:00"), [])
    assert [line.at[11:13] for line in log.lines()] == ["12", "11", "10"]
    assert [line.at[11:13] for line in log.lines(last=1)] == ["12"]
    assert [line.role for line in log.lines(role=CallRole.JUDGE)] == [CallRole.JUDGE]


@pytest.mark.parametrize(
    ("count", "p50", "p95"), [(1, 0, 0), (2, 0, 1), (20, 9, 18), (100, 49, 94), (101, 50, 95)]
)
def test_a_quantile_is_one_of_the_values(count: int, p50: int, p95: int) -> None:
    values = [float(n) for n in reversed(range(count))]
    assert (quantile(values, 0.5), quantile(values, 0.95)) == (p50, p95)


def test_threads_share_a_log(log: CallLog) -> None:
    def fill(start: int) -> None:
        for n in range(start, start + 10):
            log.add(call(request(str(n))), WIRE)
            assert log.find(call_id("m", request(str(n))))

    threads = [threading.Thread(target=fill, args=(k * 10,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log.lines()) == 40
    assert log.summary()[0].cached == 40


FILL = """
import sys
from pathlib import Path
from abstrag.llm.log import CallLog
from tests.unit.llm.test_log import WIRE, call, request
with CallLog.open(Path(sys.argv[1])) as log:
    for n in range(20):
        log.add(call(request(sys.argv[2] + str(n % 15))), WIRE)
"""


def test_processes_share_a_log_even_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    root = Path(__file__).parents[3]
    programs = [
        subprocess.Popen([sys.executable, "-c", FILL, str(path), name], cwd=root)
        for name in ("a", "b", "")
    ]
    assert [program.wait(60) for program in programs] == [0, 0, 0]
    with CallLog.open(path, create=False) as log:
        assert len(log.lines()) == 45
        assert log.summary()[0].calls == 60


def test_a_file_that_is_not_a_log_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look at" * 30, "utf-8")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(StoreCorrupt) as caught:
            CallLog.open(path)
        assert "--calls" in str(caught.value.hint)
        assert path.read_bytes() == before


def test_a_log_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    CallLog.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreTooNew):
        CallLog.open(path)


def test_looking_does_not_make_a_log(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no log of calls"):
        CallLog.open(tmp_path / "calls.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_the_log_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        CallLog.open(tmp_path)


def test_the_log_lies_beside_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRAG_STORE", str(tmp_path / "s.db"))
    assert default_calls_path() == tmp_path / "calls.db"
    monkeypatch.setenv("ABSTRAG_CALLS", str(tmp_path / "c.db"))
    assert default_calls_path() == tmp_path / "c.db"


def test_a_recording_is_what_the_log_holds_and_reads_back(tmp_path: Path, log: CallLog) -> None:
    for n in range(120):
        log.add(call(request(f"Ångström {n}\u2028")), [])
    log.add(call(request("failed"), error="no", value=None), [])
    file = tmp_path / "recording.jsonl"
    assert save(log.calls(), file) == 120
    first = file.read_bytes()
    assert len(first.splitlines()) == 120
    assert Recording.load(file).calls == {one.id: one for one in log.calls()}
    save(log.calls(), file)
    assert file.read_bytes() == first  # the same calls, the same bytes
    assert [p.name for p in tmp_path.iterdir() if p.suffix != ".jsonl"] == ["deep"]


def test_a_broken_recording_says_which_line(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    file.write_text(to_json(call()) + "\n\n" + json.dumps({"id": "x"}) + "\n", "utf-8")
    with pytest.raises(InputError, match="line 3"):
        Recording.load(file)
    with pytest.raises(FileMissing):
        Recording.load(tmp_path / "gone.jsonl")


def test_equal_questions_have_equal_ids_and_others_have_others() -> None:
    plain = call_id("m", request())
    assert plain == call_id("m", request(role=CallRole.INDEX, stage="elsewhere"))
    assert plain == call_id("m", request(temperature=0))
    others = [
        call_id("n", request()),
        call_id("m", request("else")),
        call_id("m", request(system="else")),
        call_id("m", request(schema=None)),
        call_id("m", request(temperature=0.3)),
        call_id("m", request(sample=1)),
        call_id("m", request(max_tokens=51)),
        call_id("m", request("\ud800")),
    ]
    assert len({plain, *others}) == len(others) + 1
