"""How long a query takes: each system by itself, in one process, with nothing remembered.

Seconds differ from run to run, so they are not taken from the runs that the tables are made of.
They are measured when somebody asks for it, and kept in a file beside the configs.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Final

from abstrag.errors import InputError
from abstrag.model.record import from_json, record, to_json
from abstrag_bench.case import Case
from abstrag_bench.experiments.setting import Experiment, Setting
from abstrag_bench.render.table import markdown_table
from abstrag_bench.runner import DEPTH, Bench, ScoringUnit
from abstrag_bench.systems import SystemSpec

RECORDED: Final = "recorded-times.json"


@record
class Timed:
    """What one system took on one data set."""

    dataset: str
    system: str
    cases: int
    documents: int
    query_ms: float
    index_ms: float  # a document


@record
class Timing:
    """A measurement, and what it was made on."""

    machine: str
    rows: tuple[Timed, ...]


def record_times(setting: Setting) -> None:
    """Time the systems of the experiments that want it, and keep what they took."""
    wanted = [one for one in setting.folder.experiments if one.timed]
    chosen = [one for one in wanted if one.name in setting.chosen]
    if not chosen:
        raise InputError(
            "none of these experiments is timed",
            hint=f"also name: {', '.join(one.name for one in wanted)}" if wanted else None,
        )
    rows = [row for one in chosen for row in measure(one, setting)]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    path = Path(setting.folder.path) / RECORDED
    path.write_text(to_json(Timing(machine, tuple(rows)), indent=2) + "\n", "utf-8")


def measure(experiment: Experiment, setting: Setting) -> Iterator[Timed]:
    """Time every system on the first cases of every data set at hand."""
    for name in experiment.datasets:
        if setting.missing(name):
            continue
        cases = setting.dataset(name).cases[: experiment.timed]
        for system in experiment.systems:
            setting.tell(f"{name}: timing {system}")
            yield _timed(name, system, cases)


def _timed(name: str, system: str, cases: tuple[Case, ...]) -> Timed:
    bench = Bench([SystemSpec.of(system)])
    groups = [tuple(some) for _, some in groupby(cases, key=lambda case: case.document.id)]
    units = [ScoringUnit({system: some}, DEPTH) for some in groups]
    Bench([SystemSpec.of(system)]).score(units[0])  # models are loaded before the clock starts
    made = [bench.score(unit) for unit in units]
    asked = [one.seconds for some in made for one in some if one.seconds is not None]
    taken = [some[0].index_seconds for some in made if some[0].index_seconds is not None]
    return Timed(
        name,
        system,
        cases=len(cases),
        documents=len(groups),
        query_ms=round(1000 * fmean(asked), 1),
        index_ms=round(1000 * fmean(taken), 1),
    )


def recorded_tables(setting: Setting, experiment: Experiment, command: str) -> Iterator[str]:
    """Show the kept measurement, or say that there is none."""
    if not experiment.timed:
        return
    path = Path(setting.folder.path) / RECORDED
    yield "## Seconds"
    if not path.exists():
        yield f"Not measured yet: `{command} --record-times` does it."
        return
    times = from_json(Timing, path.read_bytes())
    rows = [
        (
            one.dataset,
            f"`{one.system}`",
            str(one.cases),
            f"{one.query_ms:.1f}",
            str(one.documents),
            f"{one.index_ms:.1f}",
        )
        for one in times.rows
    ]
    yield (
        f"On {times.machine}; one process, each system by itself, nothing remembered between "
        f"queries. Kept in `{RECORDED}` beside the configs by `{command} --record-times`; "
        "a run without that option shows what is kept."
    )
    head = ("data set", "system", "cases", "ms a query", "documents", "ms to index one")
    yield markdown_table(head, rows)
