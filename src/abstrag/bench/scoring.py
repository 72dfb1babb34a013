"""One document under some systems: index it once for each, ask every case, make the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from abstrag.baselines.backing import Modelled
from abstrag.baselines.system import Explained, Ranked, System, Versioned
from abstrag.bench.case import Case
from abstrag.bench.generation import RankedCase, Writer, told
from abstrag.bench.record import CaseRecord
from abstrag.bench.run_folder import OURS, SystemInfo
from abstrag.bench.shared import attach
from abstrag.bench.systems import Builder, SystemSpec
from abstrag.errors import OverBudget
from abstrag.llm.model import ModelRequest


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
        attach()
        made = builder or Builder()
        self._systems = {spec.name: made(spec) for spec in specs}
        self._writer = writer

    def info(self, spec: SystemSpec) -> SystemInfo:
        """Describe a system for the run's manifest."""
        system = self._systems[spec.name]
        state = system.state if isinstance(system, Versioned) else ""
        ours = spec.base.startswith(OURS)
        return SystemInfo(spec.base, system.fidelity, dict(spec.given), state, marks_shown=ours)

    def worst(self, name: str, case: Case) -> list[ModelRequest]:
        """Return as many requests as a system can make for a case, its answer included."""
        system = self._systems[name]
        made = system.worst(case.query, case.document) if isinstance(system, Modelled) else []
        return made + (self._writer.worst(system, case) if self._writer else [])

    def score(self, unit: ScoringUnit) -> list[CaseRecord]:
        """Score a unit.

        Whatever a system stumbles over is its failure on these cases: it is recorded, counts as
        nothing retrieved, shows in every report, and does not end a night's run. Only a spent
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
    return CaseRecord(
        dataset=case.dataset,
        split=case.split,
        case_id=case.case_id,
        system=system,
        query=case.query,
        ranked=tuple(order[:depth]),
        scores=tuple(scores[:depth]),
        gold=case.gold,
        gold_sets=case.gold_sets,
        group=case.group,
        document=case.document.id,
        groups=dict(case.groups),
        gold_label=case.label,
        gold_answers=case.answers,
        pool=len(case.document.elements),
        **{"retrieved": min(len(ranked), depth), **more},
    )
