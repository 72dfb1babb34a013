"""Indexing on a Python without what only Unix has, as on Windows: no limits, no `flock`.

`sitecustomize` takes it all away in every process before anything of ours is loaded, workers
included. What this cannot show is how Windows itself starts, kills and locks.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from abstrag.files import file_locked

ONLY_UNIX = """
import pathlib, signal, subprocess, sys, types
for name in ("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "readline", "syslog"):
    sys.modules[name] = None  # an import of it fails
for name in ("pthread_sigmask", "SIGXCPU", "SIGHUP", "SIGUSR1", "alarm", "setitimer"):
    delattr(signal, name)
def locking(descriptor, mode, count):
    with pathlib.Path("locks").open("a") as told:
        told.write(f"{mode} {count}\\n")
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=locking)  # which Windows has
"""
VESSELS = "Cargo vessels pass the lock at dawn."
RUN = "from abstrag.cli.main import main; main()"


def abstrag(folder: Path, *arguments: str) -> str:
    """Run a command in a process that has nothing of Unix."""
    (folder / "sitecustomize.py").write_text(ONLY_UNIX)
    source = Path(__file__).parents[3] / "src"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{folder}{os.pathsep}{source}",
        "XDG_DATA_HOME": str(folder),
        "ABSTRAG_STORE": str(folder / "store.db"),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_files_are_indexed_searched_and_commented_on_without_unix(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "lock.md").write_text(f"# The lock\n\n{VESSELS}")
    (notes / "hounds.md").write_text("# Hounds\n\nHounds need long walks.")
    abstrag(tmp_path, "index", str(notes), "--workers", "2")
    found = abstrag(tmp_path, "search", "lock", "Which vessels pass?", "--no-judge", "-k", "1")
    assert VESSELS in found
    abstrag(tmp_path, "feedback", "lock", "Which vessels pass?", "--good", VESSELS, "--policy", "p")
    assert (tmp_path / "locks").read_text().splitlines()[0] == "2 1"  # as Windows locks


def test_a_lock_that_is_held_is_refused_to_who_does_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with file_locked(path), pytest.raises(BlockingIOError), file_locked(path, wait=False):
        pass
    with file_locked(path, wait=False):
        pass
