"""Two runs side by side: the same systems on the same cases, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from abstrag.errors import InputError
from abstrag.model.record import record
from abstrag_bench.metrics.catalogue import HEADLINE, HEADLINE_SHOWN, SUFF
from abstrag_bench.metrics.metric import Convention, Metric, values
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.stats import PairedDifference, paired, significant, tested


@record
class MetricChange:
    """One metric of one system: the second run less the first, on the cases both have."""

    system: str
    metric: str
    convention: Convention
    scale: float
    before: float
    after: float
    difference: PairedDifference
    adjusted_p: float
    significant: bool


@record
class ChangedCases:
    """The cases of a system whose evidence is complete in one run only.

    First among the first ten ranks, then among those of them that a user is shown; None where a
    run does not tell.
    """

    system: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    gained_shown: tuple[str, ...] | None = None
    lost_shown: tuple[str, ...] | None = None


@record
class RunComparison:
    """What changed between two runs."""

    dataset: str
    split: str
    changes: tuple[MetricChange, ...]
    flips: tuple[ChangedCases, ...]


def compare(before: Path, after: Path) -> RunComparison:
    """Compare two runs; they must be about the same data, gold included."""
    first, second = RunFolder(before), RunFolder(after)
    one, other = first.manifest(), second.manifest()
    if (one.dataset, one.split) != (other.dataset, other.split):
        raise InputError(
            f"the runs are about different data: {one.dataset} {one.split} and "
            f"{other.dataset} {other.split}"
        )
    old, new = _by_system(first.records()), _by_system(second.records())
    shared = [name for name in old if name in new]
    if not shared:
        raise InputError(
            f"the runs share no system: {', '.join(old)} and {', '.join(new)}",
            hint="compare runs of the same systems",
        )
    for name in shared:
        _same_gold(old[name], new[name])
    told = {name: one.tells_shown(name) and other.tells_shown(name) for name in shared}
    return RunComparison(
        dataset=one.dataset,
        split=one.split,
        changes=tuple(_changes(old, new, told)),
        flips=tuple(_flips(name, old[name], new[name], told=told[name]) for name in shared),
    )


_Records = Mapping[str, CaseRecord]


def _by_system(records: Sequence[CaseRecord]) -> dict[str, dict[str, CaseRecord]]:
    found: dict[str, dict[str, CaseRecord]] = {}
    for one in records:
        found.setdefault(one.system, {})[one.case_id] = one
    return found


def _same_gold(old: _Records, new: _Records) -> None:
    for case in old:
        if case in new and set(old[case].gold) != set(new[case].gold):
            raise InputError(f"the runs disagree on the gold of case {case!r}")


def _changes(
    old: Mapping[str, _Records], new: Mapping[str, _Records], told: Mapping[str, bool]
) -> list[MetricChange]:
    """Test every system; `told` says whether both runs tell what it shows a user.

    Holm corrects over all ranks and over what is shown separately.
    """
    return [
        one
        for convention in Convention
        for metrics in (HEADLINE, HEADLINE_SHOWN)
        for one in _tested(old, new, told, convention, metrics)
    ]


def _tested(
    old: Mapping[str, _Records],
    new: Mapping[str, _Records],
    told: Mapping[str, bool],
    convention: Convention,
    metrics: Sequence[Metric],
) -> Iterator[MetricChange]:
    pairs: dict[tuple[str, Metric], dict[str, float]] = {}
    means: dict[tuple[str, Metric], tuple[float, float]] = {}
    for name, known in told.items():
        for metric in metrics:
            was = values(metric, old[name].values(), convention, told=known).by_case
            now = values(metric, new[name].values(), convention, told=known).by_case
            if delta := paired(now, was):
                pairs[name, metric] = delta
                means[name, metric] = (_mean(was, delta), _mean(now, delta))
    for key, difference, p in tested(pairs):
        yield MetricChange(
            system=key[0],
            metric=str(key[1]),
            convention=convention,
            scale=key[1].scale,
            before=means[key][0],
            after=means[key][1],
            difference=difference,
            adjusted_p=p,
            significant=significant(difference, p),
        )


def _mean(by_case: Mapping[str, float], cases: Mapping[str, float]) -> float:
    return sum(by_case[case] for case in cases) / len(cases)


def _flips(name: str, old: _Records, new: _Records, *, told: bool) -> ChangedCases:
    shown = _flipped(old, new, (SUFF @ 10).shown) if told else (None, None)
    return ChangedCases(name, *_flipped(old, new, SUFF @ 10), *shown)


def _flipped(
    old: _Records, new: _Records, metric: Metric
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cases that gained and those that lost."""
    was, now = (values(metric, some.values()).by_case for some in (old, new))
    delta = paired(now, was)
    gained = tuple(sorted(case for case, change in delta.items() if change > 0))
    return gained, tuple(sorted(case for case, change in delta.items() if change < 0))
