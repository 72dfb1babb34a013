"""A disk that takes no notes does not stop the files of a server that wait."""

import time
from pathlib import Path

from abstrag.config import DocumentBudget
from abstrag.errors import AbstragError
from abstrag.server.jobs import IndexingJob, IndexingProcess, Jobs, Watcher
from abstrag.workspace.options import WorkspaceConfig


def _full(_path: Path) -> None:
    raise OSError(28, "No space left on device")


def _full_for(_path: Path, _why: str) -> AbstragError:
    raise OSError(28, "No space left on device")


def _ended(jobs: Jobs, name: str) -> IndexingJob:
    while not (job := jobs.get(name)).state.over:
        time.sleep(0.02)
    return job


def test_jobs_go_on_when_nothing_can_be_noted_about_them(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text(f"# Pier {number}\n\nThe port leased it.\n")
    jobs = Jobs(
        tmp_path / "store.db",
        waiting=8,
        max_bytes=10_000,
        budget=DocumentBudget(),
        watcher=Watcher(began=_full, ended=_full, failed=_full, set_aside=_full_for),
    )
    try:
        given = [jobs.submit(tmp_path / f"{number}.md") for number in range(3)]
        assert [_ended(jobs, job.job).state for job in given] == ["done", "done", "done"]
    finally:
        jobs.close()


def test_a_file_that_cannot_be_set_aside_has_still_failed(tmp_path: Path) -> None:
    file = tmp_path / "long.md"
    file.write_text("The port leased the pier. " * 4000)
    jobs = Jobs(
        tmp_path / "store.db",
        waiting=8,
        max_bytes=1_000_000,
        budget=DocumentBudget(seconds=0.2),
        watcher=Watcher(set_aside=_full_for),
    )
    try:
        assert _ended(jobs, jobs.submit(file).job).state == "failed"
        file.write_text("Short.")
        assert jobs.submit(file).state == "queued"
    finally:
        jobs.close()


def test_a_worker_that_died_while_it_had_nothing_to_do_costs_no_file(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"{number}.md").write_text(f"# Pier {number}\n\nThe port leased it.\n")
    config = WorkspaceConfig(tmp_path / "store.db", budget=DocumentBudget())
    process = IndexingProcess(config)
    try:
        for number in range(2):
            *_, last = process.index(tmp_path / f"{number}.md")
            assert last == {"document": str(number)}
            process.kill()
    finally:
        process.close()
