"""BuildMap: merge what the operators found into the abstraction map M_D, checked and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from abstrag.indexing.layers import Map
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.indexing.times import dated_parts, time_term
from abstrag.model.term import AbstractionMap, Edge, Interval, Mention, Term, TermKind


@dataclass(frozen=True, slots=True)
class BuildMap:
    """Package what the layers hold as terms, edges, mentions and frames.

    One term an id, one edge a step. A layer without a field of that name brings none.
    """

    name: ClassVar[str] = "build_map"
    requires: ClassVar[Layer | None] = Layer.EVENTS
    provides: ClassVar[Layer] = Layer.MAP
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 2

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Build the map of a draft."""
        terms = merged_terms([*_all(draft, "terms"), *_anchors(draft)])
        edges = merged_edges(_all(draft, "edges"))
        known = {t.id for t in terms}
        dangling = {e for edge in edges for e in (edge.source, edge.target)} - known
        assert not dangling, f"edges lead to terms nobody made: {sorted(dangling)[:5]}"
        mentions = sorted(set(_all(draft, "mentions")), key=_place)
        made = Map(AbstractionMap(terms, edges), tuple(mentions), tuple(_all(draft, "frames")))
        return draft.with_(mapped=made)


def _all(draft: IndexDraft, name: str) -> Iterator[Any]:
    """Go through what all layers have in the field of a name, in chain order."""
    for layer in draft.layers:
        yield from getattr(layer, name, ())


def _place(mention: Mention) -> tuple[int, int, int, int, str]:
    header = -1 if mention.header is None else mention.header
    return mention.segment, header, mention.start, mention.end, mention.term


def _anchors(draft: IndexDraft) -> Iterator[Term]:
    """Make the terms that only a context refers to: when the document speaks from, or a part."""
    for part in set(dated_parts(draft.document).values()):
        yield time_term(part.interval, set())
    day = draft.document.metadata.date
    if day is not None:
        yield Term(f"{TermKind.TIME.value}:{day}", TermKind.TIME, day, (), Interval(day, day))


def merged_terms(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return one term an id, with all surfaces; the first operator's label stands."""
    found: dict[str, Term] = {}
    surfaces: dict[str, set[str]] = {}
    for term in terms:
        found.setdefault(term.id, term)
        surfaces.setdefault(term.id, set()).update(term.surfaces)
    return tuple(
        replace(found[name], surfaces=tuple(sorted(surfaces[name]))) for name in sorted(found)
    )


def merged_edges(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return one edge for each step; of several licences the cheapest, then the surest, stands."""
    best: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        step = (edge.source, edge.target, edge.family.value)
        if step not in best or _rank(edge) < _rank(best[step]):
            best[step] = edge
    return tuple(best[step] for step in sorted(best))


def _rank(edge: Edge) -> tuple[int, float, str, str]:
    return edge.units, -edge.confidence, edge.operator, edge.licence.reference
