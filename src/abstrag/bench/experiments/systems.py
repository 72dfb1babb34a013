"""Systems on data sets: the main table, its intervals and breakdowns, ablations, effort.

Experiments that want the same data with or without generated answers share one run, so that a
document is indexed once for all of their systems and no pair is judged twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from abstrag.bench.experiments import tables
from abstrag.bench.experiments.config import Experiment, Kind
from abstrag.bench.experiments.setting import Section, Setting
from abstrag.bench.record import CaseRecord
from abstrag.bench.report import report
from abstrag.bench.run_folder import RunFolder
from abstrag.bench.runner import Options, run
from abstrag.bench.summary import summarize
from abstrag.bench.systems import SystemSpec
from abstrag.errors import InputError


def run_systems(experiment: Experiment, setting: Setting) -> Iterator[Section]:
    """Score what is not scored yet, and make the experiment's tables from the records."""
    wanted = _wanted(experiment, setting)
    for name in experiment.datasets:
        if reason := setting.missing(name):
            yield Section(name, not_run=reason)
            continue
        place = setting.place(_sort(experiment, setting), name, setting.split(name))
        _score(experiment, setting, name, place)
        yield _section(experiment, setting, name, place, wanted)


def _score(experiment: Experiment, setting: Setting, name: str, place: Path) -> None:
    """Run the systems of every experiment that shares this run."""
    dataset = setting.dataset(name)
    together = [
        one
        for one in setting.folder.experiments
        if one.kind is Kind.SYSTEMS
        and name in one.datasets
        and _sort(one, setting) == _sort(experiment, setting)
        and (one.name == experiment.name or one.name in setting.chosen)
    ]
    names = list(dict.fromkeys(s for one in together for s in _wanted(one, setting)))
    workers = 1 if setting.backing or experiment.generate else setting.workers
    run(
        dataset,
        [SystemSpec.of(one) for one in names],
        place,
        Options(limit=setting.limit, workers=workers),
        backing=setting.backing,
        writer=setting.writer if experiment.generate else None,
        on_progress=partial(setting.progress, name),
    )
    report(place)


def _section(
    experiment: Experiment, setting: Setting, name: str, place: Path, wanted: Sequence[str]
) -> Section:
    folder = RunFolder(place)
    by_system: dict[str, list[CaseRecord]] = {one: [] for one in wanted}
    for one in folder.records():
        if one.system in by_system:
            by_system[one.system].append(one)
    records = [one for own in by_system.values() for one in own]
    summary = summarize(folder.manifest(), records, reference=experiment.reference)
    made: list[str] = []
    for view in experiment.views:
        if view == "scores":
            made += tables.scores(summary)
        elif view == "contrasts":
            made += tables.contrasts(summary)
        elif view == "groups":
            made += tables.groups(summary)
        elif view == "effort":
            made += tables.effort(by_system)
        else:
            raise InputError(f"experiment {experiment.name!r} has no view {view!r}")
    if experiment.figures:
        figures = setting.folder.figures.get(experiment.figures, {}).get(name, {})
        made += tables.beside_paper(summary, figures, setting.same_data(name))
    timed = tables.times(name, by_system) if "effort" in experiment.views else ()
    return Section(name, tuple(made), setting.shown(place), times=timed)


def _wanted(experiment: Experiment, setting: Setting) -> list[str]:
    more = experiment.model_systems if setting.backing else ()
    return [*experiment.systems, *more]


def _sort(experiment: Experiment, setting: Setting) -> str:
    return f"{setting.mode}-{'answers' if experiment.generate else 'rankings'}"
