"""Tuning under the paper's rules (appendix K), with a record of everything that was tried.

Families get the same number of trials. A trial is compared with another by the objective
hierarchy: first sufficiency, then how well gold is concentrated at the top, then what bridges
cost. Within a level, trials no more than `TOLERANCE` behind the best go on to the next one. The
report part of a split is never tuned on, and frozen values refuse documents they were tuned on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import product
from math import prod
from pathlib import Path
from typing import Final

from abstrag.errors import InputError
from abstrag.model.record import from_json, record, to_json
from abstrag_bench.case import Case, Dataset, SplitPart, by_document, part_of
from abstrag_bench.metrics.catalogue import BRIDGE_COST, NDCG, PRESERVED, SUFF
from abstrag_bench.metrics.metric import Values, values
from abstrag_bench.record import CaseRecord
from abstrag_bench.runner import Bench, ScoringUnit
from abstrag_bench.systems import Builder, SystemSpec, ranges_of

TRIALS: Final = 24
PATIENCE: Final = 12
TOLERANCE: Final = 0.002  # of a metric in [0, 1]
OBJECTIVE: Final = (
    "1. maximize mean Suff@5 over cases with gold",
    "2. maximize mean nDCG@10 over cases with gold",
    "3. minimize mean bridge cost over τ where a clause is accepted",
    "4. maximize the preserved-case rate where there are accepted updates",
    "5. the earlier trial; the system's own values are trial 0",
)


@record
class Trial:
    """One set of values and what it scored; None where no case has what a level looks at."""

    values: Mapping[str, float]
    suff: float
    ndcg: float
    bridge_cost: float | None
    preserved: float | None = None


@record
class Frozen:
    """The tuning record of one system: what was searched, on what, and what it came to."""

    system: str
    dataset: str
    split: str
    cases: int
    with_gold: int
    documents: tuple[str, ...]  # that the values have seen
    ranges: Mapping[str, tuple[float, ...]]
    trials: tuple[Trial, ...]
    most_trials: int
    patience: int
    seed: int
    stopped: str
    values: Mapping[str, float]
    objective: tuple[str, ...] = OBJECTIVE
    tolerance: float = TOLERANCE
    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def spec(self) -> SystemSpec:
        """The system with its frozen values, under a name of its own."""
        return SystemSpec(f"{self.system}+tuned", self.system, dict(self.values))


def tune(
    dataset: Dataset,
    system: str,
    *,
    trials: int = TRIALS,
    patience: int = PATIENCE,
    seed: int = 0,
    on_trial: Callable[[int, Trial], None] = lambda _number, _trial: None,
) -> Frozen:
    """Search a system's ranges on the tuning part of a split and freeze the best values."""
    ranges = ranges_of(system)
    if not ranges:
        raise InputError(
            f"{system!r} has no numbers to tune", hint="it is reported with its published defaults"
        )
    Builder()(SystemSpec.of(system))  # one that cannot be had says so before anything else
    cases = [case for case in dataset.cases if part_of(case.document.id) is SplitPart.TUNE]
    if not any(case.gold for case in cases):
        raise InputError(
            f"split {dataset.split!r} has no case to tune on",
            hint="the report part of a split is never tuned on",
        )
    grid = candidates(ranges, trials, seed)
    builder = Builder(keep=len({case.document.id for case in cases}))
    done: list[Trial] = []
    best, stopped = 0, "all trials done"
    for number, chosen in enumerate(grid):
        trial = _trial(system, chosen, cases, builder)
        done.append(trial)
        on_trial(number, trial)
        best = select(done)
        if number - best >= patience:
            stopped = f"no better trial in {patience}"
            break
    return Frozen(
        system=system,
        dataset=dataset.name,
        split=dataset.split,
        cases=len(cases),
        with_gold=sum(bool(case.gold) for case in cases),
        documents=tuple(sorted({case.document.id for case in cases})),
        ranges=dict(ranges),
        trials=tuple(done),
        most_trials=trials,
        patience=patience,
        seed=seed,
        stopped=stopped,
        values=done[best].values,
        deviations=_deviations(ranges, trials),
    )


def candidates(
    ranges: Mapping[str, Sequence[float]], trials: int, seed: int
) -> list[dict[str, float]]:
    """Return the system's own values, then a seeded draw from the grid without repeats."""
    grid = [dict(zip(ranges, point, strict=True)) for point in product(*ranges.values())]
    random.Random(seed).shuffle(grid)
    return [{}, *grid[: max(0, trials - 1)]]


def select(trials: Sequence[Trial]) -> int:
    """Return the number of the best trial by the objective hierarchy."""
    scored = list(map(_levels, trials))
    left = list(range(len(trials)))
    for level in range(len(scored[0])):
        best = max(scored[i][level] for i in left)
        left = [i for i in left if scored[i][level] >= best - TOLERANCE]
    return left[0]


def _levels(trial: Trial) -> tuple[float, ...]:
    """Return what a trial scored at each level of the hierarchy, more being better."""
    return (trial.suff, trial.ndcg, -(trial.bridge_cost or 0.0), trial.preserved or 0.0)


def _trial(
    system: str, chosen: Mapping[str, float], cases: Sequence[Case], builder: Builder
) -> Trial:
    bench = Bench([SystemSpec(system, system, dict(chosen))], builder)
    records: list[CaseRecord] = []
    for group in by_document(cases).values():
        records += bench.score(ScoringUnit({system: group}, 10))
    return Trial(
        values=dict(chosen),
        suff=values(SUFF @ 5, records).mean,
        ndcg=values(NDCG @ 10, records).mean,
        bridge_cost=_mean(values(BRIDGE_COST, records)),
        preserved=_mean(values(PRESERVED, records)),
    )


def _mean(found: Values) -> float | None:
    return found.mean if found.by_case else None


def _deviations(ranges: Mapping[str, Sequence[float]], trials: int) -> tuple[str, ...]:
    points = prod(map(len, ranges.values()))
    if points + 1 < trials:
        return (f"the whole grid has {points} points, fewer than the {trials} trials of a family",)
    return ()


def freeze(frozen: Frozen, path: Path) -> None:
    """Write a tuning record; one that is there is not overwritten."""
    if path.exists():
        raise InputError(
            f"{str(path)!r} is there already, and frozen values stay as they are",
            hint="choose another --out",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_json(frozen, indent=2) + "\n", "utf-8")


def read_frozen(path: Path) -> Frozen:
    """Read a tuning record."""
    if not path.is_file():
        raise InputError(f"there is no tuning record {str(path)!r}")
    try:
        return from_json(Frozen, path.read_bytes())
    except InputError as error:
        raise InputError(f"{str(path)!r}: {error}") from None


def refuse_tuned(frozen: Iterable[Frozen], dataset: Dataset) -> None:
    """Raise when a case lies in a document that frozen values were tuned on."""
    asked = {case.document.id for case in dataset.cases}
    for one in frozen:
        if one.dataset == dataset.name and (seen := asked.intersection(one.documents)):
            raise InputError(
                f"{one.system!r} was tuned on {len(seen)} documents of {dataset.name} "
                f"{dataset.split}, so it cannot be evaluated on them",
                hint=f"evaluate on --split {one.split.partition(':')[0]}:report or another split",
            )
