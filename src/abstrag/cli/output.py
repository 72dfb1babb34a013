"""How results reach a person or a pipe: tables with colour for eyes, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from abstrag.cli.hanging import HangingConsole
from abstrag.model.term import Family

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, Task

FAMILY_STYLE = {
    Family.EXPRESSION: "green",
    Family.CONCEPT: "cyan",
    Family.INTENT: "magenta",
    Family.EVENT: "yellow",
    Family.CONTEXT: "blue",
    Family.RELATED: "bright_black",
}


def console(*, stderr: bool = False) -> Console:
    """Return a console that drops colour and width limits when nobody is looking."""
    made = HangingConsole(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = HangingConsole(stderr=stderr, highlight=False, width=120, no_color=True)
    return made


def print_json(data: Any) -> None:
    """Print JSON, indented for a terminal and on one line for a pipe."""
    looking = sys.stdout.isatty()
    click.echo(json.dumps(data, ensure_ascii=False, indent=2 if looking else None))


@contextmanager
def progress(total: int | None, *, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on standard error while a person is watching, nothing otherwise.

    It tells how many are done, how many a second or a minute, and the time that is left.
    """
    from rich.progress import Progress

    screen = Console(stderr=True)
    bar = Progress(
        *progress_columns(),
        console=screen,
        transient=True,
        disable=quiet or not screen.is_terminal,
    )
    with bar:
        bar.add_task("", total=total)
        yield bar


def progress_columns() -> tuple[ProgressColumn, ...]:
    """Return the parts of a bar: what is being done, how much is done, how fast, what is left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many are done in a second, or in a minute where that is less than one."""

        def render(self, task: Task) -> Text:
            """Return the rate in words; nothing before there is one."""
            speed = task.finished_speed or task.speed
            return Text(rate(speed) if speed else "", style="progress.data.speed")

    return (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )


def rate(speed: float) -> str:
    """Say how fast something goes, given how many are done in a second."""
    return f"{speed:.1f}/s" if speed >= 1 else f"{speed * 60:.1f}/min"
