"""`abstrag policy`: what a person sees of the store, and the exit codes a team builds on."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from abstrag.cli.policy import policy_command
from abstrag.errors import PolicyError, Regression
from abstrag.model.patch import Alias, Patch, Stage
from abstrag.model.record import to_data
from abstrag.model.term import Licence, LicenceKind
from abstrag.policy.store import PolicyStore
from abstrag.refine.gate import ReplayedCase, ReplayReport
from abstrag.workspace import lessons as workspace_replay
from abstrag.workspace.workspace import Workspace
from tests.unit.policy.samples import (
    OTHER_RULE,
    RULE,
    STAGE,
    main_path,
    opened,
    promoted,
    rule,
    vote,
    write_by_hand,
)

PATCH = Patch(
    stage=Stage.MAP,
    delta=Alias("entity:acme", "entity:acme corporation", 0.2),
    licence=Licence(LicenceKind.TEXT, "Acme (the Corporation)"),
    cost=0.55,
)


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    """Return a store with a promoted rule, a refused one, and a candidate."""
    made = opened(tmp_path / "policy", "default")
    promoted(made)
    vote(made, rule("Return YAML only."), "c4")
    vote(made, rule(OTHER_RULE), "c5")
    return made


def run(store: PolicyStore, *args: object) -> Result:
    name, *rest = [str(arg) for arg in args]
    return CliRunner().invoke(policy_command, [name, "--policy", str(store.root), *rest])


def data(store: PolicyStore, *args: object) -> Any:
    result = run(store, *args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def log_patch(store: PolicyStore) -> None:
    payload = {
        "action": "apply",
        "document": "0" * 64,
        "name": "doc",
        "query": "Who bought it?",
        "gold": [],
        "id": PATCH.id,
        "patch": to_data(PATCH),
        "said": "",
    }
    store.audit(payload, accepted=True, reason="nothing got worse", case="c8")


def test_list_shows_what_is_on_its_way(store: PolicyStore) -> None:
    shown = run(store, "list").stdout
    (line,) = [one for one in shown.splitlines() if one.startswith(STAGE)]
    assert "differs from the baseline" in line
    rows = {row["program"]: row for row in data(store, "list")["programs"]}
    assert rows[STAGE]["candidates"] == 1
    assert rows[STAGE]["changed"]
    assert not rows["critic"]["editable"]
    assert len(rows) == 25


def test_log_shows_what_was_refused_and_why(store: PolicyStore) -> None:
    shown = run(store, "log").stdout
    assert "✗" in shown
    assert "Return YAML only." in shown
    assert "it asks for another format" in shown
    refused = data(store, "log", "--rejected")
    assert [entry["payload"]["text"] for entry in refused] == ["Return YAML only."]
    assert len(data(store, "log", "-n", 2)) == 2
    assert data(store, "log", "--program", "align_events") == []
    assert data(store, "log", "--family", "legal") == []


def test_what_a_document_wrote_cannot_steer_the_terminal(store: PolicyStore) -> None:
    vote(store, rule("\x1b[2J[red]All is well.[/]"), "c4")
    shown = run(store, "log").stdout
    assert "\x1b" not in shown
    assert "[2J[red]All is well.[/]" in shown


def test_diff_shows_lines_with_signs(store: PolicyStore) -> None:
    shown = run(store, "diff", STAGE).stdout
    assert f"+ {RULE}" in shown
    assert not any(line.strip().startswith("-") for line in shown.splitlines())
    write_by_hand(store, ["Mine."])
    signs = [(line["sign"], line["text"]) for line in data(store, "diff")["programs"][STAGE]]
    assert signs[-1] == ("+", "Mine.")
    assert {sign for sign, _ in signs[:-1]} == {"-"}


def test_diff_says_when_there_is_none(store: PolicyStore) -> None:
    assert "nothing that the baseline does not say" in run(store, "diff", "critic").stdout


def test_diff_shows_the_patches_in_force(store: PolicyStore) -> None:
    log_patch(store)
    assert "map: alias entity:acme → entity:acme corporation" in run(store, "diff").stdout
    assert [kept["id"] for kept in data(store, "diff")["patches"]] == [PATCH.id]


def test_blame_names_the_cases(store: PolicyStore) -> None:
    shown = run(store, "blame", STAGE).stdout.splitlines()
    below = shown[shown.index(RULE) + 1]
    assert below.strip().endswith("for c1, c2, c3")
    assert {line["origin"] for line in data(store, "blame", STAGE)} == {"shipped", "promoted"}


def test_revert_takes_a_promotion_back(store: PolicyStore) -> None:
    name = store.changes()[0].payload["id"]
    result = run(store, "revert", name)
    assert f"{STAGE} is again what it was before {name}" in result.stdout
    assert not main_path(store).exists()


def test_revert_takes_a_patch_back(store: PolicyStore) -> None:
    log_patch(store)
    result = run(store, "revert", PATCH.id)
    assert "taken back: map: alias" in result.stdout
    assert data(store, "diff")["patches"] == []


def test_revert_of_something_unknown_is_refused(store: PolicyStore) -> None:
    result = run(store, "revert", "nonsense")
    assert isinstance(result.exception, PolicyError)
    assert "'nonsense'" in str(result.exception)


def test_check_is_content_with_a_sound_store(store: PolicyStore) -> None:
    assert "25 programs, 1 family: files, log and backups are sound" in run(store, "check").stdout
    assert data(store, "check") == {"sound": True, "faults": []}


def break_program(store: PolicyStore) -> None:
    main_path(store).write_text('{"rules": 3}')


def break_log(store: PolicyStore) -> None:
    path = store.root / "log.jsonl"
    path.write_text(path.read_text().replace("c2", "c9"))


def break_backup(store: PolicyStore) -> None:
    next(iter((store.root / "default" / ".backup").glob("*.json"))).write_text("{}")


def misname(store: PolicyStore) -> None:
    (store.root / "default" / "criticc.json").write_text("{}")


def cause_conflict(store: PolicyStore) -> None:
    vote(store, rule(OTHER_RULE), "c6", "c7")
    write_by_hand(store, ["Mine."])
    store.promote(lambda _program: ())


@pytest.mark.parametrize(
    ("spoil", "shown"),
    [
        (break_program, "rules: Input should be a valid"),
        (break_log, "the entry was changed"),
        (break_backup, "was changed"),
        (misname, "no program of that name"),
        (cause_conflict, "conflict: add_rule"),
    ],
)
def test_check_finds_what_is_wrong(store: PolicyStore, spoil: Any, shown: str) -> None:
    spoil(store)
    result = run(store, "check")
    assert isinstance(result.exception, PolicyError)
    assert result.exception.exit_code == 24
    assert shown in " ".join(result.stdout.split())


def test_check_with_a_replay_fails_on_a_regression(
    store: PolicyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = tmp_path / "episodes.jsonl"
    episodes.write_text('{"target": "a.md", "query": "Who?"}\n')
    asked: dict[str, Any] = {}
    bad = ReplayedCase("a.md", "Who?", sufficient_before=True, sufficient=False, patches=1)

    def replay_file(path: Path, workspace: Workspace) -> ReplayReport:
        asked.update(root=workspace.patches.root, path=path)
        return ReplayReport(cases)

    monkeypatch.setattr(workspace_replay, "replay_file", replay_file)
    cases: tuple[ReplayedCase, ...] = (bad,)
    result = run(store, "check", "--replay", episodes, "--family", "default")
    assert isinstance(result.exception, Regression)
    assert result.exception.exit_code == 25
    assert "worse  a.md: Who?" in result.stdout
    assert asked["path"] == episodes
    assert asked["root"] == store.root
    cases = ()
    assert run(store, "check", "--replay", episodes).exit_code == 0
