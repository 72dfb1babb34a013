"""The options about workers, as a person meets them."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.cli.refine import refine_command
from abstrag.policy.store import PolicyStore
from tests.unit.cli.command_line import run
from tests.unit.engine.folders import rows, write
from tests.unit.refine.harbour import LOCK, SEWAGE, TEXT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    for number in range(45):
        write(made / f"note{number:02}.txt", f"Pier {number} was mended.")
    write(made / "broken.txt", "\x89PNG\r\n")
    return made


def test_a_folder_is_indexed_side_by_side_and_summed_up(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    code, out, err = run(capsys, "index", folder, "--store", one, "--workers", 1)
    assert code == 16
    assert "45 new, 1 failed" in out
    assert "broken.txt" in err
    limited = ("--workers", 2, "--time-limit", 600)
    code, out, _ = run(capsys, "index", folder, "--store", two, *limited, "--json")
    assert code == 16
    assert len(json.loads(out)["outcomes"]) == 46
    assert rows(one) == rows(two)
    _, out, _ = run(capsys, "index", folder, "--store", two)
    assert "45 unchanged, 1 failed" in out


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--address", "127.0.0.1:1"), "--address is that of a Ray cluster"),
        (("--llm", "m", "--base-url", "http://127.0.0.1:1/v1", "--workers", 2), "budget is kept"),
        (("--llm", "m", "--base-url", "http://127.0.0.1:1/v1", "--engine", "ray"), "--engine ray"),
        (
            ("--llm", "m", "--base-url", "http://127.0.0.1:1/v1", "--time-limit", 5),
            "with a model there are none",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: tuple[object, ...], why: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "index", folder, *options)
    assert code == 2
    assert why in err


def test_documents_are_refined_side_by_side_as_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {
        "one.md": TEXT,
        "same.md": TEXT,  # shares its patches with the first
        "other.md": TEXT.replace("2023", "2024"),
    }
    for name, text in texts.items():
        write(tmp_path / name, text)
    episodes = tmp_path / "episodes.jsonl"
    lines = [{"target": str(tmp_path / n), "query": q} for q in (SEWAGE, LOCK) for n in texts]
    episodes.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def refined(name: str, *more: object) -> tuple[Any, list[Any]]:
        policy = tmp_path / f"policy-{name}"
        words = ["--episodes", episodes, "--evaluator", "overlap", "--no-judge", "--json"]
        words += ["--policy", policy, "--store", tmp_path / f"{name}.db", *more]
        refine_command.main([str(word) for word in words], standalone_mode=False)
        log = [
            (e.kind, e.accepted, e.reason, e.payload) for e in PolicyStore.open(policy).entries()
        ]
        return json.loads(capsys.readouterr().out), log

    alone, together = refined("alone"), refined("together", "--workers", 2)
    assert together == alone
    assert len(alone[1]) > 0
    assert rows(tmp_path / "alone.db")["documents"] == rows(tmp_path / "together.db")["documents"]


def test_workers_need_several_documents(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "refine", "report.md", "Who paid?", "--workers", 2)
    assert code == 2
    assert "several workers need several documents" in err
