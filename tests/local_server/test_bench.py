"""The paper's table against a real model over HTTP: ended half-way, gone on with, and replayed."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.cli.main import main
from tests.local_server.brevity import brief_policy
from tests.local_server.server import LocalServer
from tests.unit.bench.makers import write_plain

SYSTEMS = "abstrag-llm-no-index,abstrag-llm-cheap,hyde,ircot,self-rag,crag"
TIMES = ("seconds", "index_seconds")


def run(*arguments: object) -> int:
    try:
        main([str(one) for one in arguments])
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def records(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a run without what a clock says."""
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    return [{k: v for k, v in one.items() if k not in TIMES} for one in lines]


def test_a_run_that_was_ended_goes_on_and_is_replayed_without_a_call(
    local_server: LocalServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    variables = {
        **local_server.environment(tmp_path, reply_tokens=48),
        "ABSTRAG_POLICY": str(brief_policy(tmp_path / "policy")),
        "ABSTRAG_CALLS": str(tmp_path / "calls.db"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    write_plain(tmp_path / "dev.jsonl", 1)
    table = ("bench", "run", "--dataset", "plain", "--data", tmp_path, "--split", "dev")
    live, again = tmp_path / "live", tmp_path / "again"
    spent = run(*table, "--systems", SYSTEMS, "--out", live, "--max-calls", 5)
    assert spent == 22  # the budget ends it with what is finished kept
    assert run(*table, "--systems", SYSTEMS, "--out", live) == 0
    made = records(live)
    assert len(made) == 2 * len(SYSTEMS.split(","))
    recording = tmp_path / "calls.jsonl"
    assert run("calls", "export", recording) == 0
    capsys.readouterr()
    assert run(*table, "--systems", SYSTEMS, "--out", again, "--replay", recording) == 0
    assert "models: 0 calls" in "".join(capsys.readouterr())
    told = records(again)
    assert [one["error"] is None for one in told] == [one["error"] is None for one in made]
    # a call that failed is not in the recording, so its error has another wording
    assert [one for one in told if not one["error"]] == [one for one in made if not one["error"]]
