"""An experiment as a file: which table or figure it is about, on which data, with which systems."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from abstrag.errors import InputError
from abstrag.model.record import from_json, record

DATASETS: Final = "datasets.toml"
FIGURES: Final = "paper-figures.toml"
_OTHERS: Final = {DATASETS, FIGURES}
T = TypeVar("T")


class ExperimentKind(StrEnum):
    """How an experiment is run."""

    SYSTEMS = "systems"  # systems on data sets
    SWEEP = "sweep"  # one system under other constants
    REFINEMENT = "refinement"  # every arm of the gate
    ADAPTIVE = "adaptive"  # the budget a query needs, against fixed ones
    BACKGROUND = "background"  # with and without a Background
    CALIBRATION = "calibration"  # a schedule from ratings


@record
class Experiment:
    """One table or figure.

    `paper` are the labels it answers for; empty where it goes beyond the paper. `views` say which
    tables are made of the records, `figures` which of the paper's are set beside them. `differs`
    says in what the experiment is not the paper's, besides the data.
    """

    name: str
    title: str
    asks: str  # what it is to show, in a sentence
    kind: ExperimentKind
    paper: tuple[str, ...] = ()
    differs: str = ""
    datasets: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    model_systems: tuple[str, ...] = ()  # also these, where a model can be asked
    reference: str | None = None
    generate: bool = False
    views: tuple[str, ...] = ()
    figures: str | None = None
    constants: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    presets: tuple[str, ...] = ()
    budgets: tuple[float, ...] = ()
    background: str | None = None  # file beside the config
    cases: str | None = None  # a file of cases beside the config
    ratings: str | None = None  # file under the data folder
    rubric: Mapping[str, float] = field(default_factory=dict)
    timed: int = 0  # so many cases of a data set are timed, each system by itself


@record
class DataInfo:
    """A data set at hand, and the one of the paper that goes by the same name."""

    split: str
    paper_split: str | None = None  # None: the paper has no such data
    paper_cases: int | None = None


@record
class Folder:
    """Everything under `experiments/`."""

    path: str
    experiments: tuple[Experiment, ...]
    data: Mapping[str, DataInfo]
    figures: Mapping[str, Any]

    def named(self, name: str) -> Experiment:
        """Return one experiment."""
        for one in self.experiments:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in self.experiments)
        raise InputError(f"no experiment is called {name!r}", hint=f"one of: {known}")


def load_folder(path: Path) -> Folder:
    """Read every config of a folder, in the order of their names."""
    if not (path / DATASETS).is_file():
        raise InputError(
            f"{str(path)!r} has no {DATASETS}", hint="name the folder that holds the configs"
        )
    data = {
        name: _made(DataInfo, info, path / DATASETS)
        for name, info in _toml(path / DATASETS).items()
    }
    made = []
    for file in sorted(p for p in path.glob("*.toml") if p.name not in _OTHERS):
        one = _made(Experiment, {"name": file.stem, **_toml(file)}, file)
        for name in one.datasets:
            if name not in data:
                raise InputError(
                    f"{str(file)!r} names the data set {name!r}, which {DATASETS} does not have"
                )
        made.append(one)
    return Folder(str(path), tuple(made), data, _toml(path / FIGURES))


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error


def _made(kind: type[T], data: Mapping[str, Any], path: Path) -> T:
    try:
        return from_json(kind, json.dumps(data))
    except InputError as error:
        raise InputError(f"{str(path)!r}: {error}") from None
