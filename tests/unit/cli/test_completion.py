"""What a shell is told when somebody presses Tab, and how that is set up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from abstrag.cli.completion import SHELLS
from abstrag.cli.main import main

PROGRAM = [sys.executable, "-c", "from abstrag.cli.main import main; main()"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store with the document `harbour`, in the folder we are in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harbour.md").write_text("# The harbour\n\nThe lock was closed in May.\n")
    (tmp_path / "hull").mkdir()
    path = tmp_path / "library.db"
    main(["index", "harbour.md", "--store", str(path)])
    (tmp_path / "harbour.md").rename(tmp_path / "hull" / "ferry.md")
    return path


def offered(*words: str) -> list[tuple[str, str]]:
    """Return kind and value of what bash would be told about the last word."""
    line = " ".join(["abstrag", *words])
    told = {"_ABSTRAG_COMPLETE": "bash_complete", "COMP_WORDS": line}
    done = subprocess.run(
        PROGRAM,
        env={**os.environ, **told, "COMP_CWORD": str(len(words))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    pairs = [each.split(",", 1) for each in done.stdout.split()]
    return [(kind, value) for kind, value in pairs]


def test_ids_and_files_are_offered_where_a_document_is_named(store: Path) -> None:
    found = offered("search", "--store", str(store), "h")
    assert found == [("plain", "harbour"), ("plain", "hull/")]


def test_the_shell_completes_files_by_itself_where_no_id_fits(store: Path) -> None:
    assert offered("ask", "--store", str(store), "hull/f") == [("file", "hull/f")]


def test_only_ids_are_offered_for_removal(store: Path) -> None:
    found = offered("store", "remove", "--store", str(store), "h")
    assert found == [("plain", "harbour")]


def test_presets_and_commands_are_offered() -> None:
    assert ("plain", "fast") in offered("search", "--preset", "f")
    assert offered("why") == [("plain", "why-not")]


def test_completion_makes_no_store(tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    assert offered("show", "--store", str(missing), "x") == [("file", "x")]
    assert not missing.exists()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    return tmp_path


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_one_command_sets_it_up_once_and_keeps_what_was_there(shell: str, home: Path) -> None:
    startup = home / f".{shell}rc"
    startup.write_text("alias ll='ls -l'")
    main(["completion", shell])
    first = startup.read_text()
    main(["completion", shell])
    assert startup.read_text() == first
    lines = first.splitlines()
    assert lines[0] == "alias ll='ls -l'"
    assert len(lines) == 2
    assert Path(lines[1].split("'")[1]).read_text().strip()


def test_fish_finds_its_file_by_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    main(["completion"])
    script = home / ".config" / "fish" / "completions" / "abstrag.fish"
    assert "complete --no-files --command abstrag" in script.read_text()
    assert not (home / ".fishrc").exists()


def test_bash_takes_the_script_and_completes_with_it(home: Path) -> None:
    main(["completion", "bash"])
    (home / "abstrag").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{PROGRAM[2]}" "$@"\n')
    (home / "abstrag").chmod(0o755)
    asked = "COMP_WORDS=(abstrag why); COMP_CWORD=1; _abstrag_completion abstrag"
    done = subprocess.run(
        ["bash", "-c", f". ~/.bashrc; {asked}; echo ${{COMPREPLY[@]}}; complete -p abstrag"],
        env={**os.environ, "PATH": f"{home}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == "why-not"
    assert "_abstrag_completion" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_alone_can_be_printed(
    shell: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["completion", shell, "--print"])
    assert "_ABSTRAG_COMPLETE" in capsys.readouterr().out
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["serach"], "No such command 'serach'. Did you mean 'search'?"),
        (["xyzzy"], "No such command 'xyzzy'.\n"),
        (["store", "lst"], "Did you mean 'list'?"),
        (["search", "--presett"], "Did you mean one of: '--preset', '--set'?"),
    ],
)
def test_what_was_meant_is_guessed(
    typed: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
