"""A report on disk, as Markdown, JSON, LaTeX and one HTML page; and runs in TREC's formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import quote

from abstrag.model.record import to_json
from abstrag_bench.metrics.catalogue import HEADLINE, HEADLINE_SHOWN
from abstrag_bench.metrics.metric import Convention
from abstrag_bench.render.html import html
from abstrag_bench.render.table import ReportTable, headline, markdown_table, scaled, tables
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.summary import Summary, summarize


def markdown(summary: Summary) -> str:
    """Write a report."""
    title, *lines = headline(summary)
    parts = [f"# {title}", *lines]
    parts += [_markdown_table(one) for one in tables(summary)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: ReportTable) -> str:
    rows = [
        [f"**{text}**" if (r, c) in table.marked else text for c, text in enumerate(row)]
        for r, row in enumerate(table.rows)
    ]
    return f"## {table.title}\n\n{table.note}\n\n{markdown_table(table.head, rows)}"


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
    return _latex_table(["System", *metrics], rows, caption)


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
    return _latex_table(["Against", "Metric", r"$\Delta$", "low", "high", "$n$"], rows, caption)


def _latex_table(head: list[str], rows: list[list[str]], caption: str) -> str:
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


def export_trec(run: Path, out: Path | None = None) -> tuple[Path, ...]:
    """Write `SYSTEM.run` for each system and one `qrels.txt`; white space in ids becomes %20.

    TREC tools order a run by score and break ties in ways of their own, so the score written is
    one that falls with the rank; the system's own are in the records.
    """
    folder = out or run / "trec"
    folder.mkdir(parents=True, exist_ok=True)
    runs: dict[str, list[str]] = {}
    gold: dict[str, tuple[str, ...]] = {}
    for one in RunFolder(run).records():
        gold.setdefault(one.case_id, one.gold)
        for rank, span in enumerate(one.ranked, 1):
            line = f"{_word(one.case_id)} Q0 {_word(span)} {rank} {len(one.ranked) - rank + 1}"
            runs.setdefault(one.system, []).append(f"{line} {_word(one.system)}\n")
    written = []
    for system, lines in runs.items():
        path = folder / f"{quote(system, safe='@')}.run"
        path.write_text("".join(lines), "utf-8")
        written.append(path)
    qrels = folder / "qrels.txt"
    rows = (f"{_word(c)} 0 {_word(s)} 1\n" for c, spans in gold.items() for s in spans)
    qrels.write_text("".join(rows), "utf-8")
    return (*written, qrels)


def _word(text: str) -> str:
    return "".join(quote(c) if c.isspace() else c for c in text)


_FORMATS: Final[dict[str, Callable[[Summary], str]]] = {
    "report.md": markdown,
    "report.json": lambda summary: to_json(summary, indent=2) + "\n",
    "report.tex": latex,
    "report.html": html,
}
LAST: Final = next(reversed(_FORMATS))  # the file that is written last


def report(run: Path, *, reference: str | None = None) -> tuple[Summary, tuple[Path, ...]]:
    """Summarize a run and write the report into its folder."""
    folder = RunFolder(run)
    summary = summarize(folder.manifest(), folder.records(), reference=reference)
    written = []
    for name, render in _FORMATS.items():
        path = run / name
        path.write_text(render(summary), "utf-8")
        written.append(path)
    return summary, tuple(written)
