"""Workers that are real processes: they load once, may be killed, and never outlive the parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from abstrag.errors import WorkerLost
from abstrag.workers.processes import Processes, usual_workers
from abstrag.workers.protocol import LostItem
from tests.unit.workers.tasks import Cores, Squaring, Talking, Unstartable

_CORES = "OPENBLAS_NUM_THREADS"
ROOT = Path(__file__).parents[3]
SCRIPT = """
import multiprocessing
from abstrag.workers.processes import Processes
from tests.unit.workers.tasks import Squaring
if __name__ == "__main__":
    for item, result in Processes(2).run(Squaring(), [1, 2, "hang", "hang"]):
        pids = [child.pid for child in multiprocessing.active_children()]
        print(item, result, *pids, flush=True)
"""


def test_every_item_is_done_and_a_worker_loads_once(tmp_path: Path) -> None:
    done = list(Processes(2).run(Squaring(tmp_path), range(40)))
    assert done == [(n, n * n) for n in range(40)]
    assert 1 <= len(list(tmp_path.iterdir())) <= 2


def test_a_worker_multiplies_on_one_core_unless_the_user_said_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(_CORES, raising=False)
    assert dict(Processes(1).run(Cores(), [_CORES])) == {_CORES: "1"}
    assert _CORES not in os.environ
    monkeypatch.setenv(_CORES, "2")
    assert dict(Processes(1).run(Cores(), [_CORES])) == {_CORES: "2"}


def test_a_killed_worker_costs_its_item_at_most(tmp_path: Path) -> None:
    items = [1, "die once", 2, "die", 3]
    results = dict(Processes(2).run(Squaring(tmp_path), items))
    assert (results[1], results[2], results[3]) == (1, 4, 9)
    assert results["die once"] == "alive"
    lost = results["die"]
    assert isinstance(lost, LostItem)
    assert "died twice, the second time by SIGKILL" in str(lost.error)


def test_what_a_worker_tells_of_an_item_is_heard_before_it_is_done() -> None:
    heard: list[tuple[object, object]] = []
    engine = Processes(1, on_told=lambda item, told: heard.append((item, told)))
    told = [(item, result, len(heard)) for item, result in engine.run(Talking(), ["a", "b"])]
    assert [(item, result) for item, result, _ in told] == [("a", "A"), ("b", "B")]
    assert told[0][2] >= 2
    assert heard == [("a", "half"), ("a", "all"), ("b", "half"), ("b", "all")]
    assert Talking().perform("c") == "C"  # nobody hears it here


def test_an_item_that_hangs_is_given_up() -> None:
    results = dict(Processes(1, time_limit=2).run(Squaring(), ["hang", 5]))
    assert isinstance(results["hang"], LostItem)
    assert results[5] == 25


def test_an_item_over_its_processor_time_is_given_up_at_once(tmp_path: Path) -> None:
    results = dict(Processes(1).run(Squaring(tmp_path), ["spin", 5]))
    assert isinstance(results["spin"], LostItem)
    assert "MAX_CPU_SECONDS" in results["spin"].why
    assert results[5] == 25
    assert len(list(tmp_path.iterdir())) == 2  # the worker it ended, and the next


def test_an_item_over_its_memory_is_given_up_at_once(tmp_path: Path) -> None:
    results = dict(Processes(1).run(Squaring(tmp_path), ["eat", 5]))
    assert isinstance(results["eat"], LostItem)
    assert "MAX_MEMORY_BYTES" in results["eat"].why
    assert results[5] == 25
    assert len(list(tmp_path.iterdir())) == 2


def test_an_error_comes_home_with_the_place_it_was_raised() -> None:
    with pytest.raises(WorkerLost, match="a worker raised Odd: 3") as caught:
        list(Processes(1).run(Squaring(), ["raise"]))
    assert "tasks.py" in caught.value.__notes__[0]
    with pytest.raises(Exception, match="lambda"):
        list(Processes(1).run(Squaring(), ["function"]))
    with pytest.raises(FileNotFoundError, match="no such model"):
        list(Processes(2).run(Unstartable(), [1, 2]))


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_nobody_outlives_the_parent(tmp_path: Path, end: signal.Signals) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    parent = subprocess.Popen(
        [sys.executable, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    _, result, *workers = parent.stdout.readline().split()
    assert (result, len(workers)) == ("4", 2)
    if end is signal.SIGINT:
        os.killpg(parent.pid, end)  # as a terminal does: everybody gets it
    else:
        parent.kill()
    _, errors = parent.communicate(timeout=120)
    assert parent.returncode == -end
    assert errors.count("Traceback") == (end is signal.SIGINT), "a worker took the interrupt"
    deadline = time.monotonic() + 60
    while any(running(int(pid)) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(running(int(pid)) for pid in workers)


def running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_machine_gets_a_few_workers_by_itself() -> None:
    assert 1 <= usual_workers() <= 4
