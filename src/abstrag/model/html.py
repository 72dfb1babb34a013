"""How results look in a notebook: small, self-contained HTML; everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Final

from abstrag.config import COST_UNIT, TAU_MAX
from abstrag.model.cost import cost_of, told, told_sum
from abstrag.model.term import Family, LicenceKind, Relation

if TYPE_CHECKING:
    from abstrag.model.query import Bridge
    from abstrag.model.ranking import BudgetCurve, GapTrace, Hit, Ranking, WhyNot
    from abstrag.model.term import AbstractionMap, Edge

_COLOURS: Final = {
    Family.EXPRESSION: "#2e7d32",
    Family.CONCEPT: "#00838f",
    Family.INTENT: "#8e24aa",
    Family.EVENT: "#b26a00",
    Family.CONTEXT: "#1565c0",
    Family.RELATED: "#616161",
}
_OTHER_COLOUR: Final = "#424242"  # of a family that has none of its own
_SMALL: Final = "font-size:85%;opacity:.75"
_MOST_EDGES: Final = 60


def ranking_html(ranking: Ranking) -> str:
    """Return a ranking as a list of hits."""
    asked = " ".join(
        f"<b>{escape(x.label)}</b> <span style='{_SMALL}'>{x.kind.value} {x.weight:.2f}</span>"
        for x in ranking.query.literals
    )
    hits = "".join(f"<li>{hit_html(hit)}</li>" for hit in ranking.hits)
    return f"<div><p>{asked}</p><ol>{hits}</ol></div>"


def hit_html(hit: Hit) -> str:
    """Return a hit: the quote, where it stands, what it costs and its bridges."""
    page = f"page {hit.page}" if hit.page is not None else ""
    cell = f"cell {hit.cell}" if hit.cell is not None else ""
    place = [*hit.section, page, cell, hit.segment]
    where = escape(" › ".join(p for p in place if p))
    if hit.doubt:
        where = f"{where}<br>{escape(hit.doubt)}"
    if hit.under:
        where = f"{escape(hit.under)}<br>{where}"
    parts = [(line.name, line.units / COST_UNIT) for line in hit.lines]
    cost = f"cost {told_sum(parts) if parts else told(cost_of(hit.relevance))}"
    return (
        f"<blockquote style='margin:.3em 0'>{escape(hit.text or hit.quote)}</blockquote>"
        f"<div style='{_SMALL}'>{where} · {cost}</div>"
        f"<div><i>{escape(hit.reading)}</i></div>{trace_html(hit.trace)}"
    )


def trace_html(trace: GapTrace) -> str:
    """Return a trace: one line a literal, with its bridges as coloured steps."""
    lines = []
    for found in trace.literals:
        mark = "✓" if found.met else "✗"
        cost = "" if found.distance is None else f" {found.distance:.2f}"
        steps = "".join(map(_step, found.bridges))
        lines.append(f"<div>{mark} {escape(found.literal.label)}{cost}{steps}</div>")
    return f"<div style='margin:.2em 0 .8em 1em'>{''.join(lines)}</div>"


def _colour(family: Family) -> str:
    return _COLOURS.get(family, _OTHER_COLOUR)


def _step(bridge: Bridge) -> str:
    price = "free" if bridge.truth_preserving else f"{bridge.cost:.2f}"
    return (
        f" <span style='color:{_colour(bridge.family)}'>[{bridge.family.value} "
        f"{escape(bridge.source)} → {escape(bridge.target)} {price}]</span>"
    )


def why_not_html(answer: WhyNot) -> str:
    """Return the cause and what would change it."""
    change = answer.counterfactual
    lift = ""
    if change is not None:
        moved = f"{escape(change.description)} would move it to rank {change.rank_after}"
        lift = f"<div>{moved}</div>"
    hit = "" if answer.hit is None else trace_html(answer.hit.trace)
    return (
        f"<blockquote>{escape(answer.passage)}</blockquote>"
        f"<div><b>{answer.cause.value}</b>: {escape(answer.detail)}</div>{lift}{hit}"
    )


def curve_html(curve: BudgetCurve) -> str:
    """Return the τ curve as a step plot."""
    width, height = 420, 120
    most = max((s.reachable for s in curve.steps), default=0) or 1
    points: list[tuple[float, float]] = []
    level = 0
    for step in curve.steps:
        x = width * step.tau / TAU_MAX
        points += [(x, _y(level, most, height)), (x, _y(step.reachable, most, height))]
        level = step.reachable
    points.append((width, _y(level, most, height)))
    return (
        f"<svg width='{width}' height='{height + 20}' role='img' "
        f"aria-label='segments that meet the whole query, by budget'>"
        f"<polyline fill='none' stroke='#1565c0' stroke-width='2' points='{_path(points)}'/>"
        f"<text x='0' y='{height + 16}' font-size='12'>τ 0</text>"
        f"<text x='{width}' y='{height + 16}' font-size='12' text-anchor='end'>τ {TAU_MAX:g}</text>"
        f"<text x='0' y='12' font-size='12'>{most} segments</text></svg>"
    )


def _y(count: int, most: int, height: int) -> float:
    return height - (height - 16) * count / most


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def map_html(shown: AbstractionMap) -> str:
    """Return a map as its steps by family; what the document states comes before the lexicon."""
    labels = {term.id: term.label for term in shown.terms}
    edges = sorted(shown.edges, key=lambda e: (e.licence.kind is LicenceKind.LEXICON, e.units))
    parts = [f"<p>{len(shown.terms)} terms, {len(edges)} edges</p>"]
    for family in Family:
        own = [edge for edge in edges[:_MOST_EDGES] if edge.family is family]
        if own:
            lines = "".join(f"<li>{_edge(edge, labels)}</li>" for edge in own)
            parts.append(f"<b style='color:{_colour(family)}'>{family.value}</b><ul>{lines}</ul>")
    if len(edges) > _MOST_EDGES:
        parts.append(f"<p style='{_SMALL}'>and {len(edges) - _MOST_EDGES} more</p>")
    return f"<div>{''.join(parts)}</div>"


def _edge(edge: Edge, labels: dict[str, str]) -> str:
    price = "free" if edge.truth_preserving else f"{edge.cost:.2f}"
    arrow = "≡" if edge.relation is Relation.EQUIVALENT else "→"
    source, target = (escape(labels.get(end, end)) for end in (edge.source, edge.target))
    licence = escape(f"{edge.licence.kind.value}: {' '.join(edge.licence.reference.split())}")
    return f"{source} {arrow} {target} <b>{price}</b> <span style='{_SMALL}'>{licence}</span>"
