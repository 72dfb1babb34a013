"""A report to send to a colleague: one HTML file that needs nothing else and runs nothing.

Everything that comes from a document or a query is escaped, and the file forbids itself scripts,
pictures and addresses from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from abstrag.config import TAU_MAX
from abstrag.model.cost import LOWER_IS_BETTER, told_sum
from abstrag.model.html import curve_html
from abstrag.model.query import Bridge, Query
from abstrag.model.ranking import BudgetCurve, Hit, LiteralTrace, Ranking
from abstrag.model.record import record
from abstrag.search.costs import cost_parts
from abstrag.search.relevance import Preset

if TYPE_CHECKING:
    from abstrag.engine.searcher import Searcher

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid var(--line); }
h2 { padding-top: 1.5rem; } article { margin: 1.5rem 0; padding-left: 1rem; }
article { border-left: 3px solid var(--line); }
blockquote { margin: 0 0 .4rem; font-size: 1.1em; }
.place, .asked, .licence, footer { font-size: .85em; opacity: .75; }
.reading { font-style: italic; margin: .4rem 0; }
table { border-collapse: collapse; font-size: .9em; margin: .5rem 0; }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
meter { width: 6rem; vertical-align: middle; } ul { margin: .2rem 0; padding-left: 1.2rem; }
.expression { color: #2e7d32; } .concept { color: #00838f; } .intent { color: #8e24aa; }
.event { color: #b26a00; } .context { color: #1565c0; }
.met::before { content: "✓ "; } .unmet::before { content: "✗ "; } .unmet { opacity: .7; }
@media print { body { max-width: none; } article { break-inside: avoid; } }
"""


@record
class ReportSection:
    """One question of a report: what was found for it, and at which budgets."""

    ranking: Ranking
    curve: BudgetCurve
    preset: Preset


def sections_of(
    searcher: Searcher, queries: Sequence[str], *, k: int, tau: float
) -> tuple[ReportSection, ...]:
    """Ask everything a report is about."""
    return tuple(
        ReportSection(searcher.search(query, k=k, tau=tau), searcher.budget(query), searcher.preset)
        for query in queries
    )


def report(
    title: str,
    sections: Iterable[ReportSection],
    *,
    labels: dict[str, str],
    source: str = "",
    made: str = "",
) -> str:
    """Write a report as HTML.

    Args:
        title: of the document.
        sections: the questions with their evidence.
        labels: how terms are called.
        source: where the document came from.
        made: when and with what the report was made.
    """
    body = "".join(_section(one, labels) for one in sections)
    name = escape(title)
    from_where = f"<p class='place'>{escape(source)}</p>" if source else ""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Evidence in {name}</title><style>{_STYLE}</style></head>"
        f"<body><header><h1>{name}</h1>{from_where}</header><main>{body}</main>"
        f"<footer>{escape(made)}</footer></body></html>\n"
    )


def _section(section: ReportSection, labels: dict[str, str]) -> str:
    ranking = section.ranking
    hits = "".join(
        _hit(rank, hit, labels, section.preset) for rank, hit in enumerate(ranking.hits, 1)
    )
    nothing = "<p>Nothing in the document meets any part of this.</p>"
    return (
        f"<section><h2>{escape(ranking.query.text)}</h2>{_asked(ranking.query)}"
        f"<p class='place'>{ranking.touched} of {ranking.segments} segments hold something of it; "
        f"budget τ {ranking.tau:g} of {TAU_MAX:g}, preset {escape(ranking.preset)}; "
        f"{LOWER_IS_BETTER}</p>"
        f"{hits or nothing}<details><summary>What each budget reaches</summary>"
        f"{curve_html(section.curve)}</details></section>"
    )


def _asked(query: Query) -> str:
    literals = "; ".join(
        f"{one.kind.value} <b>{escape(one.label)}</b>{' (negated)' if one.negated else ''} "
        f"{one.weight:.2f}"
        for one in query.literals
    )
    return f"<p class='asked'>asks for {literals}</p>"


def _hit(rank: int, hit: Hit, labels: dict[str, str], preset: Preset) -> str:
    page = [] if hit.page is None else [f"page {hit.page}"]
    page += [] if hit.cell is None else [f"cell {hit.cell}"]
    place = [*hit.section, *page, f"characters {hit.span.start} to {hit.span.end}", hit.segment]
    rows = "".join(_literal(one, labels) for one in hit.trace.literals)
    doubt = f"<p class='place'>{escape(hit.doubt)}</p>" if hit.doubt else ""
    under = f"<p class='place'>{escape(hit.under)}</p>" if hit.under else ""
    return (
        f"<article><blockquote>{rank}. “{escape(hit.quote)}”</blockquote>"
        f"{under}<p class='place'>{escape(' · '.join(place))}</p>{doubt}"
        f"<p class='reading'>{escape(hit.reading)}</p>{_cost(hit, preset)}"
        f"<table>{rows}</table></article>"
    )


def _cost(hit: Hit, preset: Preset) -> str:
    judged = (
        ""
        if hit.judgement is None
        else f" · evidence with probability {hit.judgement:.2f}, says the judge"
    )
    return f"<p>cost {escape(told_sum(cost_parts(hit, preset)))}{judged}</p>"


def _literal(found: LiteralTrace, labels: dict[str, str]) -> str:
    state = "met" if found.met else "unmet"
    if found.distance is None:
        how = "no way at any budget"
    elif found.context is not None:
        how = f"from the {found.context.name}: {found.context.value}, {found.distance:.2f}"
    else:
        how = f"by {labels.get(found.via or '', found.via or '')}, {found.distance:.2f}"
    steps = "".join(f"<li>{_step(bridge, labels)}</li>" for bridge in found.bridges)
    return (
        f"<tr><th class='{state}'>{escape(found.literal.label)}</th>"
        f"<td>{escape(how)}{f'<ul>{steps}</ul>' if steps else ''}</td></tr>"
    )


def _step(bridge: Bridge, labels: dict[str, str]) -> str:
    source = escape(labels.get(bridge.source, bridge.source))
    target = escape(labels.get(bridge.target, bridge.target))
    price = (
        "free, a premise"
        if bridge.truth_preserving
        else f"{bridge.cost:.2f} = ω {bridge.weight:.2f} + δ {bridge.distance:.2f}"
    )
    details = f" ({escape(', '.join(bridge.details))})" if bridge.details else ""
    licence = ""
    if bridge.licence is not None:
        reference = " ".join(bridge.licence.reference.split())
        licence = (
            f"<div class='licence'>licence: {bridge.licence.kind.value}: {escape(reference)}</div>"
        )
    return (
        f"<span class='{bridge.family.value}'>{bridge.family.value}</span> {source} → {target} "
        f"{price}{details}{licence}"
    )
