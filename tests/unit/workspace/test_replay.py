"""Episode files, and replaying them against the patches in force."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from abstrag.documents.load import load
from abstrag.engine.refinement import Refiner, local_judges
from abstrag.engine.searcher import Searcher
from abstrag.errors import FileMissing, InputError
from abstrag.indexing.pipeline import index
from abstrag.model.patch import Alias, Stage
from abstrag.model.record import to_data
from abstrag.policy.store import PolicyStore
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.feedback import Episode, read_episodes
from abstrag.refine.patch_log import PatchLog, text_hash
from abstrag.workspace.lessons import replay_file
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.refine.harbour import LOCK, PRESET, SECOND, SEWAGE, TEXT, Labels, evaluator, patch


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def workspace(tmp_path: Path) -> Workspace:
    options = SearchOptions(preset=PRESET)
    return Workspace(WorkspaceConfig(policy=tmp_path / "policy", options=options))


def _file(tmp_path: Path, *rows: Mapping[str, object]) -> Path:
    path = tmp_path / "episodes.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_episodes_are_read_in_order_and_blank_lines_skipped(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        {"target": "a.md", "query": "One?"},
        {"target": "a.md", "query": "Two?", "gold": ["s1"]},
    )
    assert read_episodes(path) == (Episode("a.md", "One?"), Episode("a.md", "Two?", ("s1",)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"target": "a.md"}', "line 1"),
        ('{"target": "a.md", "query": "Q", "golden": []}', "golden"),
        ('{"target": "a", "query": "Q"}\n{"target": "a", "query": "Q"}', "again"),
        ("\n \n", "no episode"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_episodes(path)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_episodes(tmp_path / "nowhere.jsonl")


def test_patches_that_help_are_no_regression(tmp_path: Path, report: Path) -> None:
    searcher = Searcher(index(load(report)), preset=PRESET)
    patch_log = PatchLog(PolicyStore.open(tmp_path / "policy"))
    Refiner(searcher, local_judges(searcher, evaluator()), patch_log=patch_log).refine(SEWAGE)
    rows = [{"target": str(report), "query": query} for query in (SEWAGE, SECOND, LOCK)]
    with workspace(tmp_path) as opened:
        made = replay_file(_file(tmp_path, *rows), opened, evaluator=evaluator())
    assert made.regressions == ()
    assert [(c.sufficient_before, c.sufficient) for c in made.cases] == [
        (False, True),
        (False, True),
        (True, True),
    ]
    assert {case.patches for case in made.cases} == {1}


def test_a_patch_that_costs_a_case_its_evidence_is_found(tmp_path: Path, report: Path) -> None:
    searcher = Searcher(index(load(report)), preset=PRESET)
    patch_log = PatchLog(PolicyStore.open(tmp_path / "policy"))
    harm = patch(Stage.MAP, Alias("concept:tea", "concept:vessel", 0.0))
    payload = {
        "action": "apply",
        "document": text_hash(searcher.index),
        "id": harm.id,
        "patch": to_data(harm),
        "query": "by hand",
    }
    patch_log.store.audit(payload, accepted=True, reason="by hand", case="c")
    vessel = "Is there a vessel?"
    labels = Labels({vessel: "The harbour master counts the boats every morning."})
    episodes = _file(tmp_path, {"target": str(report), "query": vessel})
    with workspace(tmp_path) as opened:
        made = replay_file(episodes, opened, evaluator=Evaluator(labels, k=1))
    assert [case.query for case in made.regressions] == [vessel]


def test_gold_needs_no_judge(tmp_path: Path, report: Path) -> None:
    path = _file(tmp_path, {"target": str(report), "query": LOCK, "gold": ["s7"]})
    with workspace(tmp_path) as opened:
        made = replay_file(path, opened)
    assert [(c.sufficient_before, c.sufficient, c.patches) for c in made.cases] == [(True, True, 0)]
