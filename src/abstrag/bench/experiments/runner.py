"""Runs experiments one after the other; whatever was finished before is only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from abstrag.baselines.system import Ranked, System
from abstrag.bench.abstrag_system import AbstragSystem, SharedIndexer
from abstrag.bench.case import Case, Dataset
from abstrag.bench.experiments import tables
from abstrag.bench.experiments.adaptive import run_adaptive
from abstrag.bench.experiments.config import Experiment, ExperimentKind
from abstrag.bench.experiments.documents import score_documents
from abstrag.bench.experiments.refined import run_refinement
from abstrag.bench.experiments.setting import ExperimentSection, Setting
from abstrag.bench.experiments.sweep import run_sweep
from abstrag.bench.experiments.systems import run_systems
from abstrag.bench.experiments.tables import table
from abstrag.bench.metrics.metric import values
from abstrag.bench.metrics.suff import SUFF
from abstrag.bench.record import CaseRecord
from abstrag.bench.run_folder import RunFolder
from abstrag.bench.scoring import Bench, ScoringUnit
from abstrag.bench.summary import summarize
from abstrag.bench.systems import Builder, SystemSpec
from abstrag.config import W_L
from abstrag.indexing.utility import calibrate
from abstrag.model.background import EMPTY, Background
from abstrag.model.query import Bridge
from abstrag.model.term import Family, LicenceKind
from abstrag.search.query.time import ExpandTime
from abstrag.search.relevance import PRESETS

# With and without a Background: do its roles, times and events get used, and does anything
# suffer.
#
# The paper's toy check. A bridge counts as activated when one of the first hits meets a literal
# over it, and it is the role operator's, the time operator's, or stated by the Background.

WITHOUT: Final = "empty B"
WITH: Final = "with B"
_DEPTH: Final = 10


@dataclass(slots=True)
class TellingSystem(AbstragSystem):
    """Ours, which also tells which bridges of the Background its hits rest on."""

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank, and count the activated bridges of the first hits by their family."""
        ranked, told = AbstragSystem.search_explained(self, query, k)
        hits = self.document.search(query, k=k).hits
        bridges = {b for hit in hits for one in hit.trace.literals if one.met for b in one.bridges}
        counts = Counter(sort for b in bridges if (sort := activated(b)) is not None)
        details = {**told["details"], "activated": dict(sorted(counts.items()))}
        return ranked, {**told, "details": details}


def activated(bridge: Bridge) -> str | None:
    """Name what a bridge activates: the role operator, the time operator, or an entry of B."""
    if bridge.operator == ExpandTime.name:
        return "time operator"
    if bridge.family is Family.INTENT:
        return "role operator"
    if bridge.licence is not None and bridge.licence.kind is LicenceKind.BACKGROUND:
        return f"{bridge.family.value}, stated by B"
    return None


class InformedBuilder(Builder):
    """Makes the two arms: the same system, with and without a Background."""

    def __init__(self, background: Background, preset: str) -> None:
        super().__init__()
        self._background = background
        self._preset = preset

    def __call__(self, spec: SystemSpec) -> System:
        """Make one arm."""
        own = self._background if spec.name == WITH else EMPTY
        return TellingSystem(
            spec.name, PRESETS[self._preset], indexer=SharedIndexer(background=own)
        )


def run_background(experiment: Experiment, setting: Setting) -> Iterator[ExperimentSection]:
    """Run both arms on the cases shipped with the experiment and on the data sets."""
    background = Background.load(Path(setting.folder.path) / str(experiment.background))
    for name, dataset in setting.sources(experiment):
        if isinstance(dataset, str):
            yield ExperimentSection(name, not_run=dataset)
            continue
        for preset in experiment.presets:
            place = setting.place("background", preset, name, dataset.split)
            records = _scored(dataset, background, preset, place, setting)
            yield ExperimentSection(
                f"{setting.titled(experiment, name)}, preset {preset}",
                tuple(_tables(RunFolder(place), records)),
                setting.shown(place),
            )


def _scored(
    dataset: Dataset, background: Background, preset: str, place: Path, setting: Setting
) -> tuple[CaseRecord, ...]:
    specs = [SystemSpec(arm, "abstrag", {"preset": preset}) for arm in (WITHOUT, WITH)]
    bench = Bench(specs, InformedBuilder(background, preset))
    infos = {spec.name: bench.info(spec) for spec in specs}
    stated = replace(infos[WITH], fidelity=f"{infos[WITH].fidelity}; with {background.name}")

    def score(cases: Sequence[Case]) -> Sequence[CaseRecord]:
        return bench.score(ScoringUnit({spec.name: cases for spec in specs}, _DEPTH))

    return score_documents(
        dataset,
        place,
        {**infos, WITH: stated},
        score,
        limit=setting.limit,
        on_progress=partial(setting.progress, dataset.split),
    )


def _tables(folder: RunFolder, records: Sequence[CaseRecord]) -> Iterator[str]:
    summary = summarize(folder.manifest(), records, reference=WITH)
    yield from tables.scores(summary)
    yield from tables.contrasts(summary)
    cases: Counter[tuple[str, str]] = Counter()
    for one in records:
        cases.update((sort, one.system) for sort in one.details.get("activated", {}))
    sorts = sorted({sort for sort, _ in cases})
    rows = [(sort, *(str(cases[sort, arm]) for arm in (WITHOUT, WITH))) for sort in sorts]
    if rows:
        head = ("bridge", WITHOUT, WITH)
        yield "*cases whose first hits rest on such a bridge*\n\n" + tables.table(head, rows)
    for metric in (SUFF @ 10, (SUFF @ 10).shown):
        was = values(metric, [r for r in records if r.system == WITHOUT]).by_case
        now = values(metric, [r for r in records if r.system == WITH]).by_case
        gained = sum(now[case] > was[case] for case in was if case in now)
        lost = sum(now[case] < was[case] for case in was if case in now)
        tied = len(was) - gained - lost
        yield f"{metric}: {gained} cases gained, {lost} lost, {tied} tied."


# A layout-role schedule from ratings, where somebody has rated papers (appendix K).


def run_calibration(experiment: Experiment, setting: Setting) -> Iterator[ExperimentSection]:
    """Aggregate the ratings file of the data folder, and set the paper's weights beside it."""
    path = setting.data / str(experiment.ratings)
    rubric = table(
        ("rating", "a section that"),
        [(f"{value:.1f}", what) for what, value in experiment.rubric.items()],
    )
    if not path.is_file():
        yield ExperimentSection(
            "ratings",
            (rubric,),
            not_run=f"there is no ratings file DATA/{experiment.ratings}; "
            "the paper's six rated papers are not published",
        )
        return
    printed = W_L["scientific"]
    rows = [
        (role, f"{weight:.2f}", f"{printed[role]:.2f}" if role in printed else "–")
        for role, weight in calibrate(path).items()
    ]
    yield ExperimentSection(
        "ratings", (rubric, table(("role", "calibrated", "scientific schedule"), rows))
    )


Runner = Callable[[Experiment, Setting], Iterator[ExperimentSection]]
RUNNERS: Final[Mapping[ExperimentKind, Runner]] = {
    ExperimentKind.SYSTEMS: run_systems,
    ExperimentKind.SWEEP: run_sweep,
    ExperimentKind.REFINEMENT: run_refinement,
    ExperimentKind.ADAPTIVE: run_adaptive,
    ExperimentKind.BACKGROUND: run_background,
    ExperimentKind.CALIBRATION: run_calibration,
}


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """An experiment and what came out of it."""

    experiment: Experiment
    sections: tuple[ExperimentSection, ...]


def run_experiments(setting: Setting, names: Sequence[str] = ()) -> list[ExperimentResult]:
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
            results.append(ExperimentResult(one, tuple(RUNNERS[one.kind](one, setting))))
    return results
