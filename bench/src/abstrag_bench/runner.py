"""A run: systems × cases → records, resumable at any point and with as many workers as wanted.

Work goes document by document, so that each system takes a document in once. Results are written
in the order of the data whatever order workers finish in: two runs differ in their timings only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from abstrag.errors import InputError, OverBudget
from abstrag.llm.model import ModelRequest
from abstrag.workers.protocol import Engine, LostItem
from abstrag_bench.baselines.backing import Backing, ModelSystem
from abstrag_bench.baselines.system import Explained, Ranked, System, VersionedSystem
from abstrag_bench.case import Case, Dataset, by_document, sampled
from abstrag_bench.generation import RankedCase, Writer, told
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import OURS, RunFolder, RunManifest, SystemInfo
from abstrag_bench.shared import attach
from abstrag_bench.systems import Builder, SystemSpec


@dataclass(frozen=True, slots=True)
class ScoringUnit:
    """The open cases of one document, by the name of the system."""

    cases: Mapping[str, Sequence[Case]]
    depth: int

    @property
    def size(self) -> int:
        """How many records it makes."""
        return sum(map(len, self.cases.values()))


class Bench:
    """Systems ready to be asked; made once in each process."""

    def __init__(
        self,
        specs: Sequence[SystemSpec],
        builder: Builder | None = None,
        writer: Writer | None = None,
    ) -> None:
        """Make the systems; one that cannot be had fails here, before anything is written."""
        attach()
        made = builder or Builder()
        self._systems = {spec.name: made(spec) for spec in specs}
        self._writer = writer

    def info(self, spec: SystemSpec) -> SystemInfo:
        """Describe a system for the run's manifest."""
        system = self._systems[spec.name]
        state = system.state if isinstance(system, VersionedSystem) else ""
        ours = spec.base.startswith(OURS)
        return SystemInfo(spec.base, system.fidelity, dict(spec.given), state, marks_shown=ours)

    def worst(self, name: str, case: Case) -> list[ModelRequest]:
        """Return as many requests as a system can make for a case, its answer included."""
        system = self._systems[name]
        made = system.worst(case.query, case.document) if isinstance(system, ModelSystem) else []
        return made + (self._writer.worst(system, case) if self._writer else [])

    def score(self, unit: ScoringUnit) -> list[CaseRecord]:
        """Score a unit.

        Whatever a system stumbles over is its failure on these cases: it is recorded, counts as
        nothing retrieved, shows in every report, and does not end a long run. Only a spent
        budget does, for every case after it would fail as well.
        """
        jobs = [
            RankedCase(self._systems[name], case, one)
            for name, cases in unit.cases.items()
            for case, one in zip(cases, self._document(name, cases, unit.depth), strict=True)
        ]
        return self._writer(jobs) if self._writer else [job.record for job in jobs]

    def _document(self, name: str, cases: Sequence[Case], depth: int) -> list[CaseRecord]:
        system = self._systems[name]
        started = perf_counter()
        try:
            system.index(cases[0].document)
        except OverBudget:
            raise
        except Exception as error:
            return [_record(case, name, [], depth, {"error": told(error)}) for case in cases]
        spent = {"index_seconds": round(perf_counter() - started, 6)}
        return [self._case(system, name, case, depth, spent) for case in cases]

    def _case(
        self, system: System, name: str, case: Case, depth: int, known: Mapping[str, Any]
    ) -> CaseRecord:
        more: Mapping[str, Any] = {}
        started = perf_counter()
        try:
            if isinstance(system, Explained):
                ranked, more = system.search_explained(case.query, depth)
            else:
                ranked = system.search(case.query, depth)
        except OverBudget:
            raise
        except Exception as error:
            return _record(case, name, [], depth, {**known, "error": told(error)})
        seconds = {"seconds": round(perf_counter() - started, 6)}  # unless it has its own clock
        return _record(case, name, ranked, depth, {**known, **seconds, **more})


def unscored(unit: ScoringUnit, error: Exception) -> list[CaseRecord]:
    """Return the records of a unit that ended its worker: a failure on every case."""
    return [
        _record(case, name, [], unit.depth, {"error": told(error)})
        for name, cases in unit.cases.items()
        for case in cases
    ]


def _record(
    case: Case, system: str, ranked: Ranked, depth: int, more: Mapping[str, Any]
) -> CaseRecord:
    """Make the record of a case; a ranking that is too short is filled up from the pool.

    A system that ranks more than it would show a user says in `more` how much it would show.
    """
    order = [name for name, _ in ranked]
    scores = [round(score, 9) for _, score in ranked]
    if "error" not in more:
        known = set(order)
        rest = [name for name in case.document.ids if name not in known]
        order += rest
        scores += [min([0.0, *scores])] * len(rest)  # no better than anything retrieved
    return case.record(
        system,
        order[:depth],
        scores[:depth],
        groups=dict(case.groups),
        gold_label=case.label,
        gold_answers=case.answers,
        **{"retrieved": min(len(ranked), depth), **more},
    )


DEPTH: Final = 10
DEPTHS: Final = {"feverous": 30}  # its official score looks at 5 sentences and 25 other elements
WINDOW: Final = 4  # documents per worker that may be under way: they travel with their pools

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """Which cases of a data set are run, how deep rankings are saved, and who does the work."""

    limit: int | None = None
    sample: int | None = None
    balance: str | None = None
    seed: int = 0
    depth: int | None = None  # None: what the data set's own score needs
    engine: Engine | None = None  # None: this process
    retry_failed: bool = False  # score again what failed before


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run did: records it found, records it added, bytes of a torn line it cut off."""

    manifest: RunManifest
    found: int
    added: int
    repaired: int


def chosen(dataset: Dataset, options: Options) -> tuple[Case, ...]:
    """Return the cases a run is about."""
    cases = dataset.cases
    if options.balance is not None and options.sample is None:
        raise InputError("--balance needs --sample", hint="for instance: --sample 250")
    if options.sample is not None:
        cases = sampled(cases, options.sample, balance=options.balance, seed=options.seed)
    cases = cases[: options.limit]
    if not cases:
        raise InputError(
            f"{dataset.name!r} has no case in split {dataset.split!r}",
            hint="check --split, --limit",
        )
    return cases


def run(
    dataset: Dataset,
    specs: Sequence[SystemSpec],
    out: Path,
    options: Options | None = None,
    *,
    backing: Backing | None = None,
    writer: Writer | None = None,
    on_progress: OnProgress = lambda _done, _total: None,
) -> RunOutcome:
    """Score every case under every system that has not been scored yet.

    What the folder `out` holds already is not scored again. `backing` is the language model of the
    systems that ask one; without a writer only rankings are scored. `on_progress` is told how many
    records there are, and how many there will be.

    Raises:
        OverBudget: The budget of model calls is spent; finished documents are kept.
        NeedsModel: A system asks a language model and there is none.
    """
    options = options or Options()
    cases = chosen(dataset, options)
    depth = options.depth or DEPTHS.get(dataset.name, DEPTH)
    if options.engine is not None and (backing or (writer and not writer.travels)):
        raise InputError(
            f"--workers {options.engine.workers} starts processes, "
            "and a model's budget is kept in one",
            hint="leave --workers out; calls to a model go side by side anyway",
        )
    bench = Bench(specs, Builder(backing=backing), writer)
    folder = RunFolder(out)
    with folder.locked():
        systems = {spec.name: bench.info(spec) for spec in specs}
        made = manifest_of(dataset, cases, systems, options, depth)
        manifest = folder.begin(replace(made, generator=writer.fingerprint if writer else ""))
        repaired = folder.repair()
        if options.retry_failed:
            folder.forget_failed()
        done = folder.done()
        units = list(_units(cases, specs, done, depth))
        found = len(cases) * len(specs) - sum(unit.size for unit in units)
        total, finished = len(cases) * len(specs), found
        on_progress(finished, total)
        with folder.appending() as appender:
            for records in _scored(units, specs, bench, options.engine, writer):
                appender.write(records)
                finished += len(records)
                on_progress(finished, total)
    return RunOutcome(manifest, found, finished - found, repaired)


def worst_requests(
    dataset: Dataset,
    specs: Sequence[SystemSpec],
    out: Path,
    options: Options | None = None,
    *,
    backing: Backing | None = None,
    writer: Writer | None = None,
) -> dict[str, list[ModelRequest]]:
    """Return as many requests as a run can make, by system, none shorter than the real ones.

    What the run's folder holds already is not counted; nothing is written.
    """
    options = options or Options()
    cases = chosen(dataset, options)
    bench = Bench(specs, Builder(backing=backing), writer)
    folder = RunFolder(out)
    done = folder.done(with_failed=not options.retry_failed)
    return {
        spec.name: [
            request
            for case in cases
            if (spec.name, case.case_id) not in done
            for request in bench.worst(spec.name, case)
        ]
        for spec in specs
    }


def _units(
    cases: Sequence[Case], specs: Sequence[SystemSpec], done: set[tuple[str, str]], depth: int
) -> Iterator[ScoringUnit]:
    """Group what is left to do by document, in the order of the data."""
    for group in by_document(cases).values():
        left = {s.name: [c for c in group if (s.name, c.case_id) not in done] for s in specs}
        left = {name: some for name, some in left.items() if some}
        if left:
            yield ScoringUnit(left, depth)


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """The `Task` of a worker: make the systems once, then score documents."""

    specs: tuple[SystemSpec, ...]
    writer: Writer | None = None

    def start(self) -> Callable[[ScoringUnit], list[CaseRecord]]:
        """Make the systems."""
        return Bench(self.specs, writer=self.writer).score


def _scored(
    units: Sequence[ScoringUnit],
    specs: Sequence[SystemSpec],
    bench: Bench,
    engine: Engine | None,
    writer: Writer | None,
) -> Iterator[list[CaseRecord]]:
    if engine is None or len(units) <= 1:
        yield from map(bench.score, units)
        return
    with closing(engine.run(ScoringTask(tuple(specs), writer), units)) as results:
        for unit, result in results:
            yield unscored(unit, result.error) if isinstance(result, LostItem) else result


def manifest_of(
    dataset: Dataset,
    cases: Sequence[Case],
    systems: Mapping[str, SystemInfo],
    options: Options,
    depth: int,
) -> RunManifest:
    """Say what a run is about."""
    return RunManifest(
        dataset=dataset.name,
        split=dataset.split,
        cases=len(cases),
        with_gold=sum(bool(case.gold) for case in cases),
        digest=digest(cases),
        depth=depth,
        sample=options.sample,
        balance=options.balance,
        limit=options.limit,
        seed=options.seed,
        notes=dataset.notes,
        systems=systems,
        version=version("abstrag"),
    )


def digest(cases: Sequence[Case]) -> str:
    """Hash what is asked, what is gold and what there is to choose from."""
    made = sha256()
    seen: set[str] = set()
    for case in cases:
        made.update(repr((case.case_id, case.query, case.gold, case.gold_sets)).encode())
        if case.document.id not in seen:
            seen.add(case.document.id)
            made.update(repr(case.document.elements).encode())
    return made.hexdigest()
