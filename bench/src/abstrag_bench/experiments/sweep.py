"""How much each constant matters: one system under one other value at a time (appendix C)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Final

import abstrag.config as config
from abstrag.errors import AbstragError, InputError
from abstrag.indexing.pipeline import fingerprint
from abstrag_bench.abstrag_system import RANKS
from abstrag_bench.experiments.setting import Experiment, ExperimentSection, Setting, same_settings
from abstrag_bench.experiments.with_constants import ChildRun
from abstrag_bench.metrics.catalogue import NDCG, SUFF
from abstrag_bench.metrics.metric import Metric, values
from abstrag_bench.render.table import markdown_table, scaled, signed
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.stats import difference_of_each, paired

_RANKS: Final[tuple[Metric, ...]] = (NDCG @ 10, SUFF @ 10)
_METRICS: Final = (*_RANKS, *(metric.shown for metric in _RANKS))
_CHILD: Final = "abstrag_bench.experiments.with_constants"
Point = tuple[str, float] | None  # a constant and its value; None: all as they are


def run_sweep(experiment: Experiment, setting: Setting) -> Iterator[ExperimentSection]:
    """Run every point of the sweep on every data set."""
    points = points_of(experiment)
    for name in experiment.datasets:
        if reason := setting.missing(name):
            yield ExperimentSection(name, not_run=reason)
            continue
        top = setting.place("sweep", name, setting.split(name))
        settings = {"systems": experiment.systems, "chain": fingerprint(), "ranks": RANKS}
        same_settings(top, settings)
        open_points = [p for p in points if not (top / label(p) / "finished").exists()]
        setting.tell(f"{name}: {len(points) - len(open_points)} of {len(points)} points")
        with ThreadPoolExecutor(max(1, setting.workers)) as pool:
            jobs = [
                (_request(p, experiment, setting, name, top), top / label(p)) for p in open_points
            ]
            for done, point in enumerate(pool.map(lambda job: _run(*job), jobs), 1):
                setting.tell(f"{name}: {done} of {len(jobs)} open points, {point}")
        found = {p: RunFolder(top / label(p)) for p in points}
        made = [_table(system, points, found) for system in experiment.systems]
        yield ExperimentSection(name, tuple(made), setting.shown(top))


def points_of(experiment: Experiment) -> tuple[Point, ...]:
    """Return the points: the defaults first, then one other value at a time."""
    points: list[Point] = [None]
    for name, some in experiment.constants.items():
        default = getattr(config, name, None)
        if not isinstance(default, int | float):
            raise InputError(f"experiment {experiment.name!r} sweeps {name!r}, which is no number")
        points += [(name, value) for value in some if value != default]
    return tuple(points)


def label(point: Point) -> str:
    """Name the folder of a point."""
    return "default" if point is None else f"{point[0]}={point[1]:g}"


def _request(
    point: Point, experiment: Experiment, setting: Setting, name: str, top: Path
) -> ChildRun:
    return ChildRun(
        constants={} if point is None else {point[0]: point[1]},
        dataset=name,
        data=str(setting.data),
        split=setting.split(name),
        systems=experiment.systems,
        out=str(top / label(point)),
        limit=setting.limit,
    )


def _run(request: ChildRun, place: Path) -> str:
    """Run one point in a process of its own; a point that was stopped goes on."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / "request.json"
    path.write_text(json.dumps(asdict(request), indent=2) + "\n", "utf-8")
    ended = subprocess.run(  # our own module, with our own file
        [sys.executable, "-m", _CHILD, str(path)], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        said = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise AbstragError(f"the run {place.name!r} failed: {said}")
    (place / "finished").touch()
    return place.name


def _table(system: str, points: Sequence[Point], found: Mapping[Point, RunFolder]) -> str:
    cells: dict[tuple[Point, Metric], dict[str, float]] = {}
    for point, folder in found.items():
        told = folder.manifest().tells_shown(system)
        own = [one for one in folder.records() if one.system == system]
        for metric in _METRICS:
            cells[point, metric] = values(metric, own, told=told).by_case
    deltas = {
        (point, metric): paired(cells[point, metric], cells[None, metric])
        for point in points[1:]
        for metric in _METRICS
    }
    tested = difference_of_each({key: some for key, some in deltas.items() if some})
    rows = []
    for point in points:
        row = ["as in the paper", ""] if point is None else [f"`{point[0]}`", f"{point[1]:g}"]
        for metric in _METRICS:
            by_case = cells[point, metric]
            row.append(scaled(sum(by_case.values()) / len(by_case), 100) if by_case else "–")
            if point is None:
                row.append("")
            else:
                difference = tested.get((point, metric))
                row.append(signed(difference, 100) if difference else "–")
        rows.append(row)
    n = len(cells[None, _METRICS[0]])
    head = ["constant", "value", *(text for m in _METRICS for text in (str(m), "Δ"))]
    return f"*`{system}`, {n} cases with gold evidence*\n\n" + markdown_table(head, rows)
