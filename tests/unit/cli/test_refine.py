"""`abstrag refine` and `abstrag demo refine` as a person meets them."""

import json
from pathlib import Path

import pytest

from abstrag.cli.refine import refine_command
from abstrag.errors import AbstragError
from abstrag.workspace.tour import EVIDENCE, FAILING, PROFITING, tour, tour_workspace
from tests.unit.cli.command_line import run
from tests.unit.refine.harbour import EMPLOYEE, LOCK, SEWAGE, TEXT, evaluator


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))
    return tmp_path / "policy"


def refine(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """Run the command by itself, with an evaluator that needs no weights."""
    words = [str(a) for a in ("--evaluator", "overlap", "--preset", "smooth", *args)]
    refine_command.main(words, standalone_mode=False)
    return capsys.readouterr().out


def test_the_loop_is_shown_step_by_step(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "abstrag.workspace.refining.packaged_evaluator", lambda *_, **__: evaluator()
    )
    shown = refine(capsys, report, SEWAGE)
    for line in (
        "failed   the first 3 hits do not hold evidence",
        "why      the evidence s5",
        "where    stage map: concept “sewage” is not met",
        "✓ accepted alias wastewater → sewage",
        "licence model: cosine 0.75",
        "✓ s5 Untreated wastewater",
        "ended: the critic accepts",
    ):
        assert line in shown
    assert "nothing to refine" in refine(capsys, report, LOCK)
    shown = refine(capsys, report, EMPLOYEE, "--forget")
    assert "✗ refused  role rule worker → employee" in shown
    assert "spreads out" in shown
    assert "ended: fixed point" in shown


def test_every_step_and_both_rankings_are_in_the_json(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(refine(capsys, report, LOCK, "--gold", "s7", "--gold", "s15", "--json"))
    assert {"steps", "before", "after", "accepted", "reason", "end", "patches"} <= made.keys()
    assert made["before"]["hits"][0]["segment"] == "s7"
    assert made["steps"]
    for step in made["steps"]:
        assert step["failure"]["diagnosis"]["reading"]
        assert step["localization"]["stage"] in ("context", "map", "event", "query")
        for attempt in step["attempts"]:
            assert attempt["verdict"]["accepted"] or attempt["verdict"]["reasons"]


def test_episodes_are_refined_document_by_document(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"target": str(report), "query": LOCK, "gold": ["s7"]},
        {"target": str(report), "query": SEWAGE, "gold": ["s5"]},
    ]
    path = tmp_path / "episodes.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    (made,) = json.loads(refine(capsys, "--episodes", path, "--json"))
    assert made["episodes"] == 2
    assert made["potential_after"][0] == 2
    shown = refine(capsys, "--episodes", path)
    assert "2 → 2 of 2 queries solved" in shown


def test_what_is_kept_is_in_force_and_can_be_taken_back(
    report: Path, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = json.loads(refine(capsys, report, SEWAGE, "--gold", "s5", "--forget", "--json"))
    assert not (policy / "log.jsonl").exists()
    made = json.loads(refine(capsys, report, SEWAGE, "--gold", "s5", "--json"))
    again = json.loads(refine(capsys, report, SEWAGE, "--gold", "s5", "--json"))
    assert plain["state_before"] == made["state_before"]
    assert again["state_before"] == made["state_after"]


def test_a_dry_run_asks_nothing_and_says_so(
    report: Path, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "nothing was asked" in refine(capsys, report, LOCK, "--dry-run", "--llm", "none")
    told = json.loads(refine(capsys, report, LOCK, "--dry-run", "--llm", "none", "--json"))
    assert told["estimate"]["calls"] == 0
    assert not policy.exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "needs a TARGET and a QUERY"),
        (("report.md",), "needs a TARGET and a QUERY"),
        (("--episodes", "x.jsonl", "report.md"), "names its targets itself"),
        (("--episodes", "nowhere.jsonl"), "no episode file"),
    ],
)
def test_wrong_usage_is_said_in_one_sentence(
    args: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AbstragError, match=said):
        refine(capsys, *args)


def test_the_tour_shows_all_it_promises(tmp_path: Path) -> None:
    with tour_workspace(tmp_path) as workspace:
        shown = tour(workspace)
    texts = [hit.text for hit in shown.refined.before.hits]
    assert EVIDENCE[FAILING] not in texts
    assert EVIDENCE[FAILING] in [hit.text for hit in shown.refined.after.hits]
    assert EVIDENCE[PROFITING] not in [hit.text for hit in shown.second_before.hits]
    assert EVIDENCE[PROFITING] in [hit.text for hit in shown.second.hits]
    reasons = [a.verdict.reasons for step in shown.refused.steps for a in step.attempts]
    assert reasons
    assert "spreads out" in reasons[0][0]
    assert all(
        "spreads out" in why or "it solves nothing" in why for some in reasons for why in some
    )
    assert shown.exact
    assert shown.reverted == shown.refined.before


def test_demo_refine_prints_the_tour_and_keeps_nothing(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "demo", "refine")
    assert code == 0
    for line in (
        "✓ accepted alias wastewater → sewage",
        "not among the first 10 before the patch, at rank",
        "spreads out: compression",
        "state and ranking are exactly as they were",
    ):
        assert line in out
    assert not policy.exists()


def test_demo_feedback_needs_no_answer_key_and_undoes_all_it_did(
    capsys: pytest.CaptureFixture[str], policy: Path
) -> None:
    code, out, _ = run(capsys, "demo", "feedback")
    assert code == 0
    assert "nobody has marked any answer" in out
    assert "probably not in this document" in out
    assert "“worker” for “employee” costs at most 0.35" in out
    assert "exactly as it was" in out
    assert not policy.exists()
