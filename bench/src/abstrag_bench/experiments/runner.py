"""Runs experiments one after the other; whatever was finished before is only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from abstrag.config import TAU, W_L
from abstrag.indexing.pipeline import fingerprint
from abstrag.indexing.utility import calibrate
from abstrag.model.background import EMPTY, Background
from abstrag.model.patch import ClauseCost, Failure, Patch, Stage
from abstrag.model.query import Bridge
from abstrag.model.ranking import Ranking
from abstrag.model.term import Family, LicenceKind
from abstrag.refine.feedback import Episode
from abstrag.refine.propose import LocalProposer, Proposer, Unusable
from abstrag.search.query.operators import ExpandTime
from abstrag.search.relevance import PRESETS, Preset
from abstrag.search.scoring import Scoring
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.refining import RefineOptions
from abstrag_bench.abstrag_system import AbstragSystem, SharedIndexer
from abstrag_bench.baselines.system import Ranked, System
from abstrag_bench.case import Case, Dataset, by_document
from abstrag_bench.experiments import tables
from abstrag_bench.experiments.refined import run_refinement
from abstrag_bench.experiments.setting import Experiment, ExperimentKind, ExperimentSection, Setting
from abstrag_bench.experiments.sweep import run_sweep
from abstrag_bench.experiments.systems import run_systems
from abstrag_bench.metrics.catalogue import NDCG, SUFF
from abstrag_bench.metrics.metric import Metric, values
from abstrag_bench.record import CaseRecord
from abstrag_bench.render.table import markdown_table, signed, with_range
from abstrag_bench.run_folder import RunFolder, SystemInfo
from abstrag_bench.runner import DEPTH, Bench, Options, ScoringUnit, chosen, manifest_of
from abstrag_bench.stats import difference_of_each, interval_of_each, paired
from abstrag_bench.summary import summarize
from abstrag_bench.systems import Builder, SystemSpec

Score = Callable[[Sequence[Case]], Sequence[CaseRecord]]


def score_documents(
    dataset: Dataset,
    place: Path,
    systems: Mapping[str, SystemInfo],
    score: Score,
    *,
    limit: int | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[CaseRecord, ...]:
    """Score the documents that have not been scored; return the records of all of them."""
    options = Options(limit=limit)
    cases = chosen(dataset, options)
    folder = RunFolder(place)
    documents = by_document(cases).values()
    with folder.locked():
        folder.begin(manifest_of(dataset, cases, systems, options, DEPTH))
        folder.repair()
        done = folder.done()
        with folder.appending() as appender:
            for number, some in enumerate(documents, 1):
                left = _open(some, systems, done, score)
                if left:
                    appender.write(left)
                on_progress(number, len(documents))
    return folder.records()


def _open(
    cases: Sequence[Case],
    systems: Mapping[str, SystemInfo],
    done: set[tuple[str, str]],
    score: Score,
) -> Sequence[CaseRecord]:
    """Score a document unless all of it is there; a batch that a kill tore is completed."""
    if all((system, case.case_id) in done for system in systems for case in cases):
        return ()
    return [one for one in score(cases) if one.key not in done]


# The budget a query needs against budgets for all: the paper's one negative result.
#
# A case is one of two bridges when some gold segment meets every literal within τ and only their
# sum overruns it. A larger τ for everybody mends these cases and lets noise into the others;
# adaptive τ proposes b* for one query at a time, and the gate decides. Only hits count: a ranking
# is not filled up with segments that are none, so the figures over all ranks and over what is
# shown are the same.

ADAPTIVE: Final = "adaptive τ"
TWO: Final = "two bridges"
OTHER: Final = "the others"
_DEPTH: Final = 10
_METRICS: Final[tuple[Metric, ...]] = (NDCG @ 10, SUFF @ 10)


@dataclass(frozen=True, slots=True)
class BudgetProposer:
    """Proposes another budget for the query at hand, and nothing else."""

    proposer: Proposer = field(default_factory=LocalProposer)

    def __call__(
        self, failure: Failure, stage: Stage, scoring: Scoring
    ) -> Iterable[Patch | Unusable]:
        """Keep what raises τ for one query."""
        if stage is not Stage.QUERY:
            return
        for offered in self.proposer(failure, stage, scoring):
            if (
                isinstance(offered, Patch)
                and isinstance(offered.delta, ClauseCost)
                and offered.delta.tau is not None
            ):
                yield offered


def fixed(tau: float) -> str:
    """Name the arm with one budget for every query."""
    return f"fixed τ {tau:g}"


@dataclass(slots=True)
class AdaptiveArms:
    """Scores the cases of one document under every fixed budget and under the adaptive one."""

    preset: Preset
    budgets: Sequence[float]
    indexer: SharedIndexer = field(default_factory=SharedIndexer)

    @property
    def systems(self) -> dict[str, SystemInfo]:
        """The arms, for a manifest."""
        names = [*map(fixed, self.budgets), ADAPTIVE]
        what = f"ours, preset {self.preset.name}, local mode"
        return {name: SystemInfo(name, f"{what}, {name}", state=fingerprint()) for name in names}

    def __call__(self, cases: Sequence[Case]) -> list[CaseRecord]:
        """Score one document."""
        pooled, made = self.indexer(cases[0].document)
        elements = pooled.element_ids(made)
        options = SearchOptions(preset=self.preset, patched=False)
        document = self.indexer.workspace.document(made, options)
        how = RefineOptions(keep=False, proposer=BudgetProposer())
        asked = dict.fromkeys(case.query for case in cases if case.query.strip())
        episodes = [Episode(made.document.id, query) for query in asked]
        run = document.refine_all(episodes, options=how)
        taus = {p.delta.query: p.delta.tau for p in run.patches if isinstance(p.delta, ClauseCost)}
        found = []
        for case in cases:
            sort = TWO if over_together(document, case, elements) else OTHER
            arms = [*((fixed(tau), tau) for tau in self.budgets)]
            for arm, tau in (*arms, (ADAPTIVE, taus.get(case.query) or TAU)):
                ranking = document.search(case.query, k=2 * _DEPTH, tau=tau)
                found.append(_record(case, arm, ranking, elements, sort))
        return found


def over_together(document: SearchableDocument, case: Case, elements: Sequence[str]) -> bool:
    """Tell whether some gold segment meets each literal within τ and only their sum overruns it."""
    gold = set(case.gold)
    named = zip(elements, document.index.segments, strict=True)
    hits = (document.explain(case.query, s.id, tau=TAU) for name, s in named if name in gold)
    return any(hit.trace.over_budget_by is not None for hit in hits)


def _record(
    case: Case, system: str, ranking: Ranking, elements: Sequence[str], sort: str
) -> CaseRecord:
    best: dict[str, float] = {}
    for hit in ranking.hits:
        best.setdefault(elements[hit.position], round(hit.relevance, 9))
    ranked, scores = tuple(best)[:_DEPTH], tuple(best.values())[:_DEPTH]
    return case.record(system, ranked, scores, group=sort, tau=ranking.tau, retrieved=len(best))


def run_adaptive(experiment: Experiment, setting: Setting) -> Iterator[ExperimentSection]:
    """Run every arm on every data set under every preset."""
    for name, dataset in setting.sources(experiment):
        if isinstance(dataset, str):
            yield ExperimentSection(name, not_run=dataset)
            continue
        for preset in experiment.presets:
            arms = AdaptiveArms(PRESETS[preset], (TAU, *experiment.budgets))
            place = setting.place("adaptive", preset, name, dataset.split)
            records = score_documents(
                dataset,
                place,
                arms.systems,
                arms,
                limit=setting.limit,
                on_progress=partial(setting.progress, name),
            )
            made = tuple(summary_tables(records, preset))
            title = f"{setting.titled(experiment, name)}, preset {preset}"
            yield ExperimentSection(title, made, setting.shown(place))


def summary_tables(records: Sequence[CaseRecord], preset: str) -> Iterator[str]:
    """Compare the arms, on the cases of two bridges and on the others."""
    systems = list(dict.fromkeys(one.system for one in records))
    raised = sum(r.system == ADAPTIVE and r.tau != TAU for r in records)
    for sort in (TWO, OTHER):
        cells = {
            (system, metric): found.by_case
            for system in systems
            for metric in _METRICS
            if (
                found := values(
                    metric, [r for r in records if r.system == system and r.group == sort]
                )
            ).by_case
        }
        if not cells:
            yield f"*{sort}*: no case."
            continue
        spans = interval_of_each(cells)
        deltas = {
            key: paired(by_case, cells[fixed(TAU), key[1]])
            for key, by_case in cells.items()
            if key[0] != fixed(TAU)
        }
        tested = difference_of_each(deltas)
        rows = []
        for system in systems:
            row = [system]
            for metric in _METRICS:
                key = system, metric
                row.append(with_range(spans[key], 100) if key in spans else "–")
                row.append(signed(tested[key], 100) if key in tested else "")
            rows.append(row)
        n = len(next(iter(cells.values())))
        less = f"− {fixed(TAU)}"
        head = ["arm", *(text for m in _METRICS for text in (str(m), less))]
        yield f"*{sort}, {n} cases with gold evidence, preset `{preset}`*\n\n" + markdown_table(
            head, rows
        )
    yield f"Queries that the gate granted a budget of their own: {raised}."


# With and without a Background: do its roles, times and events get used, and does anything
# suffer.
#
# The paper's toy check. A bridge counts as activated when one of the first hits meets a literal
# over it, and it is the role operator's, the time operator's, or stated by the Background.

WITHOUT: Final = "empty B"
WITH: Final = "with B"


@dataclass(slots=True)
class BridgeReportingSystem(AbstragSystem):
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
        return BridgeReportingSystem(
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
        yield "*cases whose first hits rest on such a bridge*\n\n" + markdown_table(head, rows)
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
    rubric = markdown_table(
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
        "ratings", (rubric, markdown_table(("role", "calibrated", "scientific schedule"), rows))
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
