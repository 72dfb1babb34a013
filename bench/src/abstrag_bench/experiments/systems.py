"""Systems on data sets: the main table, its intervals and breakdowns, ablations, effort.

Experiments that want the same data with or without generated answers share one run, so that a
document is indexed once for all of their systems and no pair is judged twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from abstrag.errors import InputError
from abstrag.workers.processes import Processes
from abstrag_bench.experiments import tables
from abstrag_bench.experiments.setting import Experiment, ExperimentKind, ExperimentSection, Setting
from abstrag_bench.record import CaseRecord
from abstrag_bench.report import LAST, report
from abstrag_bench.run_folder import RECORDS, RunFolder
from abstrag_bench.runner import WINDOW, Options, run
from abstrag_bench.summary import Summary, summarize
from abstrag_bench.systems import SystemSpec


def run_systems(experiment: Experiment, setting: Setting) -> Iterator[ExperimentSection]:
    """Score what is not scored yet, and make the experiment's tables from the records."""
    wanted = wanted_systems(experiment, setting)
    summaries: dict[str, Summary] = {}
    sections = []
    for name in experiment.datasets:
        if reason := setting.missing(name):
            sections.append(ExperimentSection(name, not_run=reason))
            continue
        place = run_place(experiment, setting, name)
        _score(experiment, setting, name, place)
        by_system = _records(place, wanted)
        records = [one for own in by_system.values() for one in own]
        manifest = RunFolder(place).manifest()
        summaries[name] = summarize(manifest, records, reference=experiment.reference)
        made = tuple(_tables(experiment, setting, name, summaries[name], by_system))
        sections.append(ExperimentSection(name, made, setting.shown(place)))
    if "overview" in experiment.views and summaries:
        yield ExperimentSection("all data sets", tuple(tables.overview(summaries)))
    yield from sections


def _score(experiment: Experiment, setting: Setting, name: str, place: Path) -> None:
    """Run the systems of every experiment that shares this run."""
    dataset = setting.dataset(name)
    together = [
        one
        for one in setting.folder.experiments
        if one.kind is ExperimentKind.SYSTEMS
        and name in one.datasets
        and _sort(one, setting) == _sort(experiment, setting)
        and (one.name == experiment.name or one.name in setting.chosen)
    ]
    names = list(dict.fromkeys(s for one in together for s in wanted_systems(one, setting)))
    alone = setting.backing or experiment.generate or setting.workers == 1
    run(
        dataset,
        [SystemSpec.of(one) for one in names],
        place,
        Options(limit=setting.limit, engine=None if alone else Processes(setting.workers, WINDOW)),
        backing=setting.backing,
        writer=setting.writer if experiment.generate else None,
        on_progress=partial(setting.progress, name),
    )
    if _outdated(place):
        report(place)


def _outdated(place: Path) -> bool:
    """Tell whether records came after the report, which experiments that share them need once."""
    last = place / LAST
    return not last.exists() or last.stat().st_mtime_ns < (place / RECORDS).stat().st_mtime_ns


def _records(place: Path, wanted: Sequence[str]) -> dict[str, list[CaseRecord]]:
    by_system: dict[str, list[CaseRecord]] = {one: [] for one in wanted}
    for one in RunFolder(place).records():
        if one.system in by_system:
            by_system[one.system].append(one)
    return by_system


def _tables(
    experiment: Experiment,
    setting: Setting,
    name: str,
    summary: Summary,
    by_system: Mapping[str, Sequence[CaseRecord]],
) -> Iterator[str]:
    for view in experiment.views:
        if view == "scores":
            yield from tables.scores(summary)
        elif view == "contrasts":
            yield from tables.contrasts(summary)
        elif view == "groups":
            yield from tables.groups(summary)
        elif view == "effort":
            away = () if setting.backing else experiment.model_systems
            yield from tables.effort(by_system, away)
        elif view != "overview":
            raise InputError(f"experiment {experiment.name!r} has no view {view!r}")
    if figures := setting.figures(experiment, name):
        yield from tables.beside_paper(summary, figures, setting.same_data(name))
        yield from tables.printed_in_paper(figures, setting.same_data(name))


def run_place(experiment: Experiment, setting: Setting, name: str) -> Path:
    """Return the folder of records on a data set, which experiments may share."""
    return setting.place(_sort(experiment, setting), name, setting.split(name))


def wanted_systems(experiment: Experiment, setting: Setting) -> list[str]:
    """Return the systems of an experiment that can be run."""
    more = experiment.model_systems if setting.backing else ()
    return [*experiment.systems, *more]


def _sort(experiment: Experiment, setting: Setting) -> str:
    return f"{setting.mode}-{'answers' if experiment.generate else 'rankings'}"
