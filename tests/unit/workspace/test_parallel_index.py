"""Workers leave the store that one process leaves: row for row, whoever is killed on the way."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.library import Library
from abstrag.engine.source_files import IndexOutcome
from abstrag.errors import FileMissing, StoreError
from abstrag.stores.sqlite import SqliteStore
from abstrag.workers.processes import Processes
from abstrag.workspace import many_files
from abstrag.workspace.many_files import IndexTask, index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.upkeep import made_by_workers, prepare
from abstrag.workspace.workspace import Workspace
from tests.unit.engine.folders import rows, write, write_folder

Rows = dict[str, list[tuple[Any, ...]]]
KILLED = """
import os, signal, sys
from pathlib import Path
from abstrag.engine.library import Library
from abstrag.workspace.many_files import index_many
from abstrag.stores.sqlite import SqliteStore
from abstrag.workers.processes import Processes
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

def killing(self, *args, **kwargs):
    global calls
    calls -= 1
    if not calls:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(self, *args, **kwargs)

if __name__ == "__main__":
    folder, path, method, calls = sys.argv[1:]
    folder, path, calls = Path(folder), Path(path), int(calls)
    original = getattr(SqliteStore, method)
    setattr(SqliteStore, method, killing)
    with Workspace(WorkspaceConfig(path)) as workspace:
        for outcome in index_many(workspace, [folder], Processes(2)):
            print(outcome.status, flush=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("harbour")
    write_folder(made)
    return made


@pytest.fixture(scope="module")
def alone(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[IndexOutcome], Rows]:
    """What one process makes of the folder."""
    path = tmp_path_factory.mktemp("alone") / "store.db"
    with SqliteStore.open(path) as store:
        outcomes = list(Library(store).index_paths([folder]))
    return outcomes, rows(path)


def together(path: Path, folder: Path, workers: int = 2, few: int = 0) -> Iterator[IndexOutcome]:
    with Workspace(WorkspaceConfig(path)) as workspace:
        yield from index_many(workspace, [folder], Processes(workers), few=few)


def test_namesakes_are_called_by_their_place_in_the_listing(
    alone: tuple[list[IndexOutcome], Rows],
) -> None:
    names = {Path(o.path).parent.name: o.document for o in alone[0] if "report" in o.path}
    own = next(o.document for o in alone[0] if o.path.endswith("own.json"))
    assert names["east"] == "report"  # it is listed first
    assert str(names["west"]).startswith("report-")
    assert str(own).startswith("report-")
    assert own != names["west"]


@pytest.mark.parametrize("few", [0, 100])
def test_two_workers_leave_the_same_rows_and_say_the_same(
    few: int, folder: Path, alone: tuple[list[IndexOutcome], Rows], tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    assert list(together(path, folder, few=few)) == alone[0]
    assert rows(path) == alone[1]
    again = list(together(path, folder))
    assert {o.status for o in again} == {"unchanged", "failed"}
    assert rows(path) == alone[1]


def test_a_killed_worker_changes_nothing(
    folder: Path,
    alone: tuple[list[IndexOutcome], Rows],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(many_files, "TOGETHER", 1)  # told one by one, while workers are at work
    path = tmp_path / "store.db"
    outcomes = []
    for outcome in together(path, folder):
        outcomes.append(outcome)
        if len(outcomes) in (2, 5):
            child = multiprocessing.active_children()[0]
            assert child.pid is not None
            os.kill(child.pid, signal.SIGKILL)
    assert outcomes == alone[0]
    assert rows(path) == alone[1]


@pytest.mark.parametrize(("method", "calls"), [("put_prepared", 4), ("put_layers", 4)])
def test_a_run_that_is_killed_goes_on_to_the_same_store(
    method: str, calls: int, folder: Path, alone: tuple[list[IndexOutcome], Rows], tmp_path: Path
) -> None:
    path, script = tmp_path / "store.db", tmp_path / "script.py"
    script.write_text(KILLED)
    words = [sys.executable, str(script), str(folder), str(path), method, str(calls)]
    run = subprocess.run(words, check=False, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL
    with SqliteStore.open(path) as store:
        left = len(store.documents())
        assert run.stdout.split().count("indexed") <= left <= 3
        outcomes = list(Library(store).index_paths([folder]))
    assert sum(o.status == "unchanged" for o in outcomes) == left
    assert rows(path) == alone[1]


def test_workers_prepare_the_search_over_all_as_one_process_does(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write_folder(folder, 3 * 16 + 3)
    found = []
    for name, engine in (("alone", None), ("together", Processes(2))):
        with Workspace(WorkspaceConfig(tmp_path / name / "store.db")) as workspace:
            list(workspace.library.index_paths([folder]))
            make = None if engine is None else made_by_workers(workspace, engine)
            told: list[tuple[int, int]] = []
            made = prepare(workspace, lambda *far, told=told: told.append(far), make)
            assert told[0] == (0, made)
            assert told[-1] == (made, made)
            assert prepare(workspace) == 0
        files = sorted((tmp_path / name).rglob("*.shelf"))
        found.append((rows(tmp_path / name / "store.db"), [file.read_bytes() for file in files]))
    assert found[0] == found[1]


def test_workers_make_a_file_ready_for_search_while_its_index_is_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    write_folder(folder, 3)
    write(folder / "long.md", "# Long\n\n" + "The ferry left. The pier stayed. " * 5)
    monkeypatch.setattr(many_files, "AHEAD", 8)  # so that one of them is too long for it
    found, files = [], []
    for name in ("after", "at once"):
        with Workspace(WorkspaceConfig(tmp_path / name / "store.db")) as workspace:
            ahead: list[None] = []
            on_ahead = (lambda ahead=ahead: ahead.append(None)) if name == "at once" else None
            outcomes = list(index_many(workspace, [folder], Processes(2), on_ahead=on_ahead))
            made = prepare(workspace)
            indexed = len(workspace.documents())
            assert len(ahead) + made == indexed
            assert len(ahead) == (0 if on_ahead is None else indexed - 1)
            assert prepare(workspace) == 0
        kept = rows(tmp_path / name / "store.db")
        found.append((outcomes, {**kept, "layers": sorted(kept["layers"])}))
        beside = tmp_path / name / "store.db.mapped"
        files.append({f.relative_to(beside): f.read_bytes() for f in beside.rglob("*.*")})
    assert found[0] == found[1]
    assert files[0] == files[1]
    assert len(files[0]) == indexed + 1  # the words of each, and what is mapped of all


def test_a_single_document_is_not_made_ready_for_a_search_over_all(tmp_path: Path) -> None:
    write(tmp_path / "notes" / "ferry.md", "# Ferry\n\nThe ferry left.\n")
    ahead: list[None] = []
    with Workspace(WorkspaceConfig(tmp_path / "store.db")) as workspace:
        told = index_many(
            workspace, [tmp_path / "notes"], Processes(1), on_ahead=lambda: ahead.append(None)
        )
        assert [each.status for each in told] == ["indexed"]
    assert ahead == []


def test_only_what_changed_is_done_again(tmp_path: Path) -> None:
    folder, path = tmp_path / "notes", tmp_path / "store.db"
    files = write_folder(folder, 3)
    list(together(path, folder, few=100))
    write(folder / "note01.md", "# Note 1\n\nThe harbour was closed.\n")
    statuses = {Path(o.path).name: o.status for o in together(path, folder)}
    assert statuses["note01.md"] == "indexed"
    assert [name for name, status in statuses.items() if status == "indexed"] == ["note01.md"]
    assert len(statuses) == len({file.name for file in files})


def test_a_file_that_is_named_twice_is_indexed_once(folder: Path, tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store.db") as store:
        file = folder / "note01.md"
        outcomes = list(Library(store).index_paths([file, folder / "east" / ".." / "note01.md"]))
    assert [o.status for o in outcomes] == ["indexed"]


def test_an_error_nobody_foresaw_is_one_files_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.md", "# A\n\nA crane.\n")
    write(tmp_path / "b.md", "# B\n\nA pier.\n")

    def explode(self: Library, path: Path, name: str) -> Any:
        if path.name == "a.md":
            raise MemoryError("too much")
        return original(self, path, name)

    original = Library._load
    monkeypatch.setattr(Library, "_load", explode)
    with SqliteStore.open(tmp_path / "store.db") as store:
        first, second = Library(store).index_paths([tmp_path])
    assert (first.status, first.exit_code) == ("failed", 1)
    assert "MemoryError: too much (test_parallel_index.py:" in str(first.error)
    assert second.status == "indexed"


def test_a_worker_elsewhere_says_what_it_cannot_reach(tmp_path: Path) -> None:
    config = WorkspaceConfig(tmp_path / "store.db")
    here = IndexTask(config, "another-machine", "/nowhere/a.md")
    with pytest.raises(StoreError, match="SQLite files are not shared between machines"):
        here.start()
    with pytest.raises(FileMissing, match="does not see '/nowhere/a"):
        replace(here, config=WorkspaceConfig("postgresql://u@h/d")).start()


def test_one_worker_for_few_files_tells_which_file_and_step_it_is_at(tmp_path: Path) -> None:
    folder, told = tmp_path / "notes", list[str]()
    for name in ("ferry.md", "pier.md"):
        write(folder / name, f"# {name}\n\nThe {name} was mended in 2021.\n")
    with Workspace(WorkspaceConfig(tmp_path / "store.db")) as workspace:
        found = index_many(
            workspace,
            [folder],
            Processes(2),
            library=workspace.indexing(told.append),
            few=9,
            on_file=lambda path: told.append(path.name),
        )
        assert {o.status for o in found} == {"indexed"}
    begun = told[2:]  # both were looked at first
    assert begun[:2] == ["ferry.md", "segment"]
    assert begun[len(begun) // 2 :][:2] == ["pier.md", "segment"]
