"""What a metric is. Written `NDCG @ 10`, printed `nDCG@10`; what it lacks it says, never guesses.

`(NDCG @ 10).shown`, printed `nDCG@10 shown`, is the same over what a user is shown only: ranks that
a system would not have shown count as not there.

A metric is a pure function of one record. Where the record has not what it takes it raises
`NotComputable`, so that nobody can average a missing value as zero (appendix J.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from abstrag.errors import NotComputable
from abstrag_bench.record import CaseRecord

Rule = Callable[[CaseRecord, int], float]


class Convention(StrEnum):
    """Which cases count: the paper's tables mix the two, so every figure is given in both."""

    GOLD_ONLY = "gold_only"  # cases with gold evidence
    ALL_CASES = "all_cases"  # and those without, at what an empty gold is worth


@dataclass(frozen=True, slots=True)
class Metric:
    """A named rule with a depth `k`.

    `empty` is what a case without gold is worth under `all_cases`; None means that the metric does
    not look at gold evidence, so that every case counts under both conventions.
    """

    name: str
    rule: Rule
    k: int | None = None
    empty: float | None = None
    scale: float = 100.0  # how it is printed
    shown_only: bool = False  # looks at what a user is shown, not at all ranks

    def __matmul__(self, k: int) -> Metric:
        return replace(self, k=k)

    def __str__(self) -> str:
        name = self.name if self.k is None else f"{self.name}@{self.k}"
        return f"{name} shown" if self.shown_only else name

    @property
    def shown(self) -> Metric:
        """The same metric over what a user is shown only."""
        return replace(self, shown_only=True)

    @property
    def needs_gold(self) -> bool:
        """True when the metric compares with gold evidence."""
        return self.empty is not None

    def __call__(self, record: CaseRecord, convention: Convention = Convention.GOLD_ONLY) -> float:
        """Return the value for one case, or raise `NotComputable` with the reason."""
        if self.needs_gold and not record.gold:
            if convention is Convention.GOLD_ONLY:
                raise NotComputable(f"{self} needs gold spans; case {record.case_id!r} has none")
            assert self.empty is not None
            return self.empty
        seen = replace(record, ranked=record.shown) if self.shown_only else record
        return self.rule(seen, self.k or 0)


@dataclass(frozen=True, slots=True)
class Values:
    """A metric over many records: the values by case, and how often which field was missing."""

    by_case: dict[str, float]
    missing: dict[str, int]

    @property
    def mean(self) -> float:
        """The mean over the cases that have a value; of none there is none."""
        if not self.by_case:
            reasons = "; ".join(self.missing) or "there are no records"
            raise NotComputable(f"no case has a value: {reasons}")
        return sum(self.by_case.values()) / len(self.by_case)


def values(
    metric: Metric,
    records: Iterable[CaseRecord],
    convention: Convention = Convention.GOLD_ONLY,
    *,
    told: bool = True,
) -> Values:
    """Apply a metric to records, keeping apart what cannot be computed and why.

    `told` says whether the records tell what a user is shown.
    """
    by_case: dict[str, float] = {}
    missing: dict[str, int] = {}
    if metric.shown_only and not told:
        reason = f"{metric} needs to know what a user is shown, which this run did not record"
        return Values(by_case, {reason: sum(1 for _ in records)})
    for record in records:
        try:
            by_case[record.case_id] = metric(record, convention)
        except NotComputable as error:
            reason = str(error).partition("; case ")[0]
            missing[reason] = missing.get(reason, 0) + 1
    return Values(by_case, missing)


def recorded(name: str, field: str, what: str, **more: Any) -> Metric:
    """Return the metric whose value is a field of the record; `what` says what that holds."""

    def rule(record: CaseRecord, k: int) -> float:  # noqa: ARG001
        value = getattr(record, field)
        if value is None:
            raise lacking(name, what, record)
        return float(value)

    return Metric(name, rule, **more)


def lacking(metric: str, field: str, record: CaseRecord) -> NotComputable:
    """Make the error that a record has not the field a metric needs."""
    return NotComputable(f"{metric} needs {field}; case {record.case_id!r} has none")
