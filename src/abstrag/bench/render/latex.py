"""A report's results and contrasts as LaTeX tables for booktabs."""

from __future__ import annotations

from typing import Final

from abstrag.bench.metrics.catalogue import HEADLINE, HEADLINE_SHOWN
from abstrag.bench.metrics.metric import Convention
from abstrag.bench.render.numbers import scaled
from abstrag.bench.summary import Summary

_SPECIAL: Final = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"}
)


def latex(summary: Summary) -> str:
    """Write one table of scores and one of differences for each convention."""
    parts = [
        make(summary, convention) for convention in Convention for make in (_scores, _contrasts)
    ]
    return "\n".join(part for part in parts if part)


def _scores(summary: Summary, convention: Convention) -> str:
    metrics = [str(metric) for metric in (*HEADLINE, *HEADLINE_SHOWN)]
    cells = {
        (one.system, one.metric): one.interval
        for one in summary.scores
        if one.convention is convention
    }
    best = {
        metric: max((i.mean for (_, m), i in cells.items() if m == metric and i), default=None)
        for metric in metrics
    }
    rows = []
    for line in summary.systems:
        texts = []
        for metric in metrics:
            interval = cells.get((line.name, metric))
            if interval is None:
                texts.append("--")
                continue
            text = scaled(interval.mean, 100)
            texts.append(rf"\textbf{{{text}}}" if interval.mean == best[metric] else text)
        rows.append([_escaped(line.name), *texts])
    run = summary.manifest
    n = run.with_gold if convention is Convention.GOLD_ONLY else run.cases
    caption = (
        f"{_escaped(run.dataset)} {_escaped(run.split)}, {_escaped(convention.value)}, $n={n}$"
    )
    caption += "; values $\\times 100$; shown: over what a user is shown only."
    return _table(["System", *metrics], rows, caption)


def _contrasts(summary: Summary, convention: Convention) -> str:
    rows = [
        [
            _escaped(one.baseline),
            one.metric,
            _number(one.difference.mean * one.scale) + (r"$^{\star}$" if one.significant else ""),
            _number(one.difference.low * one.scale),
            _number(one.difference.high * one.scale),
            str(one.difference.n),
        ]
        for one in summary.contrasts
        if one.convention is convention
    ]
    if not rows:
        return ""
    caption = (
        f"{_escaped(summary.reference)} less each other system, {_escaped(convention.value)}; "
        r"paired bootstrap, 95\% interval; $^{\star}$: Holm-adjusted $p < 0.05$ and the interval "
        "excludes zero; Holm corrects over all ranks and over what is shown separately."
    )
    return _table(["Against", "Metric", r"$\Delta$", "low", "high", "$n$"], rows, caption)


def _table(head: list[str], rows: list[list[str]], caption: str) -> str:
    columns = "l" + "r" * (len(head) - 1)
    body = "\n".join(f"    {' & '.join(row)} \\\\" for row in rows)
    return (
        "\\begin{table}[t]\n  \\centering\n  \\small\n"
        f"  \\caption{{{caption}}}\n"
        f"  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n    {' & '.join(head)} \\\\\n"
        f"    \\midrule\n{body}\n    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n"
    )


def _number(value: float) -> str:
    return f"${value:+.2f}$"


def _escaped(text: str) -> str:
    return text.translate(_SPECIAL)
