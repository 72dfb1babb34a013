"""The refinement-stress slice: what each control of the gate is for, measured on labelled data.

Every document is refined on its own queries, once under each arm: the full gate, and then, without
the demand for progress that would stand in for them, both controls, one of them, none. The gate
sees the evaluator's verdicts; gold only measures, after the fact. The slice proper is the documents
on which a patch can do harm: the evaluator finds a failure to refine on and a solved case to lose.
Rankings hold hits alone, so the figures over all ranks and over what is shown are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.config import MAX_GAP, OMEGA, TAU
from abstrag.engine.refinement import Refiner
from abstrag.errors import InputError
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EventMapping,
    Failure,
    HypernymRestriction,
    Patch,
    Stage,
    StepPrice,
)
from abstrag.model.query import LiteralKind
from abstrag.model.ranking import Hit
from abstrag.model.record import from_json, record, to_json
from abstrag.model.term import Family, Licence, LicenceKind
from abstrag.refine.evaluator import Evaluator, K, reach_of
from abstrag.refine.explain import assumed
from abstrag.refine.feedback import Episode
from abstrag.refine.gate import Controls
from abstrag.refine.lessons import base
from abstrag.refine.outcome import Run
from abstrag.refine.propose import Delta, nearest, patch_cost, unmet_literals
from abstrag.search.document_words import forms
from abstrag.search.lexical import words
from abstrag.search.relevance import DEFAULT_PRESET, Preset
from abstrag.search.scoring import Scoring
from abstrag.search.why_not import KINDS
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.refining import RefineOptions, refiner_of
from abstrag_bench.abstrag_system import SharedIndexer
from abstrag_bench.case import Case, Dataset, by_document
from abstrag_bench.metrics.catalogue import NDCG, OVER_EXPANSION, PRESERVED, SUFF
from abstrag_bench.metrics.metric import Metric, values
from abstrag_bench.record import CaseRecord
from abstrag_bench.render.table import markdown_table
from abstrag_bench.stats import (
    BootstrapInterval,
    PairedDifference,
    difference_of_each,
    interval_of_each,
    paired,
)

# A proposer that guesses: what the gate has to cope with when nothing licenses a patch.

_GUESSED: Final = Licence(LicenceKind.MODEL, "guessed")
_STEP: Final = 0.01  # what keeps a price on its side of another
_STAGE: Final = {
    Alias: Stage.MAP,
    EventMapping: Stage.EVENT,
    HypernymRestriction: Stage.QUERY,
    ClauseCost: Stage.QUERY,
    StepPrice: Stage.MAP,
}


@dataclass(frozen=True, slots=True)
class GuessingProposer:
    """Guesses what to let in and what to keep out by turns, the most far-reaching first.

    It stands for a careless model, which does not care for the stage it is asked about either. To
    let something in, it takes any word or term of the missed segment for one that is asked for:
    the segment rises, and so does whatever else holds it. To keep something out, it rules out the
    words by which most of the first hits are found, prices a family of bridges out of the budget
    or bars a step to a broader concept: distractors go, and so does evidence of other queries that
    hangs on them. Which it begins with hangs on the failure. Only the stress slice uses it.
    """

    k: int = K

    def __call__(
        self,
        failure: Failure,
        stage: Stage,  # noqa: ARG002
        scoring: Scoring,
    ) -> Iterable[Patch]:
        """Go through the guesses, each at the stage its kind belongs to."""
        turns = [_let_in(failure, scoring), self._keep_out(scoring)]
        if sha256(f"{failure.query} {failure.gap:.6f}".encode()).digest()[0] % 2:
            turns.reverse()
        for delta in chain.from_iterable(zip_longest(*turns)):
            if delta is not None:
                yield Patch(_STAGE[type(delta)], delta, _GUESSED, patch_cost(delta))

    def _keep_out(self, scoring: Scoring) -> Iterator[Delta]:
        """Words ruled out, higher prices of families, bars on steps, by the hits they serve."""
        hits = scoring.ranking(self.k).hits
        met = [w for hit in hits for w in hit.words if w.met and words(w.asked) and words(w.said)]
        said = Counter((base(w.asked), base(w.said)) for w in met)
        for asked, word in sorted(said, key=lambda step: (-said[step], step)):
            yield StepPrice(asked, word, at_least=MAX_GAP)
        steps = Counter(bridge for hit in hits for bridge in dict.fromkeys(assumed(hit)))
        families: Counter[Family] = Counter()
        for bridge, count in steps.items():
            families[bridge.family] += count
        for family in sorted(families, key=lambda f: (-families[f], f)):
            yield ClauseCost(family=family, weight=_steep(family))
        for bridge in sorted(steps, key=lambda b: (-steps[b], b.source, b.target)):
            if bridge.family is Family.CONCEPT:
                yield HypernymRestriction(bridge.source, bridge.target)


def _let_in(failure: Failure, scoring: Scoring) -> Iterator[Delta]:
    """Each word for those that are dear, then each term for the literals it fits by its kind."""
    hit = nearest(failure, scoring)
    if hit is None:
        return
    yield from _words_let_in(hit, scoring)
    here = scoring.index.terms_of(hit.position)
    for literal in unmet_literals(failure):
        prefixes = tuple(f"{kind.value}:" for kind in KINDS[literal.kind])
        fitting = [t for t in here if t.startswith(prefixes) and "." not in t]
        spread = {term: len(scoring.index.told(term, literal)[0]) for term in fitting}
        for term in sorted(fitting, key=lambda t: (-spread[t], t)):
            if term not in literal.terms:
                kind = EventMapping if literal.kind is LiteralKind.EVENT else Alias
                yield kind(term, literal.terms[0], 0.0)


def _words_let_in(hit: Hit, scoring: Scoring) -> Iterator[Delta]:
    """Offer any word of the segment for one that is costly there, at no price, commonest first."""
    if scoring.alignment is None:
        return
    bases, owners, numbers = scoring.alignment.words.bases
    spread = np.bincount(numbers, minlength=len(bases))
    here = sorted(set(numbers[owners == hit.position].tolist()), key=lambda n: (-spread[n], n))
    for word in sorted(hit.words, key=lambda one: -one.price):
        own = set(forms(word.asked))
        if word.price > 0 and words(word.asked) and not any(c.isdigit() for c in word.asked):
            for said in (bases[n] for n in here):
                if own.isdisjoint(forms(said)) and words(said):
                    yield StepPrice(base(word.asked), said, at_most=0.0)


def _steep(family: Family) -> float:
    """Return the highest price the order of ω leaves a family; the dearest is priced out of τ."""
    above = [weight for weight in OMEGA.values() if weight > OMEGA[family]]
    return round(min(above) - _STEP if above else TAU + _STEP, 4)


UNREFINED: Final = "unrefined"
SOLVED: Final = "solved"  # the evaluator finds evidence in the unrefined ranking
BOTH: Final = "both controls"
ARMS: Final[Mapping[str, Controls]] = {
    "full gate": Controls(),
    BOTH: Controls(progress=False),
    "no compression control": Controls(compression=False, progress=False),
    "no sufficiency control": Controls(sufficiency=False, progress=False),
    "no controls": Controls(sufficiency=False, compression=False, progress=False),
}
REASONS: Final = {  # why an attempt was refused, and how its reason reads
    "control loses evidence": "loses its evidence",
    "ranking turned over": "of the first hits stay",
    "spreads out": "spreads out",
    "no first hit changes": "the first hits of no query change",
    "solves nothing": "solves nothing",
    "solves less": "solves less",
    "judges disagree": "judges disagree",
    "changes nothing": "it changes nothing",
    "a state that was left": "a state that was left",
    "not allowed": "allowed",
}
OnDocument = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Stress:
    """How the slice is run: who evaluates, whether it may look at gold, and under which preset.

    `evaluator` makes one for a document, which a judge reads under its own title.
    """

    evaluator: Callable[[SearchableDocument], Evaluator]
    k: int | None = K  # how far critic and metrics look; None: by the size of the document
    gold: bool = False  # gold defines sufficiency for the gate too; for diagnosis only
    preset: Preset = DEFAULT_PRESET
    guessing: bool = False  # patches are guessed instead of licensed
    arms: Mapping[str, Controls] = field(default_factory=lambda: ARMS)

    def records(self, cases: Sequence[Case], indexer: SharedIndexer) -> Iterator[CaseRecord]:
        """Refine one document under every arm; yields each case unrefined and under each arm."""
        pooled, made = indexer(cases[0].document)
        elements = pooled.element_ids(made)
        options = SearchOptions(preset=self.preset, patched=False)
        document = indexer.workspace.document(made, options)
        evaluator = self.evaluator(document)
        k = self.k or reach_of(len(made.segments))
        names = {  # an element may be several segments, of which the first stands for it
            element: segment.id
            for element, segment in reversed(list(zip(elements, made.segments, strict=True)))
        }
        episodes = {case.case_id: self._episode(case, names) for case in _distinct(cases)}
        kept = [case for case in cases if case.case_id in episodes]
        before: dict[str, CaseRecord] = {}
        for arm, controls in self.arms.items():
            how = RefineOptions(
                keep=False,
                evaluator=evaluator,
                proposer=GuessingProposer(k) if self.guessing else None,
                controls=controls,
            )
            refiner = refiner_of(document, how)
            if not before:
                before = {
                    c.case_id: replace(
                        self._record(c, refiner, elements, k),
                        details={SOLVED: _solved(refiner, episodes[c.case_id])},
                    )
                    for c in kept
                }
                yield from before.values()
            run = refiner.run(list(episodes.values()))
            for case in kept:
                after = self._record(case, refiner, elements, k, arm)
                yield self._compared(after, before[case.case_id], run)

    def _episode(self, case: Case, names: Mapping[str, str]) -> Episode:
        gold = (names[name] for name in case.gold if name in names) if self.gold else ()
        return Episode(case.document.id, case.query, tuple(gold))

    def _record(
        self,
        case: Case,
        refiner: Refiner,
        elements: Sequence[str],
        k: int,
        system: str = UNREFINED,
    ) -> CaseRecord:
        ranking = refiner.system.scoring(case.query, refiner.state).ranking(2 * k)
        best: dict[str, float] = {}
        patched: dict[str, None] = {}
        for hit in ranking.hits:
            name = elements[hit.position]
            if name in best:
                continue
            best[name] = hit.relevance
            licences = [bridge.licence for bridge in assumed(hit)]
            if any(found is not None and found.kind is LicenceKind.PATCH for found in licences):
                patched[name] = None
        return case.record(
            system,
            tuple(best)[:k],
            tuple(best.values())[:k],
            tau=ranking.tau,
            retrieved=len(best),
            patched=tuple(patched),
        )

    def _compared(self, after: CaseRecord, before: CaseRecord, run: Run) -> CaseRecord:
        """Complete a record with what it was before, and what the run did to it."""
        suff = SUFF @ (self.k or K)  # rankings are cut at the document's own K
        solved = bool(suff(before))
        own = [made for made in run.refinements if made.query == after.query]
        return replace(
            after,
            ranked_before=before.ranked,
            preserved=bool(suff(after)) if solved and run.patches else None,
            details={
                **before.details,
                "triggered": bool(own),
                "patches": len(run.patches),
                "attempts": sum(len(s.attempts) for made in run.refinements for s in made.steps),
                "end": run.end.name.lower(),
                "refused": dict(refusals(run)),
            },
        )


def refusals(run: Run) -> Counter[str]:
    """Count the attempts of a run that were turned down, by their first reason."""
    attempts = [one for made in run.refinements for step in made.steps for one in step.attempts]
    return Counter(
        next((name for name, sign in REASONS.items() if sign in one.verdict.reasons[0]), "other")
        for one in attempts
        if not one.verdict.accepted
    )


def run_stress(
    dataset: Dataset,
    stress: Stress,
    out: Path,
    *,
    limit: int | None = None,
    on_document: OnDocument = lambda _name, _done, _total: None,
) -> list[CaseRecord]:
    """Run documents that have gold and have not been run; returns the records of all of them.

    Records are appended document by document, so that a run can be stopped and taken up again.
    """
    chosen = list(by_document(case for case in dataset.cases if case.gold).items())[:limit]
    if not chosen:
        raise InputError(f"{dataset.name!r} has no case with gold in split {dataset.split!r}")
    out.mkdir(parents=True, exist_ok=True)
    path = out / "records.jsonl"
    done = _finished(path, {UNREFINED, *stress.arms})
    indexer = SharedIndexer()
    for number, (name, cases) in enumerate(chosen):
        if name not in done:
            on_document(name, number, len(chosen))
            made = list(stress.records(cases, indexer))
            with path.open("a", encoding="utf-8") as file:
                file.write("".join(to_json(record) + "\n" for record in made))
            done[name] = made
    return [record for name, _ in chosen for record in done[name]]


def _finished(path: Path, systems: set[str]) -> dict[str, list[CaseRecord]]:
    """Read what an earlier run has finished; a document it was stopped in is dropped."""
    found: dict[str, list[CaseRecord]] = {}
    if not path.exists():
        return found
    text = path.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    for line in whole.splitlines():
        record = from_json(CaseRecord, line)
        found.setdefault(record.document, []).append(record)
    done = {
        name: records
        for name, records in found.items()
        if {r.system for r in records} == systems and len(records) % len(systems) == 0
    }
    kept = "".join(to_json(record) + "\n" for records in done.values() for record in records)
    if kept != text:
        path.write_text(kept, encoding="utf-8")
    return done


def _solved(refiner: Refiner, episode: Episode) -> bool:
    """Tell whether a case may be a control before anything is refined."""
    evaluator = refiner.judges.evaluator
    ranking = refiner.search(episode.query, k=evaluator.k)
    return evaluator.signals(episode, ranking, refiner.searcher.index.segments).sufficient


def _distinct(cases: Sequence[Case]) -> Iterator[Case]:
    """One case for each question: the gate tells cases apart by what they ask."""
    seen: set[str] = set()
    for case in cases:
        if case.query not in seen:
            seen.add(case.query)
            yield case


# What a stress run shows: figures of each arm with intervals, and what each control does.
#
# Preserved is told twice. Of all cases whose gold was there, some were triggers all the same,
# because the evaluator did not see it; a control can only guard what the evaluator takes for
# solved.


@record
class ArmSummary:
    """One arm: how often it was called for, what it kept, and every metric with its interval.

    `change` is against no refinement, paired by case. `control` is the same case under both
    controls less under this arm: what the missing control would have done.
    """

    arm: str
    cases: int
    triggered: float | None
    patches: int | None
    metrics: Mapping[str, BootstrapInterval]
    change: Mapping[str, PairedDifference]
    control: Mapping[str, PairedDifference]


@record
class StressSummary:
    """A data set's split, and all arms on it."""

    dataset: str
    split: str
    k: int
    documents: int
    slice_documents: int  # which took a patch under some arm
    arms: tuple[ArmSummary, ...]


def stress_metrics(k: int) -> Mapping[str, Metric]:
    """Return the metrics of the slice at the depth the critic looks to."""
    return {str(m): m for m in (SUFF @ k, NDCG @ k, OVER_EXPANSION @ k, PRESERVED)}


def interacting(records: Sequence[CaseRecord]) -> list[CaseRecord]:
    """Keep the documents on which the evaluator finds both a failure and a solved case."""
    found: dict[str, set[bool]] = {}
    for one in records:
        if one.system == UNREFINED:
            found.setdefault(one.document, set()).add(bool(one.details[SOLVED]))
    return [one for one in records if len(found[one.document]) > 1]


def summarize(records: Sequence[CaseRecord], *, k: int) -> StressSummary:
    """Compute everything from the records alone."""
    by_arm = {
        arm: [r for r in records if r.system == arm]
        for arm in (UNREFINED, *ARMS)
        if any(r.system == arm for r in records)
    }
    cells = {
        (arm, name): found
        for arm, some in by_arm.items()
        for name, found in _values(some, k).items()
        if found
    }
    spans = interval_of_each(cells)
    patched = {r.document for r in records if r.details.get("patches")}
    return StressSummary(
        dataset=records[0].dataset,
        split=records[0].split,
        k=k,
        documents=len({r.document for r in records}),
        slice_documents=len(patched),
        arms=tuple(_arm(arm, some, cells, spans) for arm, some in by_arm.items()),
    )


_LESS: Final = tuple(ARMS)[2:]  # the arms that lack a control
_CONTROLS: Final = f"{PRESERVED} of controls"
_Cells = Mapping[tuple[str, str], Mapping[str, float]]


def _arm(
    arm: str,
    records: Sequence[CaseRecord],
    cells: _Cells,
    spans: Mapping[tuple[str, str], BootstrapInterval],
) -> ArmSummary:
    refined = arm != UNREFINED
    documents = {r.document: int(r.details.get("patches", 0)) for r in records}
    return ArmSummary(
        arm=arm,
        cases=len(records),
        triggered=(
            sum(bool(r.details["triggered"]) for r in records) / len(records) if refined else None
        ),
        patches=sum(documents.values()) if refined else None,
        metrics={name: span for (own, name), span in spans.items() if own == arm},
        change=_differences(cells, arm, UNREFINED) if refined else {},
        control=_differences(cells, BOTH, arm) if arm in _LESS else {},
    )


def _values(records: Sequence[CaseRecord], k: int) -> Mapping[str, Mapping[str, float]]:
    made = {name: values(metric, records).by_case for name, metric in stress_metrics(k).items()}
    controls = [one for one in records if one.details.get(SOLVED)]
    return {**made, _CONTROLS: values(PRESERVED, controls).by_case}


def _differences(cells: _Cells, ours: str, theirs: str) -> Mapping[str, PairedDifference]:
    both = {
        name: paired(cells[ours, name], cells[theirs, name])
        for name in dict.fromkeys(name for _, name in cells)
        if (ours, name) in cells and (theirs, name) in cells
    }
    return difference_of_each({name: some for name, some in both.items() if some})


def to_markdown(summary: StressSummary) -> str:
    """Write the summary as tables; figures are × 100 with 95 % intervals."""
    names = [*stress_metrics(summary.k), _CONTROLS]
    rows, differences = [], []
    for arm in summary.arms:
        rate = "" if arm.triggered is None else f"{100 * arm.triggered:.1f}"
        kept = "" if arm.patches is None else str(arm.patches)
        cells = [_interval(arm.metrics.get(name)) for name in names]
        rows.append([arm.arm, str(arm.cases), rate, kept, *cells])
        for title, found in (
            (f"{arm.arm} − {UNREFINED}", arm.change),
            (f"{BOTH} − {arm.arm}", arm.control),
        ):
            if found:
                differences.append([title, *(_difference(found.get(name)) for name in names)])
    said = (
        f"{summary.dataset} {summary.split}: {summary.documents} documents, of which "
        f"{summary.slice_documents} took a patch under some arm."
    )
    arms = markdown_table(("arm", "cases", "triggered", "patches", *names), rows)
    return f"{said}\n\n{arms}\n\n{markdown_table(('paired difference', *names), differences)}\n"


def _interval(span: BootstrapInterval | None) -> str:
    if span is None:
        return "–"
    return f"{100 * span.mean:.1f} [{100 * span.low:.1f}, {100 * span.high:.1f}] (n {span.n})"


def _difference(found: PairedDifference | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found.mean:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
