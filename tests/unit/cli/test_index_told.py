"""What `abstrag index` tells is what happened: every word, every number, every name."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.cli.main import main
from tests.unit.engine.folders import write


class Shell:
    """Runs commands on one store, in one folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.folder = folder
        self._capsys = capsys
        self._store = folder.parent / "told.db"

    def index(self, *args: object) -> tuple[int, str, str]:
        code = 0
        try:
            main(["index", *map(str, args), "--store", str(self._store)])
        except SystemExit as done:
            code = int(done.code or 0)
        out, err = self._capsys.readouterr()
        return code, out, err

    def outcomes(self, *args: object) -> dict[str, dict[str, Any]]:
        """Return what is told as JSON, by the name of each file."""
        _, out, _ = self.index(*args, "--json")
        return {Path(o["path"]).name: o for o in json.loads(out)["outcomes"]}


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Shell:
    folder = tmp_path / "notes"
    write(folder / "pier.txt", "The pier was mended in 2021.")
    monkeypatch.chdir(folder)
    return Shell(capsys, folder)


def last_line(text: str) -> str:
    return text.splitlines()[-1]


@pytest.mark.parametrize("workers", [1, 2])
def test_skipped_files_are_not_counted_among_those_in_the_store(workers: int, shell: Shell) -> None:
    write(shell.folder / "ferry.txt", "The ferry left at noon.")
    write(shell.folder / "empty.txt", "")
    write(shell.folder / "part.tex", "A chapter without a document.")
    code, out, err = shell.index(shell.folder, "--workers", workers)
    assert code == 16
    assert [line.split()[0] for line in out.splitlines()] == [
        *("indexed", "skipped", "indexed", "prepared"),
    ]
    told = "error: 1 of 4 files failed, 1 was skipped; the other 2 are in the store"
    assert last_line(err) == told
    _, out, err = shell.index(shell.folder, "--workers", workers)
    assert [line.split()[0] for line in out.splitlines()] == ["unchanged", "skipped", "unchanged"]
    assert last_line(err) == told


def test_a_single_other_file_is_told_as_one(shell: Shell) -> None:
    write(shell.folder / "empty.txt", "")
    _, _, err = shell.index(shell.folder)
    assert last_line(err) == "error: 1 of 2 files failed; the other one is in the store"


def test_where_all_fail_nothing_is_said_to_be_in_the_store(shell: Shell) -> None:
    write(shell.folder / "one.txt", "")
    write(shell.folder / "two.txt", "")
    code, _, err = shell.index("one.txt", "two.txt")
    assert (code, last_line(err)) == (16, "error: 2 of 2 files failed")


def test_a_folder_without_files_says_so(shell: Shell) -> None:
    (shell.folder / "none").mkdir()
    assert shell.index("none") == (0, "no files found; nothing was indexed\n", "")
    assert shell.outcomes("none") == {}


@pytest.mark.parametrize(
    "paths", [("pier.txt", "pier.txt"), (".", "pier.txt"), ("pier.txt", "../notes/pier.txt")]
)
def test_a_file_that_is_given_twice_is_told_once(paths: tuple[str, ...], shell: Shell) -> None:
    _, out, _ = shell.index(*paths)
    (line,) = out.splitlines()
    assert line.split()[:3] == ["indexed", "pier.txt", "pier"]


def test_latex_without_a_document_class_is_skipped_in_a_folder_and_says_what_to_do(
    shell: Shell,
) -> None:
    write(shell.folder / "part.tex", "A chapter without a document.")
    _, out, _ = shell.index(".")
    assert out.splitlines()[0] == (
        "skipped   part.tex  LaTeX without \\documentclass, taken for part of another document "
        "(name the file itself to index it)"
    )


@pytest.mark.parametrize("paths", [(".", "part.tex"), ("part.tex", ".")])
def test_latex_that_is_named_is_indexed_wherever_its_folder_stands(
    paths: tuple[str, ...], shell: Shell
) -> None:
    write(shell.folder / "part.tex", "A chapter without a document.")
    outcomes = shell.outcomes(*paths)
    assert {name: o["status"] for name, o in outcomes.items()} == {
        "part.tex": "indexed",
        "pier.txt": "indexed",
    }


@pytest.mark.parametrize("workers", [1, 2])
def test_a_changed_file_replaces_its_index_and_says_so(workers: int, shell: Shell) -> None:
    assert shell.outcomes("pier.txt")["pier.txt"]["replaces"] is None
    write(shell.folder / "pier.txt", "The pier was closed in 2022.")
    _, out, _ = shell.index("pier.txt", "--workers", workers)
    assert out.startswith("indexed   pier.txt  pier  ")
    assert out.endswith("; the file has changed, replaces its earlier index\n")
    assert shell.outcomes("pier.txt")["pier.txt"]["status"] == "unchanged"


def test_a_file_that_calls_its_document_otherwise_names_the_one_that_is_gone(
    shell: Shell,
) -> None:
    blocks = [{"text": "The pier was mended."}]
    write(shell.folder / "own.json", json.dumps({"id": "first", "title": "T", "blocks": blocks}))
    shell.index("own.json")
    write(shell.folder / "own.json", json.dumps({"id": "second", "title": "T", "blocks": blocks}))
    _, out, _ = shell.index("own.json")
    assert out.startswith("indexed   own.json  second  ")
    assert out.endswith("; the file has changed, replaces 'first'\n")


def test_a_file_that_fails_now_names_what_the_store_has_of_it_from_before(shell: Shell) -> None:
    shell.index("pier.txt")
    write(shell.folder / "pier.txt", "")
    write(shell.folder / "ferry.txt", "The ferry left at noon.")
    code, _, err = shell.index("pier.txt")
    assert (code, err.splitlines()[0]) == (7, "the store still has 'pier', read from it before")
    _, _, err = shell.index(".")
    assert err.splitlines()[0].endswith("; the store still has 'pier', read from it before")
    assert shell.outcomes(".")["pier.txt"]["document"] == "pier"


@pytest.mark.parametrize(
    "name", ["n[b]ote.txt", "[red].txt", "a :smile: b.txt", "x" * 150 + ".txt"]
)
def test_a_files_name_is_told_whole_and_as_it_is(name: str, shell: Shell) -> None:
    path = shell.folder / name
    write(path, "The pier was mended.")
    _, out, _ = shell.index(path.name)
    assert out.splitlines()[0].startswith(f"indexed   {path.name}  ")
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("table.txt", "\\input{table.txt}"),
        ("more.txt", "\\input more.txt"),
        ("main.bbl", "\\bibliography{all}"),
    ],
)
def test_a_document_is_not_unchanged_when_what_it_inputs_has_changed(
    name: str, command: str, shell: Shell
) -> None:
    body = f"\\begin{{document}}\nThe pier was mended.\n\n{command}\n\\end{{document}}\n"
    write(shell.folder / "main.tex", "\\documentclass{article}\n" + body)
    write(shell.folder / name, "It cost nine pounds.")
    assert shell.outcomes("main.tex")["main.tex"]["status"] == "indexed"
    assert shell.outcomes("main.tex")["main.tex"]["status"] == "unchanged"
    write(shell.folder / name, "It cost ten pounds.")
    assert shell.outcomes("main.tex")["main.tex"]["status"] == "indexed"


def test_a_new_version_of_a_file_is_known_as_such(shell: Shell) -> None:
    assert shell.outcomes("pier.txt")["pier.txt"]["why"] == "new"
    write(shell.folder / "pier.txt", "The pier was closed in 2024.")
    _, out, _ = shell.index("pier.txt")
    assert out.strip().endswith("the file has changed, replaces its earlier index")
    outcome = shell.outcomes("pier.txt", "--granularity", "paragraph")["pier.txt"]
    assert (outcome["status"], outcome["why"]) == ("indexed", "again")
    assert shell.outcomes("pier.txt", "--granularity", "paragraph")["pier.txt"]["why"] is None


def test_a_file_with_the_bytes_of_another_is_said_to_be_so(shell: Shell) -> None:
    write(shell.folder / "quay.txt", "The pier was mended in 2021.")
    code, out, _ = shell.index(shell.folder)
    first = shell.folder.resolve() / "pier.txt"
    assert code == 0
    assert last_line(out).split()[:3] == ["same", str(shell.folder / "quay.txt"), "pier"]
    assert f"the same bytes as {first}" in last_line(out)
    assert shell.outcomes("quay.txt")["quay.txt"]["same_as"] == str(first)
