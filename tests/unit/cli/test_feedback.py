"""`abstrag feedback` as a person meets it."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.command_line import run
from tests.unit.refine.harbour import SEWAGE, TEXT


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))
    monkeypatch.setenv("ABSTRAG_STORE", str(tmp_path / "library.db"))
    path = tmp_path / "harbour.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_refused_step_is_shown_logged_and_taken_back(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--good", "s5", "--bad", "s1", "--wrong", "sewage=wastewater")
    code, out, _ = run(capsys, "feedback", report, SEWAGE, *words)
    assert code == 0
    assert "1 good, 1 bad" in out
    assert "“wastewater” for “sewage” costs at least 4" in out
    name = out.split("in force")[1].split()[0]
    _, log, _ = run(capsys, "policy", "log")
    assert "feedback" in log
    assert "a person said so" in log
    _, voted, _ = run(capsys, "policy", "blame", "lessons")
    assert "candidate" in voted
    assert f"harbour: {SEWAGE} ({name})" in voted
    code, taken, _ = run(capsys, "policy", "revert", name)
    assert code == 0
    assert "taken back" in taken


def test_feedback_as_json_and_as_a_pack(
    report: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, out, _ = run(capsys, "feedback", report, SEWAGE, "--good", "s5", "--json")
    told = json.loads(out)
    assert told["noted"]["feedback"]["good"] == ["s5"]
    assert told["lessons"] == []
    path = tmp_path / "said.jsonl"
    code, out, _ = run(capsys, "feedback", "--export", path)
    assert code == 0
    document, case = map(json.loads, path.read_text("utf-8").splitlines())
    assert document["segments"][case["gold"][0]].startswith("Untreated wastewater")


def test_feedback_that_says_nothing_is_refused(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "feedback", report, SEWAGE)
    assert code == 2
    assert "feedback says nothing" in err
