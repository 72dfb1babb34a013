"""Ray with two nodes on this machine: a worker and a node are lost, the store is the same."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.library import Library
from abstrag.errors import ResourceMissing, WorkerLost
from abstrag.model.record import to_data
from abstrag.stores.sqlite import SqliteStore
from abstrag.workers.ray import RayCluster
from tests.unit.engine.folders import rows, write_folder
from tests.unit.workers.tasks import Squaring

ROOT = Path(__file__).parents[2]


def test_a_lost_worker_and_a_lost_node_change_nothing(tmp_path: Path) -> None:
    folder, path = tmp_path / "harbour", tmp_path / "cluster.db"
    write_folder(folder, 20)
    with SqliteStore.open(tmp_path / "alone.db") as store:
        alone = [to_data(outcome) for outcome in Library(store).index_paths([folder])]
    told = subprocess.run(
        [sys.executable, "-m", "tests.cluster.scenario", folder, path],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # Ray tells at length who died
        text=True,
        check=True,
    )
    found = json.loads(told.stdout.splitlines()[-1])
    assert found["outcomes"] == alone
    assert rows(path) == rows(tmp_path / "alone.db")
    squares = found["squares"]
    assert (squares["1"], squares["3"], squares["die once"]) == ("1", "9", "alive")
    assert "given up: its worker died twice" in squares["die"]
    assert found["left"] == []


def test_without_ray_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ResourceMissing, match="needs the package ray") as caught:
        next(RayCluster(2).run(Squaring(), [1]))
    assert caught.value.hint == "pip install 'abstrag[ray]'"


@pytest.mark.filterwarnings("ignore")  # Ray's own, while it is imported
def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def refuse(**_: Any) -> None:
        raise ConnectionError("nobody there\nand a long report")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(WorkerLost) as caught:
        next(RayCluster(1, "127.0.0.1:1").run(Squaring(), [1]))
    assert str(caught.value) == "no Ray cluster answers at '127.0.0.1:1': nobody there"
