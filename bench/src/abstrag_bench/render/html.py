"""A report as one HTML page that needs nothing else: styles and plots are inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from math import ceil, floor
from typing import Final

from abstrag_bench.metrics.metric import Convention
from abstrag_bench.render.table import ReportTable, contrasts_of, headline, signed, tables, titled
from abstrag_bench.summary import Contrast, Summary

# The forest plot: every paired difference with its interval, as one inline SVG.

_LEFT: Final = 170  # for the names of the systems
_RIGHT: Final = 196  # for the figures
_PLOT: Final = 520
_LINE: Final = 22
_GAP: Final = 14
_TOP: Final = 46
_BOTTOM: Final = 40
_STEPS: Final = (0.5, 1, 2, 5, 10, 20, 50)
_CLASSES: Final = ("m0", "m1", "m2", "m3", "m4")


def forest(contrasts: Sequence[Contrast]) -> str:
    """Draw the contrasts of one convention, grouped by the system compared with."""
    if not contrasts:
        return ""
    metrics = list(dict.fromkeys(one.metric for one in contrasts))
    low, high, step = _range(contrasts)
    width = _LEFT + _PLOT + _RIGHT
    bands: list[str] = []
    rows: list[str] = []
    y = float(_TOP)
    for number, name in enumerate(dict.fromkeys(one.baseline for one in contrasts)):
        group = [one for one in contrasts if one.baseline == name]
        tall = len(group) * _LINE + _GAP
        if number % 2 == 0:
            bands.append(f'<rect class="band" x="0" y="{y:.1f}" width="{width}" height="{tall}"/>')
        middle = y + tall / 2 + 4
        rows.append(f'<text class="name" x="{_LEFT - 14}" y="{middle:.1f}">{escape(name)}</text>')
        for i, one in enumerate(group):
            at = y + _GAP / 2 + (i + 0.5) * _LINE
            rows.append(_row(one, at, metrics.index(one.metric), low, high))
        y += tall
    height = y + _BOTTOM
    axis = _axis(low, high, step, y, contrasts[0].reference)
    layers = (_legend(metrics), *bands, axis, *rows)  # what comes later covers what came before
    return (
        f'<svg class="forest" viewBox="0 0 {width} {height:.0f}" role="img" '
        f'aria-label="Paired differences with 95 % intervals">{"".join(layers)}</svg>'
    )


def _range(contrasts: Sequence[Contrast]) -> tuple[float, float, float]:
    """Return an axis that holds zero and every interval, and the distance of its ticks."""
    lowest = min(0.0, *(one.difference.low * one.scale for one in contrasts))
    highest = max(0.0, *(one.difference.high * one.scale for one in contrasts))
    spread = max(highest - lowest, 1.0)
    step = next((s for s in _STEPS if spread / s <= 9), _STEPS[-1])
    first, last = floor(lowest / step) * step, ceil(highest / step) * step
    return (first, last, step) if last > first else (-step, step, step)  # all differ by nothing


def _x(value: float, low: float, high: float) -> float:
    return _LEFT + (value - low) / (high - low) * _PLOT


def _row(one: Contrast, y: float, metric: int, low: float, high: float) -> str:
    difference, scale = one.difference, one.scale
    a, b, m = (_x(v * scale, low, high) for v in (difference.low, difference.high, difference.mean))
    kind = _CLASSES[metric % len(_CLASSES)]
    filled = "sure" if one.significant else "open"
    star = " ★" if one.significant else ""
    figures = escape(signed(difference, scale))
    tip = escape(f"{one.metric}: {one.reference} less {one.baseline}, n = {difference.n}")
    return (
        f'<g class="{kind} {filled}"><title>{tip}</title>'
        f'<line x1="{a:.1f}" y1="{y:.1f}" x2="{b:.1f}" y2="{y:.1f}"/>'
        f'<line x1="{a:.1f}" y1="{y - 4:.1f}" x2="{a:.1f}" y2="{y + 4:.1f}"/>'
        f'<line x1="{b:.1f}" y1="{y - 4:.1f}" x2="{b:.1f}" y2="{y + 4:.1f}"/>'
        f"{_marker(metric, m, y)}</g>"
        f'<text class="figure" x="{_LEFT + _PLOT + 14}" y="{y + 4:.1f}">{figures}{star}</text>'
    )


def _marker(metric: int, x: float, y: float) -> str:
    """Draw a square, a circle, a triangle or a diamond, so that colour is not all there is."""
    shape = metric % 4
    if shape == 0:
        return f'<rect class="dot" x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"/>'
    if shape == 1:
        return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    if shape == 2:
        corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y + 5:.1f} {x - 6:.1f},{y + 5:.1f}"
    else:
        corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
    return f'<polygon class="dot" points="{corners}"/>'


def _legend(metrics: Sequence[str]) -> str:
    parts, x = [], float(_LEFT)
    for i, metric in enumerate(metrics):
        parts.append(
            f'<g class="{_CLASSES[i % len(_CLASSES)]} sure">{_marker(i, x + 6, 20)}</g>'
            f'<text class="key" x="{x + 18:.1f}" y="24">{escape(metric)}</text>'
        )
        x += 36 + 8 * len(metric)
    return "".join(parts)


def _axis(low: float, high: float, step: float, y: float, reference: str) -> str:
    parts = []
    tick = low
    while tick <= high + step / 1e6:
        x = _x(tick, low, high)
        kind = "zero" if abs(tick) < 1e-9 else "grid"
        parts.append(
            f'<line class="{kind}" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{x:.1f}" y="{y + 16:.1f}">{_tick(tick)}</text>'
        )
        tick += step
    zero = _x(0.0, low, high)
    better = escape(f"{reference} is better →")
    worse = escape("← the other is better")
    parts.append(f'<text class="side end" x="{zero - 10:.1f}" y="{y + 33:.1f}">{worse}</text>')
    parts.append(f'<text class="side" x="{zero + 10:.1f}" y="{y + 33:.1f}">{better}</text>')
    return "".join(parts)


def _tick(value: float) -> str:
    if abs(value) < 1e-9:
        return "0"
    return f"{'+' if value > 0 else '−'}{abs(value):g}"


_INTERVAL: Final = re.compile(r"(\S+) (\[[^\]]*\])(?: (n=\d+))?")
_FOLDED: Final = ("Not computable",)  # long and seldom read: closed until somebody opens it


def _style() -> str:
    css = files("abstrag_bench.render").joinpath("report.css").read_text("utf-8")
    return f"\n{css}" + "".join(
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
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
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


def _table(table: ReportTable) -> str:
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
