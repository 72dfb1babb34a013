"""Options about what one document may cost before its process is ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

from abstrag.config import MAX_CPU_SECONDS, MAX_MEMORY_BYTES, MAX_SECONDS, DocumentBudget

_Command = Callable[..., Any]
_MIB: Final = 1024 * 1024
_ABOVE_0: Final = click.FloatRange(min=0, min_open=True)

_BUDGET: Final = (
    click.option(
        "--time-limit",
        type=_ABOVE_0,
        metavar="SECONDS",
        help=f"Give up on a file that takes longer.  [default: {MAX_SECONDS}]",
    ),
    click.option(
        "--cpu-limit",
        type=_ABOVE_0,
        metavar="SECONDS",
        help=f"Give up on a file that takes more processor time.  [default: {MAX_CPU_SECONDS}]",
    ),
    click.option(
        "--memory-mb",
        type=_ABOVE_0,
        help=f"Give up on a file that needs more memory.  [default: {MAX_MEMORY_BYTES // _MIB}]",
    ),
)


def budget_options(command: _Command) -> _Command:
    """Hand a command its `budget`: what one document may cost; None where nobody says."""

    @wraps(command)
    def called(
        time_limit: float | None, cpu_limit: float | None, memory_mb: float | None, **rest: Any
    ) -> Any:
        if time_limit is None and cpu_limit is None and memory_mb is None:
            return command(budget=None, **rest)
        budget = DocumentBudget(
            cpu_limit or MAX_CPU_SECONDS,
            MAX_MEMORY_BYTES if memory_mb is None else round(memory_mb * _MIB),
            time_limit or MAX_SECONDS,
        )
        return command(budget=budget, **rest)

    made: _Command = called
    for option in reversed(_BUDGET):
        made = option(made)
    return made
