"""How lines and bars look at any width."""

import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from abstrag.cli.output import HangingIndentConsole, progress_columns, rate

WORDS = "the lock at the northern end of the harbour was closed for repairs in May"


def printed(text: str, width: int) -> list[str]:
    screen = HangingIndentConsole(file=StringIO(), width=width, highlight=False, no_color=True)
    screen.print(text)
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [20, 33, 48, 60])
@pytest.mark.parametrize("lead", ["    ", " 1  ", "asks for  ", "    ✓ x  "])
def test_a_long_line_goes_on_under_its_beginning(lead: str, width: int) -> None:
    first, *more = printed(f"{lead}[bold]{WORDS}[/]", width)
    assert first.startswith(lead.rstrip() or lead)
    assert more
    assert all(len(line) <= width for line in [first, *more])
    indents = {len(line) - len(line.lstrip()) for line in more}
    assert indents == {len(lead)}
    assert " ".join([first[len(lead) :], *more]).split() == WORDS.split()


def test_a_line_that_fits_and_one_that_has_no_room_are_left_alone() -> None:
    assert printed("    short", 40) == ["    short"]
    assert "".join(printed(" " * 15 + WORDS, 20)).split()[0] == "the"


def test_blank_lines_stay() -> None:
    assert printed("\n 1  one", 40) == ["", " 1  one"]


def test_a_rate_is_told_by_the_second_or_by_the_minute() -> None:
    assert rate(12.34) == "12.3/s"
    assert rate(0.25) == "15.0/min"


def test_a_bar_tells_how_many_how_fast_and_what_is_left() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=120)
    clock = iter(range(1000))
    bar = Progress(*progress_columns(), console=screen, get_time=lambda: float(next(clock)))
    task = bar.add_task("reading", total=10)
    for _ in range(4):
        bar.update(task, advance=1)
    with screen.capture() as shown:
        screen.print(bar.get_renderable())
    assert "4/10" in shown.get()
    assert "/min" in shown.get() or "/s" in shown.get()
    assert "-:--:--" not in shown.get()


def test_indexing_tells_how_many_files_there_are_before_they_are_read(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"note-{number}.md").write_text(f"Note {number} says that the lock is closed.")
    leader, follower = pty.openpty()
    program = "from abstrag.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "index", str(tmp_path), "--workers", "1"],
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as running:
        os.close(follower)
        shown = _everything(leader)
    assert running.returncode == 0
    assert any(f"{done}/3" in shown for done in range(3))  # before all three are done


def _everything(terminal: int) -> str:
    """Read what is written to a terminal until the other side is gone."""
    parts = []
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:  # how Linux says that nobody is left to write
        pass
    finally:
        os.close(terminal)
    return b"".join(parts).decode(errors="replace")
