"""A document that costs too much is ended, set aside and not tried again; the others are done."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from abstrag.cli.main import cli
from abstrag.config import DocumentBudget
from abstrag.errors import TooCostly
from abstrag.workers.processes import Processes
from abstrag.workspace.many_files import index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

LITTLE = DocumentBudget(memory_bytes=64 * 2**20)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    said = "In {n}, the council of town {n} asked firm {n} to build bridge {n} over the river.\n\n"
    (folder / "large.txt").write_text("".join(said.format(n=1000 + n) for n in range(4000)))
    (folder / "small.txt").write_text("The harbour was built in 1901.")
    return folder


def outcomes(texts: Path, store: Path, budget: DocumentBudget) -> dict[str, tuple[str, int, str]]:
    with Workspace(WorkspaceConfig(store, budget=budget)) as workspace:
        made = index_many(workspace, [texts], Processes(1, time_limit=budget.seconds))
        return {Path(o.path).stem: (o.status, o.exit_code, o.error or "") for o in made}


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (LITTLE, "MAX_MEMORY_BYTES"),
        (DocumentBudget(cpu_seconds=0.5), "MAX_CPU_SECONDS"),
        (DocumentBudget(seconds=3.0), "MAX_SECONDS"),
    ],
)
def test_each_limit_ends_the_large_file_and_names_itself(
    texts: Path, tmp_path: Path, budget: DocumentBudget, limit: str
) -> None:
    store = tmp_path / "store.db"
    first = outcomes(texts, store, budget)
    status, code, why = first["large"]
    assert (status, code) == ("failed", TooCostly.exit_code)
    assert limit in why
    assert first["small"][0] == "indexed"
    again = outcomes(texts, store, DocumentBudget())
    assert again["large"] == first["large"]  # under any budget: only --retry frees it
    assert again["small"][0] == "unchanged"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_the_command_line_sets_aside_lists_and_retries(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ABSTRAG_IN_PROCESS")
    large, store = texts / "large.txt", ("--store", str(tmp_path / "store.db"))
    large.write_text(large.read_text()[:40_000])
    refused = run("index", str(large), "--memory-mb", "1", *store)
    assert isinstance(refused.exception, Exception)
    assert "MAX_MEMORY_BYTES" in str(refused.exception)
    listed = run("store", "quarantine", *store)
    assert "large.txt" in listed.output
    assert "MAX_MEMORY_BYTES" in listed.output
    assert "set aside" in str(run("index", str(large), *store).exception)
    retried = run("index", "--retry", str(large), *store)
    assert retried.exit_code == 0, retried.exception
    assert "nothing is set aside" in run("store", "quarantine", *store).output
