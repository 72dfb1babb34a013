"""Options about workers: how many, of which kind, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import click

from abstrag.cli.options import gathered
from abstrag.config import MAX_CPU_SECONDS, MAX_MEMORY_BYTES, MAX_SECONDS, DocumentBudget
from abstrag.errors import InputError
from abstrag.workers.processes import WINDOW, Processes
from abstrag.workers.protocol import Engine
from abstrag.workers.ray import RayCluster

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


def _budget(
    time_limit: float | None, cpu_limit: float | None, memory_mb: float | None
) -> DocumentBudget | None:
    """Return the limits for one document; None where no option sets them."""
    if time_limit is None and cpu_limit is None and memory_mb is None:
        return None
    return DocumentBudget(
        cpu_limit or MAX_CPU_SECONDS,
        MAX_MEMORY_BYTES if memory_mb is None else round(memory_mb * _MIB),
        time_limit or MAX_SECONDS,
    )


budget_options = gathered("budget", _budget, _BUDGET)


PROCESSES: Final = "processes"
RAY: Final = "ray"

_ENGINE: Final = (
    click.option(
        "--engine",
        type=click.Choice([PROCESSES, RAY]),
        default=PROCESSES,
        show_default=True,
        help="Where workers are: processes of this machine, or a Ray cluster.",
    ),
    click.option("--address", help="Of the Ray cluster.  [default: one on this machine]"),
)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How many workers, of which kind, and where; None where no option says."""

    workers: int | None
    engine: str
    address: str | None

    @property
    def is_given(self) -> bool:
        """True when more than one worker, or a cluster, was asked for."""
        return self.engine == RAY or (self.workers or 1) > 1

    def make(self, usual: int, *, window: int = WINDOW, time_limit: float | None = None) -> Engine:
        """Return the engine that is meant; `usual` is how many workers it has by default."""
        if self.engine == RAY:
            return RayCluster(self.workers, self.address, window, time_limit)
        if self.address is not None:
            raise InputError("--address is that of a Ray cluster", hint=f"add --engine {RAY}")
        return Processes(self.workers or usual, window, time_limit)


def engine_options(what: str) -> Callable[[_Command], _Command]:
    """Hand a command its `workers_options` as `EngineOptions`; `what` says how many are usual."""
    workers = click.option(
        "--workers",
        type=click.IntRange(min=1),
        help=f"How many work side by side.  [default: {what}]",
    )
    return gathered("workers_options", EngineOptions, (workers, *_ENGINE))


def refuse_with_model(options: EngineOptions) -> None:
    """Raise an error: a language model cannot be combined with several workers."""
    if options.is_given:
        asked = f"--engine {RAY}" if options.engine == RAY else f"--workers {options.workers}"
        raise InputError(
            f"{asked} starts processes, and a model's budget is kept in one",
            hint="leave it out; calls to a model go side by side anyway",
        )
