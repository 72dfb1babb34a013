"""Where experiments run: the data, the folder of records, and what every kind of them needs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeVar

from abstrag.errors import InputError
from abstrag.model.record import from_json, record
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.case import Dataset
from abstrag_bench.datasets import plain
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.generation import Writer

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


TIMES: Final = "times.json"
SETTINGS: Final = "settings.json"
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ExperimentSection:
    """What came out of an experiment on one data set: tables, or why it was not run."""

    dataset: str  # or what else it was run on
    tables: tuple[str, ...] = ()
    records: str = ""  # where the records lie, below the folder of the run
    not_run: str = ""


@dataclass(slots=True)
class Setting:
    """The parts that all experiments of a run share."""

    folder: Folder
    data: Path
    out: Path
    chosen: tuple[str, ...] = ()  # the experiments to be run, by name
    splits: Mapping[str, str] = field(default_factory=dict)  # other splits than the configs'
    limit: int | None = None
    workers: int = 1
    backing: Backing | None = None
    writer: Writer | None = None  # of answers
    tell: Tell = lambda _text: None
    _loaded: dict[str, Dataset] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        """Say whether a model can be asked."""
        return "llm" if self.backing else "local"

    def split(self, name: str) -> str:
        """Return the split a data set is read in."""
        return self.splits.get(name, self.folder.data[name].split)

    def dataset(self, name: str) -> Dataset:
        """Load a data set; InputError when it is not at hand."""
        if name not in self._loaded:
            loaded = load_dataset(name, self.data, self.split(name))
            if not loaded.cases:
                raise InputError(f"{name!r} has no case in split {self.split(name)!r}")
            self._loaded[name] = loaded
        return self._loaded[name]

    def missing(self, name: str) -> str | None:
        """Say why a data set is not at hand; None when it is."""
        try:
            self.dataset(name)
        except InputError as error:
            # a path is of this machine, and the page is for everybody
            said = str(error).replace(str(self.data), "DATA")
            return said + (f" ({error.hint})" if error.hint else "")
        return None

    def sources(self, experiment: Experiment) -> Iterator[tuple[str, Dataset | str]]:
        """Go through an experiment's own cases and its data sets, or say why one is missing."""
        if experiment.cases:
            path = Path(self.folder.path) / experiment.cases
            yield path.stem, plain.load(path, path.stem)
        for name in experiment.datasets:
            yield name, self.missing(name) or self.dataset(name)

    def titled(self, experiment: Experiment, name: str) -> str:
        """Name a source in a heading: cases of an experiment's own by their file."""
        own = experiment.cases and Path(experiment.cases).stem == name
        return f"our own cases, experiments/{experiment.cases}" if own else name

    def same_data(self, name: str) -> bool:
        """Tell whether figures of the paper are about the same cases."""
        info = self.folder.data.get(name)
        return info is not None and self.split(name) == info.paper_split and self.limit is None

    def figures(self, experiment: Experiment, name: str) -> Mapping[str, object]:
        """Return what the paper prints about a data set, or nothing."""
        found = self.folder.figures.get(experiment.figures or "", {}).get(name, {})
        return dict(found)

    def progress(self, name: str, done: int, total: int) -> None:
        """Tell how far a data set has got."""
        self.tell(f"{name}: {done} of {total}")

    def place(self, *parts: str) -> Path:
        """Return a folder for records; a limited run has folders of its own."""
        name = "-".join(part.replace(":", "-").replace("@", "-") for part in parts)
        return self.out / (f"{name}-first{self.limit}" if self.limit else name)

    def shown(self, path: Path) -> str:
        """Name a folder of records as the page does."""
        return path.relative_to(self.out).as_posix()

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add what is spent inside to the time of an experiment, over all runs of it."""
        started = perf_counter()
        try:
            yield
        finally:
            spent = self.times()
            spent[name] = round(spent.get(name, 0.0) + perf_counter() - started, 1)
            _write(self.out / TIMES, spent)

    def times(self) -> dict[str, float]:
        """Return the seconds spent so far, by experiment."""
        path = self.out / TIMES
        return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def same_settings(place: Path, settings: Mapping[str, object]) -> None:
    """Refuse to go on under other settings: the records would not belong together."""
    path = place / SETTINGS
    wanted = json.loads(json.dumps(settings))
    if not path.exists():
        _write(path, wanted)
    elif json.loads(path.read_text("utf-8")) != wanted:
        raise InputError(
            f"{str(place)!r} was begun with other settings or another version",
            hint=f"see {str(path)!r}; choose another --out",
        )


def _write(path: Path, value: object) -> None:
    """Write a file that is whole or not there, whenever the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.tmp")
    draft.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
    draft.replace(path)
