"""Runs experiments one after the other; whatever was finished before is only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.bench.experiments.adaptive import run_adaptive
from abstrag.bench.experiments.calibration import run_calibration
from abstrag.bench.experiments.config import Experiment, Kind
from abstrag.bench.experiments.informed import run_background
from abstrag.bench.experiments.refined import run_refinement
from abstrag.bench.experiments.setting import Section, Setting
from abstrag.bench.experiments.sweep import run_sweep
from abstrag.bench.experiments.systems import run_systems

Runner = Callable[[Experiment, Setting], Iterator[Section]]
RUNNERS: Final[Mapping[Kind, Runner]] = {
    Kind.SYSTEMS: run_systems,
    Kind.SWEEP: run_sweep,
    Kind.REFINEMENT: run_refinement,
    Kind.ADAPTIVE: run_adaptive,
    Kind.BACKGROUND: run_background,
    Kind.CALIBRATION: run_calibration,
}


@dataclass(frozen=True, slots=True)
class Result:
    """An experiment and what came out of it."""

    experiment: Experiment
    sections: tuple[Section, ...]


def run_experiments(setting: Setting, names: Sequence[str] = ()) -> list[Result]:
    """Run some experiments, or all of them, and return what they show.

    Args:
        setting: the data, the folder of records, and what can be asked.
        names: of experiments; none means all.

    Raises:
        InputError: A name is not an experiment's, or records belong to another version.
        OverBudget: The budget of model calls is spent; what is finished is kept.
    """
    some = [setting.folder.named(name) for name in names] or list(setting.folder.experiments)
    setting.chosen = tuple(one.name for one in some)
    results = []
    for one in some:
        setting.tell(f"== {one.name}")
        with setting.timed(one.name):
            results.append(Result(one, tuple(RUNNERS[one.kind](one, setting))))
    return results
