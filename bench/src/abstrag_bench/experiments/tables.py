"""Compact tables of a results page; the full ones are in the report beside the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from abstrag_bench.metrics.catalogue import GENERATION, HEADLINE, HEADLINE_SHOWN, NDCG
from abstrag_bench.metrics.metric import Convention
from abstrag_bench.record import CaseRecord
from abstrag_bench.render.table import markdown_table, scaled, signed, with_range
from abstrag_bench.summary import Contrast, Summary

_HEADLINE = tuple(map(str, (*HEADLINE, *HEADLINE_SHOWN)))
_GENERATION = tuple(map(str, GENERATION))
OVERVIEW = (str(NDCG @ 10), str((NDCG @ 10).shown))
_CLAIM = {
    Convention.GOLD_ONLY: "cases with gold evidence",
    Convention.ALL_CASES: "all cases (without gold: nDCG 0, Suff 1)",
}


def scores(summary: Summary) -> Iterator[str]:
    """One table for each convention, and one of generated answers where there are any."""
    for convention in Convention:
        yield f"*{_CLAIM[convention]}*\n\n" + _scores(summary, convention, _HEADLINE)
    if any(one.metric in _GENERATION and one.interval for one in summary.scores):
        yield "*generation*\n\n" + _scores(summary, Convention.ALL_CASES, _GENERATION)


def overview(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """nDCG@10 of every system on every data set, in both conventions, over ranks and shown only."""
    systems = dict.fromkeys(line.name for one in summaries.values() for line in one.systems)
    for convention in Convention:
        for metric in OVERVIEW:
            cells = {
                (one.system, name): scaled(one.interval.mean, one.scale)
                for name, summary in summaries.items()
                for one in summary.scores
                if one.metric == metric and one.convention is convention and one.interval
            }
            rows = [
                (f"`{system}`", *(cells.get((system, name), "–") for name in summaries))
                for system in systems
            ]
            yield f"*{metric}, {_CLAIM[convention]}*\n\n" + markdown_table(
                ("system", *summaries), rows
            )


def _scores(summary: Summary, convention: Convention, metrics: Sequence[str]) -> str:
    cells = {
        (one.system, one.metric): one
        for one in summary.scores
        if one.convention is convention and one.interval is not None
    }
    shown = [name for name in metrics if any(metric == name for _, metric in cells)]
    rows = []
    for line in summary.systems:
        own = [cells.get((line.name, name)) for name in shown]
        texts = [with_range(o.interval, o.scale) if o and o.interval else "–" for o in own]
        sizes = sorted({o.interval.n for o in own if o and o.interval})
        if not sizes:  # a system that said nothing
            continue
        rows.append((f"`{line.name}`", *texts, "/".join(map(str, sizes))))
    return markdown_table(("system", *shown, "n"), rows)


def contrasts(summary: Summary) -> Iterator[str]:
    """Differences to the reference, a column a metric; a star where one is significant."""
    for convention in Convention:
        inside = [one for one in summary.contrasts if one.convention is convention]
        metrics = list(dict.fromkeys(one.metric for one in inside))
        cells = {(one.baseline, one.metric): one for one in inside}
        rows = [
            (f"`{name}`", *(_contrast(cells.get((name, metric))) for metric in metrics))
            for name in dict.fromkeys(one.baseline for one in inside)
        ]
        if rows:
            title = f"*`{summary.reference}` less each other system, {_CLAIM[convention]}*"
            yield f"{title}\n\n" + markdown_table(("less", *metrics), rows)


def _contrast(one: Contrast | None) -> str:
    if one is None:
        return "–"
    return signed(one.difference, one.scale) + (" ★" if one.significant else "")


def groups(summary: Summary) -> Iterator[str]:
    """nDCG@10 by every group of the cases: the reference, the best other system, the difference."""
    for by in dict.fromkeys(one.by for one in summary.groups):
        for metric in OVERVIEW:
            if rows := _group_rows(summary, by, metric):
                head = (by.replace("_", " "), "n", f"`{summary.reference}`", "best other", "Δ")
                yield f"*{metric} by {by.replace('_', ' ')}*\n\n" + markdown_table(head, rows)


def _group_rows(summary: Summary, by: str, metric: str) -> list[tuple[str, ...]]:
    others = [one.name for one in summary.systems if one.name != summary.reference]
    inside = {
        (one.group, one.system): one
        for one in summary.groups
        if one.by == by and one.metric == metric
    }
    rows: list[tuple[str, ...]] = []
    for group in dict.fromkeys(group for group, _ in inside):
        ours = inside.get((group, summary.reference))
        theirs = [inside[group, name] for name in others if (group, name) in inside]
        if ours is None or not theirs:
            continue
        best = max(theirs, key=lambda one: one.interval.mean)
        few = " (few)" if ours.small else ""
        delta = 100 * (ours.interval.mean - best.interval.mean)
        rows.append(
            (
                group,
                f"{ours.interval.n}{few}",
                scaled(ours.interval.mean, 100),
                f"{scaled(best.interval.mean, 100)} (`{best.system}`)",
                f"{'+' if delta >= 0 else '−'}{abs(delta):.1f}",
            )
        )
    return rows


def effort(
    by_system: Mapping[str, Sequence[CaseRecord]], away: Sequence[str] = ()
) -> Iterator[str]:
    """Judgements, calls and tokens of a query; `away` are systems that no model was there for."""
    rows = []
    for name, own in by_system.items():
        judged = [one.judgements for one in own if one.judgements is not None]
        pairs = [_pairs(one) for one in own if one.judgements is not None]
        rows.append(
            (
                f"`{name}`",
                f"{fmean(judged):.1f}" if judged else "–",
                f"{100 * (1 - sum(judged) / sum(pairs)):.1f} %" if judged and sum(pairs) else "–",
                _amount([one.llm_calls or 0 for one in own]),
                _amount([tokens(one) for one in own]),
                f"{fmean(one.pool for one in own):.1f}" if own else "–",
            )
        )
    absent = "not run: needs an endpoint"
    rows += [(f"`{name}`", "–", "–", absent, absent, "–") for name in away]
    head = ("system", "judgements", "avoided", "model calls", "tokens", "candidates")
    yield "*a query, on average*\n\n" + markdown_table(head, rows)


def _pairs(record: CaseRecord) -> int:
    """Return how many pairs there were to judge: a long element may be several segments."""
    return int(record.details.get("segments", record.pool))


def tokens(record: CaseRecord) -> int:
    """Return what a case took of a language model, searching and writing, in and out."""
    bills = (record.details, record.details.get("generation", {}))
    return sum(int(bill.get(name, 0)) for bill in bills for name in ("tokens_in", "tokens_out"))


def _amount(of_each: Sequence[int]) -> str:
    if not any(of_each):
        return "0"
    return f"{fmean(of_each):.2f}"


def beside_paper(summary: Summary, figures: Mapping[str, object], same: bool) -> Iterator[str]:
    """Set the paper's figures beside ours, in its convention."""
    metrics = figures.get("metrics")
    rows_of = figures.get("systems")
    if not isinstance(metrics, list) or not isinstance(rows_of, Mapping):
        return
    cells = {
        (one.system, one.metric): one.interval
        for one in summary.scores
        if one.convention is Convention.ALL_CASES and one.interval is not None
    }
    rows = []
    for name, printed in rows_of.items():
        own = [cells.get((name, metric)) for metric in metrics]
        pairs = [
            (scaled(ours.mean, 100) if ours else "not run", f"{float(theirs):.1f}")
            for ours, theirs in zip(own, printed, strict=True)
        ]
        rows.append((f"`{name}`", *(text for pair in pairs for text in pair)))
    head = ("system", *(f"{metric}{who}" for metric in metrics for who in (" here", " paper")))
    claim = "the same data" if same else "**other data**: the columns cannot be compared"
    yield f"*beside the paper, all cases; {claim}*\n\n" + markdown_table(head, rows)


def printed_in_paper(figures: Mapping[str, object], same: bool) -> Iterator[str]:
    """Show a table of the paper as it stands there, where it is about a data set of that name."""
    head, rows = figures.get("head"), figures.get("rows")
    if isinstance(head, list) and isinstance(rows, list):
        claim = "the same data" if same else "**other data**: not to be compared with the above"
        yield f"*printed in the paper; {claim}*\n\n" + markdown_table(head, rows)
