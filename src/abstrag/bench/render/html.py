"""A report as one HTML page that needs nothing else: styles and plots are inside."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from abstrag.bench.metrics.metric import Convention
from abstrag.bench.render.forest import forest
from abstrag.bench.render.headline import headline
from abstrag.bench.render.table import Table, contrasts_of, tables, titled
from abstrag.bench.summary import Summary

_INTERVAL: Final = re.compile(r"(\S+) (\[[^\]]*\])(?: (n=\d+))?")
_FOLDED: Final = ("Not computable",)  # long and seldom read: closed until somebody opens it

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2330; --dim: #5d6778; --rule: #d9dee7; --page: #fff;
  --band: #f4f6fa; --best: #0b6b3a; --m0: #2563ab; --m1: #c2570c; --m2: #2f855a; --m3: #8b3fa8;
  --m4: #a3324b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5e9f0; --dim: #9aa5b8; --rule: #333c4b;
  --page: #12161d; --band: #1a202a; --best: #5fd39a; --m0: #6ea8ee; --m1: #f0954f; --m2: #63c796;
  --m3: #c98be0; --m4: #ea7d95; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 76rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .3rem; }
p { margin: .2rem 0 .8rem; color: var(--dim); max-width: 60rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .34rem .8rem .34rem 0; text-align: left; vertical-align: top; }
th { color: var(--dim); font-weight: 600; white-space: nowrap;
  border-bottom: 1.5px solid var(--ink); }
td { border-bottom: 1px solid var(--rule); }
.sub { display: block; color: var(--dim); font-size: .8rem; font-weight: 400;
  white-space: nowrap; }
td.best { color: var(--best); font-weight: 700; }
td:first-child { font-weight: 600; white-space: nowrap; padding-right: 1.2rem; }
summary { cursor: pointer; font-size: 1.15rem; font-weight: 700; margin: 2.4rem 0 .3rem; }
svg.forest { width: 100%; height: auto; max-width: 58rem; display: block; margin: .6rem 0 0; }
svg.forest text { font-family: inherit; fill: var(--ink); font-size: 13px; }
svg.forest .band { fill: var(--band); }
svg.forest .name { text-anchor: end; font-weight: 600; }
svg.forest .figure { font-size: 12px; fill: var(--dim); font-variant-numeric: tabular-nums; }
svg.forest .tick { text-anchor: middle; font-size: 11.5px; fill: var(--dim); }
svg.forest .side { font-size: 11.5px; fill: var(--dim); } svg.forest .end { text-anchor: end; }
svg.forest .grid { stroke: var(--rule); stroke-width: 1; }
svg.forest .zero { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg.forest g { stroke-width: 1.8; }
""" + "".join(
    f"svg.forest .m{i} {{ stroke: var(--m{i}); }}\n"
    f"svg.forest .m{i}.sure .dot {{ fill: var(--m{i}); }}\n"
    f"svg.forest .m{i}.open .dot {{ fill: var(--page); }}\n"
    for i in range(5)
)


def html(summary: Summary) -> str:
    """Write a report."""
    title, *lines = headline(summary)
    body = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(line)}</p>" for line in lines)]
    plots = {
        titled(f"Results, {convention.value}", shown=shown): _plot(summary, convention, shown=shown)
        for convention in Convention
        for shown in (False, True)
    }
    for table in tables(summary):
        body += [_table(table), plots.get(table.title, "")]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>\n"
    )


def _plot(summary: Summary, convention: Convention, *, shown: bool) -> str:
    drawn = forest(contrasts_of(summary, convention, shown=shown))
    if not drawn:
        return ""
    note = (
        "Paired differences with 95 % bootstrap intervals. Filled with a star: significant after "
        "Holm's correction and the interval excludes zero. Open: not."
    )
    title = titled(f"{summary.reference} less each other system, {convention.value}", shown=shown)
    return f"<h2>{escape(title)}</h2>\n<p>{note}</p>\n{drawn}"


def _table(table: Table) -> str:
    head = "".join(f"<th>{_head(text)}</th>" for text in table.head)
    rows = []
    for r, row in enumerate(table.rows):
        cells = []
        for c, text in enumerate(row):
            mark = ' class="best"' if (r, c) in table.marked else ""
            cells.append(f"<td{mark}>{_cell(text)}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    inside = (
        f"<p>{escape(table.note)}</p>\n"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    if table.title in _FOLDED:
        return f"<details><summary>{escape(table.title)}</summary>{inside}</details>"
    return f"<h2>{escape(table.title)}</h2>\n{inside}"


def _head(text: str) -> str:
    """Set the number of cases under the name of the metric."""
    name, bracket, rest = text.partition(" (")
    return escape(name) + (
        f'<span class="sub">{escape(rest.rstrip(")"))}</span>' if bracket else ""
    )


def _cell(text: str) -> str:
    """Set an interval, and the number of cases, under the mean in smaller type."""
    found = _INTERVAL.fullmatch(text)
    if not found:
        return escape(text)
    mean, interval, cases = found.groups()
    below = [interval, *([cases] if cases else [])]
    return escape(mean) + "".join(f'<span class="sub">{escape(line)}</span>' for line in below)
