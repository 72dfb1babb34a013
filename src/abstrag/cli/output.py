"""How results reach a person or a pipe: tables with colour for eyes, JSON for machines."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.text import Text

from abstrag.model.record import to_data
from abstrag.model.term import Family

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, Task


# A console whose long lines go on below where their text begins, at any width.

# the spaces a line begins with, or a short label with two spaces or more behind it
_LEAD: Final = re.compile(r" *(?:\S{1,10}(?: \S{1,10})? {2,})?")


class HangingIndentConsole(Console):
    """Indents the continuation of a long line under the beginning of its text."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as usual; the continuation of a string that is too wide is indented."""
        if len(objects) == 1 and isinstance(objects[0], str) and not options:
            text = self.render_str(objects[0], highlight=False)
            objects = (hanging_indent(self, text),)
        super().print(*objects, **options)


def hanging_indent(console: Console, text: Text) -> Text:
    """Return a text whose lines fit the console, with continuation lines indented."""
    lines = [_hanging_indent(console, line) for line in text.split("\n", allow_blank=True)]
    return Text("\n").join(lines)


def _hanging_indent(console: Console, line: Text) -> Text:
    if line.cell_len <= console.width:
        return line
    lead = _LEAD.match(line.plain)
    indent = lead.end() if lead else 0
    if indent > console.width // 2:  # too narrow to stand apart
        return line
    body = line[indent:].wrap(console, console.width - indent)
    made = line[:indent]
    for number, part in enumerate(body):
        part.rstrip()
        made.append_text(Text("\n" + " " * indent) + part if number else part)
    return made


_FAMILY_STYLE: Final = {
    Family.EXPRESSION: "green",
    Family.CONCEPT: "cyan",
    Family.INTENT: "magenta",
    Family.EVENT: "yellow",
    Family.CONTEXT: "blue",
    Family.RELATED: "bright_black",
}


def family_style(family: Family) -> str:
    """Return the colour of a family; white where it has none of its own."""
    return _FAMILY_STYLE.get(family, "white")


def console(*, stderr: bool = False) -> Console:
    """Return a console without colour and width limits if the output is no terminal."""
    made = HangingIndentConsole(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = HangingIndentConsole(stderr=stderr, highlight=False, width=120, no_color=True)
    return made


def counted(number: int, noun: str, several: str | None = None) -> str:
    """Return how many there are of something: 1 patch, 2 patches, 3 families."""
    return f"{number} {noun if number == 1 else several or noun + 's'}"


def print_json(data: Any) -> None:
    """Print records, or what is made of them, as JSON: indented for a terminal, a line for a pipe.

    Where a field is to stand beside those of a record, the record is turned into data first.
    """
    indent = 2 if sys.stdout.isatty() else None
    click.echo(json.dumps(data, ensure_ascii=False, indent=indent, default=to_data))


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
