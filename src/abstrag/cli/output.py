"""How results reach a person or a pipe: tables with colour for eyes, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from abstrag.model.term import Family

if TYPE_CHECKING:
    from rich.progress import Progress

FAMILY_STYLE = {
    Family.EXPRESSION: "green",
    Family.CONCEPT: "cyan",
    Family.INTENT: "magenta",
    Family.EVENT: "yellow",
    Family.CONTEXT: "blue",
}


def console(*, stderr: bool = False) -> Console:
    """Return a console that drops colour and width limits when nobody is looking."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, width=120, no_color=True)
    return made


def print_json(data: Any) -> None:
    """Print JSON, indented for a terminal and on one line for a pipe."""
    looking = sys.stdout.isatty()
    click.echo(json.dumps(data, ensure_ascii=False, indent=2 if looking else None))


@contextmanager
def progress(total: int | None, *, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on standard error while a person is watching, nothing otherwise."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    screen = Console(stderr=True)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=screen,
        transient=True,
        disable=quiet or not screen.is_terminal,
    )
    with bar:
        bar.add_task("", total=total)
        yield bar
