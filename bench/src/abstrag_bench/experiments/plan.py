"""What a run of experiments would do: how many records it needs, and how many are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from abstrag_bench.experiments.refined import place_of
from abstrag_bench.experiments.setting import Experiment, ExperimentKind, Setting
from abstrag_bench.experiments.sweep import label, points_of
from abstrag_bench.experiments.systems import run_place, wanted_systems
from abstrag_bench.run_folder import RECORDS, RunFolder
from abstrag_bench.stress import ARMS


@dataclass(frozen=True, slots=True)
class RecordFolder:
    """One folder of records an experiment is made of."""

    experiment: str
    dataset: str
    cases: int
    runs: int  # systems, arms or points that every case goes through
    done: int
    not_run: str = ""

    @property
    def wanted(self) -> int:
        """How many records there will be."""
        return self.cases * self.runs


def plan(setting: Setting, names: Sequence[str] = ()) -> list[RecordFolder]:
    """Return what experiments need, in the order they are run in."""
    some = [setting.folder.named(name) for name in names] or list(setting.folder.experiments)
    return [part for one in some for part in _parts(one, setting)]


def _parts(one: Experiment, setting: Setting) -> Iterator[RecordFolder]:
    if one.kind is ExperimentKind.CALIBRATION:
        return
    for name, dataset in setting.sources(one):
        if isinstance(dataset, str):
            yield RecordFolder(one.name, name, 0, 0, 0, not_run=dataset)
            continue
        cases = dataset.cases[: setting.limit]
        if one.kind is ExperimentKind.SYSTEMS:
            systems = wanted_systems(one, setting)
            done = RunFolder(run_place(one, setting, name)).done()
            there = sum(system in systems for system, _ in done)
            yield RecordFolder(one.name, name, len(cases), len(systems), there)
        elif one.kind is ExperimentKind.SWEEP:
            points = points_of(one)
            top = setting.place("sweep", name, setting.split(name))
            there = sum(_lines(top / label(point)) for point in points)
            yield RecordFolder(one.name, name, len(cases), len(points) * len(one.systems), there)
        elif one.kind is ExperimentKind.REFINEMENT:
            gold = [case for case in dataset.cases if case.gold]
            kept = set(list(dict.fromkeys(case.document.id for case in gold))[: setting.limit])
            number = len({(c.document.id, c.query) for c in gold if c.document.id in kept})
            sorts = (False, True) if "guessing" in one.views else (False,)
            places = [
                place_of(setting, name, preset, guessing=sort)
                for preset in one.presets
                for sort in sorts
            ]
            runs = (len(ARMS) + 1) * len(places)
            yield RecordFolder(one.name, name, number, runs, sum(map(_lines, places)))
        else:
            adaptive = one.kind is ExperimentKind.ADAPTIVE
            folder, each = ("adaptive", len(one.budgets) + 2) if adaptive else ("background", 2)
            places = [setting.place(folder, p, name, dataset.split) for p in one.presets]
            there = sum(map(_lines, places))
            yield RecordFolder(one.name, name, len(cases), each * len(places), there)


def _lines(place: Path) -> int:
    path = place / RECORDS
    return path.read_bytes().count(b"\n") if path.exists() else 0
