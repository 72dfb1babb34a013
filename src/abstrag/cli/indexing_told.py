"""How far indexing is: a bar for eyes, a line every few seconds where nobody watches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import click
from rich.markup import escape
from rich.progress import Progress

from abstrag.engine.outcome import Outcome, Why

EVERY_S: Final = 5.0  # how often a line is written
_SAID: Final = {  # in the order in which they are told
    Why.NEW.value: "new",
    Why.CHANGED.value: "changed",
    Why.AGAIN.value: "indexed again",
    "unchanged": "unchanged",
    "same": "with the bytes of another",
    "skipped": "skipped",
    "failed": "failed",
}


def counted(outcomes: Iterable[Outcome]) -> str:
    """Say what became of files: how many are new, changed, unchanged, failed."""
    counts = Counter(o.why.value if o.why is not None else o.status for o in outcomes)
    return ", ".join(f"{counts[each]} {said}" for each, said in _SAID.items() if counts[each])


class IndexingTold:
    """Is told every file, step and page, and tells a person."""

    def __init__(self, bar: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        """Tell by a bar, if its console is a terminal, else by lines on standard error."""
        self._bar = bar
        self._clock = clock
        self._last = clock()
        self._file = ""
        self._outcomes: list[Outcome] = []

    def count(self, files: Callable[[], int]) -> None:
        """Count the files first where a person watches, so that the time left can be told."""
        if self._bar.console.is_terminal:
            self._bar.update(self._bar.task_ids[0], total=files())

    def on_file(self, path: Path) -> None:
        """Begin with a file."""
        self._file = path.name
        self._tell("")

    def on_step(self, name: str) -> None:
        """Begin with a step of a file."""
        self._tell(name)

    def on_page(self, page: int, pages: int) -> None:
        """Be done with reading a page, of so many."""
        self._tell(f"page {page} of {pages}")

    def on_outcome(self, outcome: Outcome) -> None:
        """Be done with a file."""
        self._outcomes.append(outcome)
        self._tell("")

    def on_prepared(self, done: int, total: int) -> None:
        """Have so many documents ready for a search over all, of so many that were not."""
        here = f"preparing search over all documents: {done} of {total}"
        task = self._bar.task_ids[0]
        if done == 0:
            self._bar.reset(task, total=total)
        self._bar.update(task, total=total, completed=done, description="preparing search over all")
        self._say(here)

    def _say(self, line: str) -> None:
        """Write a line where nobody watches, and not too often."""
        if self._bar.console.is_terminal or self._clock() - self._last < EVERY_S:
            return
        self._last = self._clock()
        click.echo(line, err=True)

    def _tell(self, now: str) -> None:
        here = f"{self._file} {now}".strip()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=len(self._outcomes), description=escape(here))
        parts = (counted(self._outcomes), here)
        self._say("; ".join(part for part in parts if part))
