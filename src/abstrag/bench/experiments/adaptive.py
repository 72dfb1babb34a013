"""The budget a query needs against budgets for all: the paper's one negative result.

A case is one of two bridges when some gold segment meets every literal within τ and only their sum
overruns it. A larger τ for everybody mends these cases and lets noise into the others; adaptive τ
proposes b* for one query at a time, and the gate decides. Only hits count: a ranking is not filled
up with segments that are none, so the figures over all ranks and over what is shown are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from abstrag.bench.abstrag_system import SharedIndexer
from abstrag.bench.case import Case
from abstrag.bench.experiments.config import Experiment
from abstrag.bench.experiments.documents import score_documents
from abstrag.bench.experiments.setting import ExperimentSection, Setting
from abstrag.bench.experiments.tables import table
from abstrag.bench.metrics.metric import Metric, values
from abstrag.bench.metrics.ndcg import NDCG
from abstrag.bench.metrics.suff import SUFF
from abstrag.bench.paired import difference_of_each, interval_of_each, paired
from abstrag.bench.record import CaseRecord
from abstrag.bench.render.numbers import signed, with_range
from abstrag.bench.run_folder import SystemInfo
from abstrag.config import TAU
from abstrag.indexing.pipeline import fingerprint
from abstrag.model.patch import ClauseCost, Failure, Patch, Stage
from abstrag.model.ranking import Ranking
from abstrag.refine.episode import Episode
from abstrag.refine.propose import LocalProposer, Proposer, Unusable
from abstrag.search.relevance import PRESETS, Preset
from abstrag.search.scoring import Scoring
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.refining import RefineOptions

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
            for tau in self.budgets:
                ranking = document.search(case.query, k=2 * _DEPTH, tau=tau)
                found.append(_record(case, fixed(tau), ranking, elements, sort))
            tau = taus.get(case.query) or TAU
            ranking = document.search(case.query, k=2 * _DEPTH, tau=tau)
            found.append(_record(case, ADAPTIVE, ranking, elements, sort))
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
    return CaseRecord(
        dataset=case.dataset,
        split=case.split,
        case_id=case.case_id,
        system=system,
        query=case.query,
        ranked=tuple(best)[:_DEPTH],
        scores=tuple(best.values())[:_DEPTH],
        gold=case.gold,
        gold_sets=case.gold_sets,
        group=sort,
        tau=ranking.tau,
        document=case.document.id,
        pool=len(case.document.elements),
        retrieved=len(best),
    )


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
        yield f"*{sort}, {n} cases with gold evidence, preset `{preset}`*\n\n" + table(head, rows)
    yield f"Queries that the gate granted a budget of their own: {raised}."
