"""What a stress run shows: figures of each arm with intervals, and what each control does.

Preserved is told twice. Of all cases whose gold was there, some were triggers all the same, because
the evaluator did not see it; a control can only guard what the evaluator takes for solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from abstrag.bench.metrics.metric import Metric, values
from abstrag.bench.metrics.ndcg import NDCG
from abstrag.bench.metrics.over_expansion import OVER_EXPANSION
from abstrag.bench.metrics.preserved import PRESERVED
from abstrag.bench.metrics.suff import SUFF
from abstrag.bench.paired import difference_of_each, interval_of_each, paired
from abstrag.bench.record import CaseRecord
from abstrag.bench.stats import BootstrapInterval, PairedDifference
from abstrag.bench.stress import ARMS, BOTH, SOLVED, UNREFINED
from abstrag.model.record import record


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
    lines = [
        f"{summary.dataset} {summary.split}: {summary.documents} documents, of which "
        f"{summary.slice_documents} took a patch under some arm.",
        "",
        "| arm | cases | triggered | patches | " + " | ".join(names) + " |",
        "|---|---|---|---|" + "---|" * len(names),
    ]
    for arm in summary.arms:
        rate = "" if arm.triggered is None else f"{100 * arm.triggered:.1f}"
        kept = "" if arm.patches is None else str(arm.patches)
        cells = [_interval(arm.metrics.get(name)) for name in names]
        lines.append(f"| {arm.arm} | {arm.cases} | {rate} | {kept} | " + " | ".join(cells) + " |")
    lines += ["", "| paired difference | " + " | ".join(names) + " |"]
    lines.append("|---|" + "---|" * len(names))
    for arm in summary.arms:
        for title, found in (
            (f"{arm.arm} − {UNREFINED}", arm.change),
            (f"{BOTH} − {arm.arm}", arm.control),
        ):
            if found:
                cells = [_difference(found.get(name)) for name in names]
                lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _interval(span: BootstrapInterval | None) -> str:
    if span is None:
        return "–"
    return f"{100 * span.mean:.1f} [{100 * span.low:.1f}, {100 * span.high:.1f}] (n {span.n})"


def _difference(found: PairedDifference | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found.mean:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
