"""Other packages bring commands; the benchmark is one of them, and says so where it is missing."""

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from abstrag.cli.main import GROUP
from tests.unit.cli.command_line import run

Capture = pytest.CaptureFixture[str]
Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs a package that brings a command `tide`."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(package: str, code: str) -> None:
        (tmp_path / f"{package}.py").write_text(code)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        told = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nSummary: Tells the tides.\n"
        (info / "METADATA").write_text(told)
        (info / "entry_points.txt").write_text(f"[{GROUP}]\ntide = {package}:tide\n")
        monkeypatch.delitem(sys.modules, package, raising=False)

    return made


TIDE = """
import click
from abstrag.errors import FileMissing

@click.command()
@click.argument("place")
def tide(place):
    if place == "nowhere":
        raise FileMissing("there is no tide table", hint="look elsewhere")
    click.echo(f"high water at {place}")
"""


def test_a_command_of_another_package_is_listed_with_its_summary_and_runs(
    capsys: Capture, install: Install
) -> None:
    install("tide_tables", TIDE)
    _, out, _ = run(capsys, "--help")
    assert "tide        Tells the tides." in out
    assert "tide_tables" not in sys.modules, "help imports nothing"
    code, out, _ = run(capsys, "tide", "Leith")
    assert (code, out) == (0, "high water at Leith\n")
    code, _, err = run(capsys, "tide", "nowhere")
    assert code == 4
    assert "there is no tide table" in err
    assert "hint: look elsewhere" in err


def test_a_misspelt_command_of_another_package_is_guessed(
    capsys: Capture, install: Install
) -> None:
    install("tide_tables", TIDE)
    code, _, err = run(capsys, "tied")
    assert code == 2
    assert "Did you mean 'tide'" in err


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("tide = 3", "'abstrag tide' is no click command: 'broken:tide'"),
        ("import nowhere_at_all", "cannot be loaded from 'broken:tide': No module named"),
        ("flood = 3", "cannot be loaded from 'broken:tide'"),
    ],
)
def test_a_package_that_is_wrong_is_named(
    capsys: Capture, install: Install, code: str, told: str
) -> None:
    install("broken", code)
    exit_code, _, err = run(capsys, "tide")
    assert exit_code == 15
    assert told in " ".join(err.split())


def test_two_packages_that_bring_one_command_are_both_named(
    capsys: Capture, install: Install
) -> None:
    for package in ("one_table", "other_table"):
        install(package, TIDE)
    code, _, err = run(capsys, "tide", "Leith")
    assert code == 15
    assert "'one_table:tide' and 'other_table:tide'" in err


def test_no_package_replaces_a_command_of_ours(
    capsys: Capture, install: Install, tmp_path: Path
) -> None:
    install("tide_tables", TIDE)
    place = tmp_path / "tide_tables-1.0.dist-info" / "entry_points.txt"
    place.write_text(f"[{GROUP}]\nschema = tide_tables:tide\n")
    code, out, _ = run(capsys, "schema", "--help")
    assert code == 0
    assert "tide_tables" not in sys.modules
    assert "JSON schema" in out


def test_the_benchmark_is_listed_and_measures(capsys: Capture) -> None:
    _, out, _ = run(capsys, "--help")
    assert "bench       Measure retrievers" in out
    code, out, _ = run(capsys, "bench", "--help")
    assert code == 0
    assert "experiments" in out


def test_without_the_benchmark_one_sentence_says_how_to_install_it(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    _, out, _ = run(capsys, "--help")
    assert "bench " not in out
    code, out, err = run(capsys, "bench", "run", "--help")
    assert (code, out) == (15, "")
    assert err == (
        "error: 'abstrag bench' is in 'abstrag-bench', which is not installed\n"
        "hint: pip install abstrag-bench\n"
    )
    code, _, err = run(capsys, "bnch")
    assert code == 2
    assert "Did you mean 'bench'" in err


def test_the_package_works_where_the_benchmark_is_not(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['abstrag_bench'] = None; sys.modules['bm25s'] = None\n"
        "from abstrag.cli.main import main\n"
        "main(['demo', '--json'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"bm25_rank": 27' in done.stdout
