"""Two runs side by side: the same systems on the same cases, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from abstrag.bench.metrics.catalogue import HEADLINE
from abstrag.bench.metrics.metric import Convention, Metric, values
from abstrag.bench.metrics.suff import SUFF
from abstrag.bench.paired import difference_of_each, paired
from abstrag.bench.record import CaseRecord
from abstrag.bench.run_folder import RunFolder
from abstrag.bench.stats import Difference, holm, significant
from abstrag.errors import InputError
from abstrag.model.record import record


@record
class Change:
    """One metric of one system: the second run less the first, on the cases both have."""

    system: str
    metric: str
    convention: Convention
    scale: float
    before: float
    after: float
    difference: Difference
    adjusted_p: float
    significant: bool


@record
class Flips:
    """The cases of a system whose evidence is complete in one run only."""

    system: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@record
class Comparison:
    """What changed between two runs."""

    dataset: str
    split: str
    changes: tuple[Change, ...]
    flips: tuple[Flips, ...]


def compare(before: Path, after: Path) -> Comparison:
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
    return Comparison(
        dataset=one.dataset,
        split=one.split,
        changes=tuple(_changes(old, new, shared)),
        flips=tuple(_flips(name, old[name], new[name]) for name in shared),
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
    old: Mapping[str, _Records], new: Mapping[str, _Records], systems: Sequence[str]
) -> list[Change]:
    found: list[Change] = []
    for convention in Convention:
        pairs: dict[tuple[str, Metric], dict[str, float]] = {}
        means: dict[tuple[str, Metric], tuple[float, float]] = {}
        for name in systems:
            for metric in HEADLINE:
                was = values(metric, old[name].values(), convention).by_case
                now = values(metric, new[name].values(), convention).by_case
                if delta := paired(now, was):
                    pairs[name, metric] = delta
                    means[name, metric] = (_mean(was, delta), _mean(now, delta))
        tested = difference_of_each(pairs)
        adjusted = holm([difference.p for difference in tested.values()])
        for (key, difference), p in zip(tested.items(), adjusted, strict=True):
            found.append(
                Change(
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
            )
    return found


def _mean(by_case: Mapping[str, float], cases: Mapping[str, float]) -> float:
    return sum(by_case[case] for case in cases) / len(cases)


def _flips(name: str, old: _Records, new: _Records) -> Flips:
    was = values(SUFF @ 10, old.values()).by_case
    delta = paired(values(SUFF @ 10, new.values()).by_case, was)
    gained = tuple(sorted(case for case, change in delta.items() if change > 0))
    return Flips(name, gained, tuple(sorted(case for case, change in delta.items() if change < 0)))
