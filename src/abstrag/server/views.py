"""A document, its map and its rankings under many budgets, as a page shows them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from abstrag.config import TAU_MAX
from abstrag.model.index import DocumentIndex
from abstrag.model.record import to_data
from abstrag.model.term import Edge, LicenceKind, Term
from abstrag.server.answers import NotThere
from abstrag.stores.protocol import DocumentInfo
from abstrag.workspace.options import edge_id

if TYPE_CHECKING:
    from abstrag.workspace.document import SearchableDocument

_SHOWN: Final = ("segment", "relevance", "match", "utility", "gap", "judgement")
GRID: Final = tuple(round(i / 10, 1) for i in range(round(10 * TAU_MAX) + 1))


def sweep(
    document: SearchableDocument, query: str, *, k: int, taus: Sequence[float] = GRID
) -> dict[str, Any]:
    """Rank a document under each budget, as a search under that budget would.

    A budget matters only where it reaches something new, and the τ curve says where that is: in
    between, the ranking stays the same and is computed once.
    """
    steps = [step.tau for step in document.budget(query).steps]
    ranked: dict[int, list[dict[str, Any]]] = {}
    rankings = []
    for tau in taus:
        reached = bisect_right(steps, tau)
        if reached not in ranked:
            ranked[reached] = _rows(document, query, tau, k)
        rankings.append(ranked[reached])
    return {"taus": list(taus), "rankings": rankings}


def _rows(document: SearchableDocument, query: str, tau: float, k: int) -> list[dict[str, Any]]:
    return [
        {**{name: getattr(hit, name) for name in _SHOWN}, "reachable": hit.trace.reachable}
        for hit in document.search(query, k=k, tau=tau).hits
    ]


MOST_MENTIONS: Final = 200


def document_view(info: DocumentInfo, index: DocumentIndex) -> dict[str, Any]:
    """Return a document as it reads: its blocks and its segments, each with its place."""
    return {
        "info": to_data(info),
        "title": index.document.title,
        "blocks": [
            {
                "kind": block.kind.value,
                "text": block.text,
                "page": block.page,
                "level": block.level,
                "section": list(block.section),
                "span": {"start": block.span.start, "end": block.span.end},
                "table": None if block.table is None else to_data(block.table),
            }
            for block in index.document.blocks
        ],
        "segments": [
            {
                "id": segment.id,
                "text": segment.text,
                "span": {"start": segment.span.start, "end": segment.span.end},
                "page": segment.page,
                "role": segment.role.value,
                "section": list(segment.section),
                "kind": segment.kind.value,
                "block": segment.block,
                "headers": [header.text for header in segment.headers],
            }
            for segment in index.segments
        ],
    }


def map_view(index: DocumentIndex, *, term: str | None, limit: int) -> dict[str, Any]:
    """Return the map: all of it up to a limit, or what lies around terms of a name.

    The limit is on edges. Those that say most about the document come first: what it states itself
    or a person added, then what the lexicon suggests, cheap before dear.
    """
    labels = {t.id: t.label for t in index.map.terms}
    edges = [e for e in index.map.edges if term is None or _near(e, term, labels)]
    lexicon = LicenceKind.LEXICON
    shown = sorted(edges, key=lambda e: (e.licence.kind is lexicon, e.units, e.source, e.target))[
        :limit
    ]
    ends = {end for edge in shown for end in (edge.source, edge.target)}
    if term is not None:
        ends |= {t.id for t in index.map.terms if _called(t, term)}
    degrees = Counter(end for edge in index.map.edges for end in (edge.source, edge.target))
    mentions = Counter(mention.term for mention in index.mentions)
    return {
        "terms": [
            {**to_data(t), "degree": degrees[t.id], "mentions": mentions[t.id]}
            for t in index.map.terms
            if t.id in ends
        ],
        "edges": edge_views(shown),
        "edges_total": len(edges),
    }


def term_view(index: DocumentIndex, name: str) -> dict[str, Any]:
    """Return one term: how the document calls it, its edges, and where it is spoken of."""
    term = next((t for t in index.map.terms if t.id == name), None)
    if term is None:
        raise NotThere(f"{index.document.id!r} has no term {name!r}", hint="see its map")
    positions = dict.fromkeys(m.segment for m in index.mentions if m.term == name)
    positions.update(dict.fromkeys(f.segment for f in index.frames if f.event == name))
    segments = index.segments
    return {
        "term": to_data(term),
        "aliases": list(dict.fromkeys((term.label, *term.surfaces))),
        "edges": edge_views(e for e in index.map.edges if name in (e.source, e.target)),
        "mentions": [
            {"segment": segments[p].id, "text": segments[p].text, "page": segments[p].page}
            for p in sorted(positions)[:MOST_MENTIONS]
        ],
    }


def edge_views(edges: Iterable[Edge]) -> list[dict[str, Any]]:
    """Return edges with their ids and costs."""
    return [{**to_data(edge), "id": edge_id(edge), "cost": edge.cost} for edge in edges]


def _near(edge: Edge, wanted: str, labels: dict[str, str]) -> bool:
    asked = wanted.casefold()
    names = (edge.source, edge.target, labels.get(edge.source, ""), labels.get(edge.target, ""))
    return any(asked in name.casefold() for name in names)


def _called(term: Term, wanted: str) -> bool:
    asked = wanted.casefold()
    return any(asked in name.casefold() for name in (term.id, term.label, *term.surfaces))
