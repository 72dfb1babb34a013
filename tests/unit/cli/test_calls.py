"""`abstrag calls`, and the options that connect a command to a model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from abstrag.cli.calls import calls_command
from abstrag.cli.options import LlmOptions, llm_options, print_estimate, print_ledger
from abstrag.errors import InputError, NotRecorded, StoreError
from abstrag.llm.log import CallLog, Recording, default_calls_path
from abstrag.llm.model import CallRole
from tests.unit.llm.faulty import says, serving
from tests.unit.llm.makers import request
from tests.unit.llm.test_log import WIRE, call


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    for name in ("ABSTRAG_LLM", "ABSTRAG_BASE_URL", "OPENAI_BASE_URL", "ABSTRAG_CALLS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def filled() -> None:
    with CallLog.open(default_calls_path()) as log:
        log.add(call(request("1")), WIRE)
        log.add(
            replace(call(request("2")), error="no reply [at all]", value=None, raw=""), WIRE[:1]
        )
        log.find(call(request("1")).id)


def run(*arguments: str, command: Any = calls_command) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("filled")
def test_calls_are_summed_up_by_role() -> None:
    (judge,) = json.loads(run("--json"))
    assert judge["role"] == "judge"
    assert (judge["calls"], judge["cached"], judge["faults"], judge["failed"]) == (1, 1, 2, 1)
    assert (judge["tokens_in"], judge["tokens_out"], judge["cost"]) == (10, 5, 0.25)
    heading, row = run().splitlines()
    assert heading.split() == (
        "role calls cached faults failed tokens in tokens out $ p50 p95".split()
    )
    assert row.split() == [
        "judge",
        "1",
        "1",
        "2",
        "1",
        "10",
        "5",
        "0.2500",
        *"0.50 s 0.50 s".split(),
    ]


@pytest.mark.usefixtures("filled")
def test_calls_are_listed() -> None:
    lines = json.loads(run("list", "--json"))
    assert {line["error"] for line in lines} == {None, "no reply [at all]"}
    assert len(json.loads(run("list", "--failed", "--json"))) == 1
    assert len(json.loads(run("list", "-n", "1", "--json"))) == 1
    assert json.loads(run("list", "--role", "answer", "--json")) == []
    assert f"{call(request('2')).id} failed: no reply [at all]" in run("list")
    assert run("list", "--role", "answer").strip() == "no calls"


@pytest.mark.usefixtures("filled")
def test_a_call_is_shown_whole() -> None:
    kept = call(request("1"))
    shown = run("show", kept.id[:6])
    for part in (kept.id, "You count.", "a note", "status 429", '{"n": 3}', "json_schema"):
        assert part in shown
    data = json.loads(run("show", kept.id, "--json"))
    assert data["value"] == {"n": 3}
    assert [one["outcome"] for one in data["exchanges"]] == ["status 429", "ok"]
    assert "failed: no reply [at all]" in run("show", call(request("2")).id)


@pytest.mark.usefixtures("filled")
def test_an_export_is_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "out" / "calls.jsonl"
    assert json.loads(run("export", str(file), "--json"))["calls"] == 1
    assert list(Recording.load(file).calls) == [call(request("1")).id]
    assert "1 calls in" in run("export", str(file))


def test_another_log_can_be_named_before_or_after_the_verb(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with CallLog.open(path) as log:
        log.add(call(), WIRE)
    assert len(json.loads(run("--calls", str(path), "list", "--json"))) == 1
    assert len(json.loads(run("list", "--calls", str(path), "--json"))) == 1
    with CallLog.open(tmp_path / "empty.db"):
        pass
    assert run("--calls", str(tmp_path / "empty.db")).strip() == "no calls yet"


@click.command()
@llm_options
def probe(models_options: LlmOptions) -> None:
    """Ask one question, or say what it would cost."""
    models = models_options.connect()
    if models is None:
        click.echo("local")
        return
    with models:
        if models_options.dry_run:
            print_estimate(models.estimate([request()]))
            return
        click.echo(models[CallRole.JUDGE].complete(request()).value["n"])
        print_ledger(models.ledger())


def test_without_options_a_command_is_local() -> None:
    assert run(command=probe) == "local\n"


def test_a_command_asks_the_model_it_is_told_to_ask(tmp_path: Path) -> None:
    with serving(says({"n": 4})) as server:
        arguments = ["--llm", "m", "--base-url", server.url]
        dry = run(*arguments, "--dry-run", command=probe)
        assert dry.startswith("dry run, nothing was asked: about 1 call,")
        assert server.bodies == []
        assert run(*arguments, command=probe) == (
            "4\nmodels: 1 calls · 0 from the log · 10 + 5 tokens · $0.0000\n"
        )
        assert run(*arguments, command=probe) == (
            "4\nmodels: 0 calls · 1 from the log · 0 + 0 tokens · $0.0000\n"
        )
        assert len(server.bodies) == 1
        result = CliRunner().invoke(probe, [*arguments, "--calls", "new.db", "--max-calls", "0"])
        assert type(result.exception).__name__ == "OverBudget"
    run("export", "calls.jsonl")
    assert run("--replay", "calls.jsonl", command=probe).startswith("4\n")
    missed = CliRunner().invoke(probe, ["--replay", "calls.jsonl", "--llm", "other"])
    assert isinstance(missed.exception, NotRecorded)


def test_a_cap_on_the_cost_of_an_unknown_price_is_refused() -> None:
    result = CliRunner().invoke(probe, ["--llm", "m", "--max-cost", "1"])
    assert isinstance(result.exception, InputError)
    assert "price" in str(result.exception)


def test_a_config_file_is_read_when_it_is_named(tmp_path: Path) -> None:
    with serving(says({"n": 4})) as server:
        file = tmp_path / "mine.toml"
        file.write_text(f'[llm.roles.judge]\nmodel = "m"\nbase_url = "{server.url}"', "utf-8")
        assert run("--llm-config", str(file), command=probe).startswith("4\n")


def test_who_never_asked_a_model_has_no_calls_and_no_error(tmp_path: Path) -> None:
    assert run().strip() == "no calls yet"
    assert json.loads(run("--json")) == []
    assert run("list").strip() == "no calls"
    with pytest.raises(StoreError, match="no log of calls"):
        run("--calls", str(tmp_path / "nowhere.db"))
