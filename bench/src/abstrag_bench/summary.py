"""A summary: everything a report shows, computed from the records of a run and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from abstrag.errors import InputError, NotComputable
from abstrag.model.record import record
from abstrag_bench.metrics.catalogue import ALL, GENERATION, HEADLINE, HEADLINE_SHOWN
from abstrag_bench.metrics.label import (
    ClassScore,
    VerdictScore,
    class_scores,
    macro_f1,
    verdict_score,
)
from abstrag_bench.metrics.metric import Convention, Metric, Values, values
from abstrag_bench.metrics.whole_run import FeverousScore, feverous_score, gains
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import OURS, RunManifest
from abstrag_bench.stats import (
    BootstrapInterval,
    PairedDifference,
    interval_of_each,
    paired,
    significant,
    tested,
)

SMALL: Final = 30  # cases; below that a group's mean says little and is marked
# What is tested; Holm corrects within each of the two.
TESTED: Final = ((*HEADLINE, *GENERATION), HEADLINE_SHOWN)


@record
class Score:
    """One metric of one system: its mean with an interval, or why there is none."""

    metric: str
    convention: Convention
    system: str
    scale: float
    interval: BootstrapInterval | None
    not_computable: Mapping[str, int] = field(default_factory=dict)


@record
class Contrast:
    """One metric of the reference less that of another system, on the cases both have."""

    metric: str
    convention: Convention
    reference: str
    baseline: str
    scale: float
    difference: PairedDifference
    adjusted_p: float
    significant: bool


@record
class GroupScore:
    """One metric of one system in one group of the cases that have a value of it."""

    by: str
    group: str
    metric: str
    system: str
    scale: float
    interval: BootstrapInterval
    small: bool


@record
class Gain:
    """Cost-normalized sufficiency gain of the whole over a variant without one mechanism."""

    without: str
    interval: BootstrapInterval | None
    not_computable: Mapping[str, int] = field(default_factory=dict)


@record
class SystemLine:
    """How complete a system's records are, and its figures that are no means over cases."""

    name: str
    fidelity: str
    records: int
    missing: int
    failures: int
    first_failure: str | None = None
    macro_f1: float | None = None
    classes: tuple[ClassScore, ...] = ()  # of the labels it gave
    verdicts: VerdictScore | None = None  # with and without abstaining
    feverous: FeverousScore | None = None


@record
class Summary:
    """A report before it is written down in some format."""

    manifest: RunManifest
    reference: str
    systems: tuple[SystemLine, ...]
    scores: tuple[Score, ...]
    contrasts: tuple[Contrast, ...]
    groups: tuple[GroupScore, ...]
    gains: tuple[Gain, ...]


def summarize(
    manifest: RunManifest, records: Sequence[CaseRecord], *, reference: str | None = None
) -> Summary:
    """Compute every figure of a run."""
    if not records:
        raise NotComputable("the run has no records yet, so there is nothing to report")
    by_system: dict[str, list[CaseRecord]] = {}
    for one in records:
        by_system.setdefault(one.system, []).append(one)
    for own in by_system.values():
        own.sort(key=lambda one: one.case_id)
    chosen = _reference(by_system, reference)
    cells = {
        (convention, metric, name): values(metric, own, convention, told=manifest.tells_shown(name))
        for convention in Convention
        for metric in ALL
        for name, own in by_system.items()
    }
    return Summary(
        manifest=manifest,
        reference=chosen,
        systems=tuple(_line(manifest, name, own) for name, own in by_system.items()),
        scores=tuple(_scores(cells)),
        contrasts=tuple(_contrasts(cells, chosen, list(by_system))),
        groups=tuple(_groups(manifest, by_system)),
        gains=tuple(_gains(by_system, chosen)),
    )


_Cells = Mapping[tuple[Convention, Metric, str], Values]


def _reference(by_system: Mapping[str, object], wanted: str | None) -> str:
    if wanted is not None and wanted not in by_system:
        raise InputError(
            f"the run has no system {wanted!r}", hint=f"one of: {', '.join(by_system)}"
        )
    ours = [name for name in by_system if name.startswith(OURS)]
    return wanted or (OURS if OURS in by_system else [*ours, *by_system][0])


def _line(manifest: RunManifest, name: str, own: Sequence[CaseRecord]) -> SystemLine:
    info = manifest.systems.get(name)
    try:
        macro = macro_f1(own)
    except NotComputable:
        macro = None
    official = None
    if manifest.dataset == "feverous" and any(one.gold for one in own):
        official = feverous_score(own)
    return SystemLine(
        name=name,
        fidelity=info.fidelity if info else "unknown: the run's manifest does not name it",
        records=len(own),
        missing=max(0, manifest.cases - len(own)),
        failures=sum(one.error is not None for one in own),
        first_failure=next((one.error for one in own if one.error is not None), None),
        macro_f1=macro,
        classes=class_scores(own),
        verdicts=verdict_score(own),
        feverous=official,
    )


def _scores(cells: _Cells) -> list[Score]:
    """Bootstrap every cell; cells over the same cases share their resamples."""
    made = interval_of_each({key: cell.by_case for key, cell in cells.items() if cell.by_case})
    return [
        Score(
            metric=str(metric),
            convention=convention,
            system=name,
            scale=metric.scale,
            interval=made.get((convention, metric, name)),
            not_computable=dict(cell.missing),
        )
        for (convention, metric, name), cell in cells.items()
        if cell.by_case or cell.missing
    ]


def _contrasts(cells: _Cells, reference: str, systems: Sequence[str]) -> list[Contrast]:
    """Compare the reference with every other system, in each convention.

    Holm corrects over all ranks and over what is shown separately.
    """
    return [
        one
        for convention in Convention
        for metrics in TESTED
        for one in _tested(cells, reference, systems, convention, metrics)
    ]


def _tested(
    cells: _Cells,
    reference: str,
    systems: Sequence[str],
    convention: Convention,
    metrics: Sequence[Metric],
) -> Iterator[Contrast]:
    pairs: dict[tuple[Metric, str], dict[str, float]] = {}
    for metric in metrics:
        ours = cells[convention, metric, reference].by_case
        for name in systems:
            theirs = cells[convention, metric, name].by_case
            shared = paired(ours, theirs)
            if name != reference and shared:
                pairs[metric, name] = shared
    for (metric, name), difference, p in tested(pairs):
        yield Contrast(
            metric=str(metric),
            convention=convention,
            reference=reference,
            baseline=name,
            scale=metric.scale,
            difference=difference,
            adjusted_p=p,
            significant=significant(difference, p),
        )


def _groups(
    manifest: RunManifest, by_system: Mapping[str, Sequence[CaseRecord]]
) -> list[GroupScore]:
    """Break the metrics that are tested down by every group the cases have."""
    found: list[GroupScore] = []
    everything = [one for own in by_system.values() for one in own]
    for by in sorted({name for one in everything for name in one.groups}):
        for group in sorted({one.groups[by] for one in everything if by in one.groups}):
            cells = {}
            for metric in (*HEADLINE, *HEADLINE_SHOWN, *GENERATION):
                for name, own in by_system.items():
                    inside = [one for one in own if one.groups.get(by) == group]
                    told = manifest.tells_shown(name)
                    if by_case := values(metric, inside, told=told).by_case:
                        cells[metric, name] = by_case
            found += [
                GroupScore(by, group, str(m), name, m.scale, interval, interval.n < SMALL)
                for (m, name), interval in interval_of_each(cells).items()
            ]
    return found


def _gains(by_system: Mapping[str, Sequence[CaseRecord]], reference: str) -> list[Gain]:
    """Compare ours, where it is the reference, with each variant that does without something."""
    found = []
    for name, own in by_system.items():
        if reference.startswith(OURS) and name.startswith(f"{OURS}-no-") and name != reference:
            cell = gains(by_system[reference], own)
            made = interval_of_each({name: cell.by_case} if cell.by_case else {})
            found.append(Gain(name, made.get(name), dict(cell.missing)))
    return found
