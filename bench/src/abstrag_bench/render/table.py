"""The tables of a report, as rows of text: each format only draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag_bench.metrics.catalogue import (
    EFFORT,
    GENERATION,
    MECHANISM,
    RETRIEVAL,
    RETRIEVAL_SHOWN,
    SETS,
)
from abstrag_bench.metrics.metric import Convention, Metric
from abstrag_bench.stats import RESAMPLES, BootstrapInterval, PairedDifference
from abstrag_bench.summary import Contrast, GroupScore, Score, Summary


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def scaled(value: float, scale: float) -> str:
    """Print a value: one decimal for percentages, more where numbers may be small."""
    number = value * scale
    return f"{number:.1f}" if scale == 100 or abs(number) >= 100 else f"{number:.2f}"


def with_range(interval: BootstrapInterval, scale: float) -> str:
    """Print a mean with its interval."""
    low, high = scaled(interval.low, scale), scaled(interval.high, scale)
    return f"{scaled(interval.mean, scale)} [{low}, {high}]"


def signed(difference: PairedDifference, scale: float) -> str:
    """Print a difference with its sign and interval."""
    parts = (difference.mean, difference.low, difference.high)
    mean, low, high = (f"{'+' if part >= 0 else '−'}{scaled(abs(part), scale)}" for part in parts)
    return f"{mean} [{low}, {high}]"


def p_value(p: float) -> str:
    """Print a p-value; what the number of resamples cannot tell apart from 0 says so."""
    least = 2 / (RESAMPLES + 1)
    return f"< {least:.4f}" if p <= least * 1.01 else f"{p:.4f}"


def headline(summary: Summary) -> list[str]:
    """Return the title and the lines under it."""
    run = summary.manifest
    subset = []
    if run.sample is not None:
        balanced = f", balanced by {run.balance}" if run.balance else ""
        subset.append(f"a sample of {run.sample}{balanced} (seed {run.seed})")
    if run.limit is not None:
        subset.append(f"the first {run.limit}")
    chosen = f" ({', '.join(subset)})" if subset else ""
    lines = [
        f"{run.dataset}, split {run.split}",
        f"{run.cases} cases{chosen}, {run.with_gold} with gold evidence. "
        f"Reference system: {summary.reference}. abstrag {run.version}.",
    ]
    lines += [f"Note: {note}." for note in run.notes]
    if any(line.missing for line in summary.systems):
        lines.append("Provisional: some cases have not been scored yet; see the table of systems.")
    return lines


SHOWN_NAMES: Final = frozenset(map(str, RETRIEVAL_SHOWN))


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A titled table; `marked` are cells to be set off, as row and column."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()


def tables(summary: Summary) -> Iterator[ReportTable]:
    """Go through every table of a report."""
    yield _systems(summary)
    for convention in Convention:
        yield _scores(summary, convention)
        if any(one.metric in SHOWN_NAMES and one.interval for one in summary.scores):
            yield _shown(summary, convention)
    yield _others(summary)
    if any(one.classes for one in summary.systems):
        yield _classes(summary)
    if any(one.verdicts for one in summary.systems):
        yield _verdicts(summary)
    for convention in Convention:
        for shown in (False, True):
            if inside := contrasts_of(summary, convention, shown=shown):
                yield _contrasts(summary, convention, inside, shown=shown)
    yield from _groups(summary)
    if summary.gains:
        yield _gains(summary)
    missing = _not_computable(summary)
    if missing.rows:
        yield missing


def _systems(summary: Summary) -> ReportTable:
    rows = []
    for one in summary.systems:
        more = []
        if one.macro_f1 is not None:
            more.append(f"label macro-F1 {scaled(one.macro_f1, 100)}")
        if one.feverous is not None:
            score = one.feverous
            more.append(
                f"FEVEROUS evidence P {scaled(score.precision, 100)} R {scaled(score.recall, 100)} "
                f"F1 {scaled(score.f1, 100)} (n = {score.cases})"
            )
        if one.first_failure is not None:
            more.append(f"first failure: {one.first_failure}")
        what = "; ".join([one.fidelity, *more])
        rows.append((one.name, str(one.records), str(one.missing), str(one.failures), what))
    return ReportTable(
        "Systems",
        "Records missing make a table provisional; a failed search counts as nothing retrieved, a "
        "failed answer as not computable.",
        ("system", "records", "missing", "failed", "what it is"),
        tuple(rows),
    )


def _scores(summary: Summary, convention: Convention) -> ReportTable:
    """The retrieval metrics, which depend on the convention."""
    run = summary.manifest
    if convention is Convention.GOLD_ONLY:
        note = f"{run.with_gold} of {run.cases} cases have gold evidence."
    else:
        note = (
            f"All {run.cases} cases; the {run.cases - run.with_gold} without gold evidence count "
            "as nDCG 0, MRR 0, F1 0, Suff 1 and R 1, as in the paper's tables."
        )
    title = f"Results, {convention.value}"
    return _matrix(summary, title, note, convention, (*RETRIEVAL, *SETS), mark=True)


def _shown(summary: Summary, convention: Convention) -> ReportTable:
    """The retrieval metrics over what a user is shown."""
    note = (
        "The same over what each system shows a user: ranks it does not show, which the table "
        "above counts, are taken as not there."
    )
    title = titled(f"Results, {convention.value}", shown=True)
    return _matrix(summary, title, note, convention, RETRIEVAL_SHOWN, mark=True)


def titled(title: str, *, shown: bool) -> str:
    """Name a table of figures over all ranks, or the one over what a user is shown."""
    return f"{title}, shown only" if shown else title


def contrasts_of(summary: Summary, convention: Convention, *, shown: bool) -> tuple[Contrast, ...]:
    """Return the contrasts of one convention, over all ranks or over what is shown."""
    return tuple(
        one
        for one in summary.contrasts
        if one.convention is convention and (one.metric in SHOWN_NAMES) is shown
    )


def _others(summary: Summary) -> ReportTable:
    """The metrics for which gold evidence does not matter."""
    note = "Over all cases that have what the metric needs."
    metrics = (*GENERATION, *MECHANISM, *EFFORT)
    title = "Generation, mechanism, effort"
    return _matrix(summary, title, note, Convention.ALL_CASES, metrics, mark=False)


def _classes(summary: Summary) -> ReportTable:
    """The labels a system gave, class by class."""
    rows = [
        (
            line.name,
            one.label,
            str(one.gold),
            str(one.said),
            "never said" if one.precision is None else scaled(one.precision, 100),
            scaled(one.recall, 100),
            scaled(one.f1, 100),
        )
        for line in summary.systems
        for one in line.classes
    ]
    return ReportTable(
        "Labels",
        "Over the cases with a predicted and a gold label: what was not answered is left out here, "
        "and counted under Verdicts. Recall is the accuracy on the cases people gave the label to.",
        ("system", "label", "n", "said", "precision", "recall", "F1"),
        tuple(rows),
    )


def _verdicts(summary: Summary) -> ReportTable:
    """Verdicts with and without abstaining, over all cases."""
    rows = []
    for line in summary.systems:
        if (one := line.verdicts) is not None:
            recalled = one.refutations_recalled
            rows.append(
                (
                    line.name,
                    str(one.cases),
                    scaled(one.accuracy, 100),
                    scaled(one.answered, 100),
                    scaled(one.wrong, 100),
                    "no refutation" if recalled is None else scaled(recalled, 100),
                    str(one.refutations),
                )
            )
    return ReportTable(
        "Verdicts",
        "Over all cases with a gold label; an abstention is neither left out nor right. Accuracy "
        "is of the three classes where nobody may abstain. The others are of what is said: how "
        "many of all cases are answered, how many of all are answered wrongly, and how many of the "
        "refutations are said to be such.",
        (
            "system",
            "n",
            "accuracy without abstaining",
            "answered",
            "wrong of all",
            "refutations recalled",
            "refutations",
        ),
        tuple(rows),
    )


def _matrix(
    summary: Summary,
    title: str,
    note: str,
    convention: Convention,
    metrics: Sequence[Metric],
    *,
    mark: bool,
) -> ReportTable:
    """One row a system, one column a metric that some system has; the best may be marked."""
    cells = {
        (one.system, one.metric): one
        for one in summary.scores
        if one.convention is convention and one.interval is not None
    }
    names = [str(m) for m in metrics if any(metric == str(m) for _, metric in cells)]
    sizes = {name: _sizes(cells, name) for name in names}
    rows = tuple(
        (line.name, *(_score(cells.get((line.name, name)), sizes[name]) for name in names))
        for line in summary.systems
    )
    head = [f"{name} (n={sizes[name][0]})" if len(sizes[name]) == 1 else name for name in names]
    note += " Means with 95 % bootstrap intervals; n is the number of cases behind a mean."
    best = _best(summary, cells, names) if mark else frozenset()
    return ReportTable(title, note, ("system", *head), rows, best)


def _sizes(cells: Mapping[tuple[str, str], Score], name: str) -> list[int]:
    """Return the different numbers of cases behind the means of one column."""
    found = {
        one.interval.n for (_, metric), one in cells.items() if metric == name and one.interval
    }
    return sorted(found)


def _score(one: Score | None, sizes: Sequence[int]) -> str:
    if one is None or one.interval is None:
        return "not computable"
    own = f" n={one.interval.n}" if len(sizes) > 1 else ""
    return f"{with_range(one.interval, one.scale)}{own}"


def _best(
    summary: Summary, cells: Mapping[tuple[str, str], Score], names: Sequence[str]
) -> frozenset[tuple[int, int]]:
    best = set()
    for column, name in enumerate(names, 1):
        means = {
            row: one.interval.mean
            for row, line in enumerate(summary.systems)
            if (one := cells.get((line.name, name))) and one.interval
        }
        if len(means) > 1 and len(_sizes(cells, name)) == 1:  # others cannot be compared
            top = max(means.values())
            best |= {(row, column) for row, mean in means.items() if mean == top}
    return frozenset(best)


def _contrasts(
    summary: Summary, convention: Convention, inside: Sequence[Contrast], *, shown: bool
) -> ReportTable:
    rows, marked = [], set()
    for i, one in enumerate(inside):
        if one.significant:
            marked.add((i, 2))
        rows.append(
            (
                one.baseline,
                one.metric,
                signed(one.difference, one.scale),
                p_value(one.difference.p),
                p_value(one.adjusted_p),
                "yes" if one.significant else "no",
                str(one.difference.n),
            )
        )
    return ReportTable(
        titled(f"Contrasts with {summary.reference}, {convention.value}", shown=shown),
        f"{summary.reference} less each other system. Paired bootstrap, 10,000 resamples. Holm "
        f"corrects over these {len(rows)} contrasts; significant means adjusted p < 0.05 and an "
        "interval that excludes zero.",
        ("against", "metric", "difference", "p", "Holm p", "significant", "n"),
        tuple(rows),
        frozenset(marked),
    )


def _groups(summary: Summary) -> Iterator[ReportTable]:
    for by in dict.fromkeys(one.by for one in summary.groups):
        inside = [one for one in summary.groups if one.by == by]
        metrics = list(dict.fromkeys(one.metric for one in inside))
        cells = {(one.group, one.system, one.metric): one for one in inside}
        rows = []
        for group in dict.fromkeys(one.group for one in inside):
            for line in summary.systems:
                found = [cells.get((group, line.name, metric)) for metric in metrics]
                if any(found):
                    first = next(one for one in found if one)
                    n = f"{first.interval.n}{' (few)' if first.small else ''}"
                    texts = [_group_score(one, first.interval.n) for one in found]
                    rows.append((group, n, line.name, *texts))
        yield ReportTable(
            f"By {by.replace('_', ' ')}",
            "Retrieval over the cases with gold evidence, generation over those with a reference. "
            "Groups of fewer than 30 cases are marked: read their intervals, not their means.",
            (by.replace("_", " "), "n", "system", *metrics),
            tuple(rows),
        )


def _group_score(one: GroupScore | None, n: int) -> str:
    """Print a group's mean, with its number of cases where that is not the row's."""
    if one is None:
        return "–"
    own = "" if one.interval.n == n else f" n={one.interval.n}"
    return f"{with_range(one.interval, one.scale)}{own}"


def _gains(summary: Summary) -> ReportTable:
    rows = [
        (
            one.without,
            with_range(one.interval, 100) if one.interval else "not computable",
            str(one.interval.n if one.interval else 0),
        )
        for one in summary.gains
    ]
    return ReportTable(
        "Cost-normalized sufficiency gain",
        f"ΔSuff@10 / (1 + bridge cost) of {summary.reference} over a variant without one part, "
        "on the cases it closes at a known cost.",
        ("variant", "gain × 100", "n"),
        tuple(rows),
    )


def _not_computable(summary: Summary) -> ReportTable:
    listed = {
        (one.convention, one.system, reason)
        for one in summary.scores
        for reason in one.not_computable
        if one.metric not in SHOWN_NAMES
    }
    rows = [
        (one.metric, one.convention.value, one.system, str(count), reason)
        for one in summary.scores
        for reason, count in sorted(one.not_computable.items())
        # what the metric over all ranks lacks is said there
        if one.metric not in SHOWN_NAMES
        or (one.convention, one.system, reason.replace(" shown", "", 1)) not in listed
    ]
    return ReportTable(
        "Not computable",
        "Cases left out of a mean, and why; none of them was counted as zero.",
        ("metric", "convention", "system", "cases", "reason"),
        tuple(rows),
    )
