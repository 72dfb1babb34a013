"""The costed inverted index: postings that a query's reach is laid over.

A term stands in a segment because the segment, or a header of it, mentions it or tells it as an
event. A term that only the lifted context supplies is there too, at the price of a context bridge.
Both are kept by term, so that a query visits the segments that hold something and no others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from abstrag.config import OMEGA
from abstrag.model.context import Context, FieldValue
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.term import Edge, Family, Frame, Mention, Relation, Term
from abstrag.search.bridges.cost import to_units
from abstrag.search.bridges.graph import FAMILY_BIT, BridgeGraph, EdgeSource
from abstrag.search.postings import EventPostings, FloatArray, IntArray, Postings, unfilled_units

CONTEXT: Final = to_units(OMEGA[Family.CONTEXT])
CONTEXT_BIT: Final = FAMILY_BIT[Family.CONTEXT]


@dataclass(frozen=True, slots=True)
class Landing:
    """A term of a segment at which a literal's path may end, and what ending there adds.

    A path that ends in the context takes a context bridge as its last step, so it must have taken
    none before: `without` holds the families that have to be left unused.
    """

    term: str
    extra: int
    without: int = 0
    context: FieldValue | None = None


class AddedEdges:
    """Edges that join a graph after it was built, by the term they lead to."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        into: defaultdict[str, dict[Edge, None]] = defaultdict(dict)
        for edge in edges:
            into[edge.target][edge] = None
            if edge.relation is Relation.EQUIVALENT:
                into[edge.source][edge] = None
        self._into = {term: tuple(found) for term, found in into.items()}

    def edges_into(self, term: str) -> tuple[Edge, ...]:
        """Return the added edges that lead to a term."""
        return self._into.get(term, ())


class CostedIndex:
    """A document's postings, event postings, context postings and edges; read only.

    What a patch changes makes another index that shares everything the patch does not touch.
    """

    def __init__(
        self,
        mentions: Sequence[Mention],
        *,
        frames: Sequence[Frame] = (),
        contexts: Sequence[Context] = (),
        edges: Iterable[Edge] = (),
        utilities: Sequence[float] = (),
        terms: Iterable[Term] = (),
    ) -> None:
        self.labels = {term.id: term.label for term in terms}
        self.utilities: FloatArray = np.asarray(utilities, dtype=np.float64)
        self.edges = tuple(edges)
        self.graph = BridgeGraph(self.edges)
        self._widened: tuple[tuple[EdgeSource, ...], BridgeGraph] = ((), self.graph)
        self.mentions = mentions
        self.contexts = contexts
        place = np.fromiter((m.segment for m in mentions), np.int64, len(mentions))
        self._order = np.argsort(place, kind="stable")
        self._place = place[self._order]
        self._frames: dict[int, list[Frame]] = {}
        for frame in frames:
            self._frames.setdefault(frame.segment, []).append(frame)
        self._words = Postings(
            chain((m.term for m in mentions), (f.event for f in frames)),
            chain((m.segment for m in mentions), (f.segment for f in frames)),
        )
        self._events = EventPostings(frames, self._words)
        lifted = [
            (value.term, segment)
            for segment, context in enumerate(contexts)
            for _, value in context.values()
            if value.term is not None
        ]
        self._lifted = Postings([term for term, _ in lifted], [segment for _, segment in lifted])

    @classmethod
    def of(cls, index: DocumentIndex) -> CostedIndex:
        """Build the postings of an indexed document."""
        return cls(
            index.mentions,
            frames=index.frames,
            contexts=[record.context for record in index.records],
            edges=index.map.edges,
            utilities=[record.utility.value for record in index.records],
            terms=index.map.terms,
        )

    def updated(
        self,
        *,
        mentions: Sequence[Mention] = (),
        edges: Iterable[Edge] = (),
        terms: Iterable[Term] = (),
    ) -> CostedIndex:
        """Return the index with more mentions and edges; only the postings they name are made anew.

        It answers as an index built from all of them at once would.
        """
        known = set(self.edges)
        fresh = tuple(edge for edge in dict.fromkeys(edges) if edge not in known)
        made = copy(self)
        made.labels = {**self.labels, **{term.id: term.label for term in terms}}
        made.edges = (*self.edges, *fresh)
        if fresh:
            made.graph = self.graph.with_sources(AddedEdges(fresh))
        made._widened = ((), made.graph)
        if mentions:
            made._mention(mentions)
        return made

    def with_edges(self, edges: Iterable[Edge]) -> CostedIndex:
        """Return the index over another set of edges; every posting is shared."""
        made = copy(self)
        made.edges = tuple(edges)
        made.graph = BridgeGraph(made.edges)
        made._widened = ((), made.graph)
        return made

    def _mention(self, added: Sequence[Mention]) -> None:
        """Take mentions in, as if they had always stood at the end of the list."""
        first = len(self.mentions)
        self.mentions = (*self.mentions, *added)
        place = np.fromiter((m.segment for m in added), np.int64, len(added))
        order = np.argsort(place, kind="stable")
        # after the segment's own: a stable sort of all mentions would put them there
        at = np.searchsorted(self._place, place[order], side="right")
        self._order = np.insert(self._order, at, first + order)
        self._place = np.insert(self._place, at, place[order])
        where: defaultdict[str, list[int]] = defaultdict(list)
        for mention in added:
            where[mention.term].append(mention.segment)
        self._words = self._words.updated(where)
        self._events = self._events.updated(self._words)

    def __contains__(self, term: str) -> bool:
        return term in self._words or term in self._lifted

    def graph_with(self, sources: Sequence[EdgeSource]) -> BridgeGraph:
        """Return the graph with what these sources offer.

        It is kept for the next query, which mostly comes with the same sources.
        """
        known, graph = self._widened
        if len(known) != len(sources) or any(
            a is not b for a, b in zip(known, sources, strict=False)
        ):
            graph = self.graph.with_sources(*sources)
            self._widened = (tuple(sources), graph)
        return graph

    def told(self, term: str, literal: Literal) -> tuple[IntArray, IntArray]:
        """Return the segments whose own words hold a term, and what ending there adds."""
        if literal.kind is LiteralKind.EVENT:
            return self._events.penalties(term, literal.slots)
        segments = self._words.segments(term)
        return segments, np.zeros(len(segments), dtype=np.int64)

    def lifted(self, term: str, literal: Literal) -> tuple[IntArray, IntArray]:
        """Return the segments whose context holds a term, and what leaning on it adds."""
        segments = self._lifted.segments(term)
        return segments, np.full(len(segments), self._leaning(literal), dtype=np.int64)

    def landings(
        self, segment: int, literal: Literal, reached: Container[str]
    ) -> Iterator[Landing]:
        """Go through the terms of one segment that are reached, its own words first."""
        for term in self._words_of(segment):
            if term in reached:
                extra = 0
                if literal.kind is LiteralKind.EVENT:
                    segments, units = self.told(term, literal)
                    extra = int(units[np.searchsorted(segments, segment)])
                yield Landing(term, extra)
        for term, value in self._lifted_by(segment).items():
            if term in reached:
                yield Landing(term, self._leaning(literal), CONTEXT_BIT, value)

    def places(self, term: str) -> IntArray:
        """Return the segments that have a term in their own words."""
        return self._words.segments(term)

    def terms_of(self, segment: int) -> frozenset[str]:
        """Return every term a segment holds, in its own words or through its context."""
        return frozenset((*self._words_of(segment), *self._lifted_by(segment)))

    def mentions_of(self, segment: int) -> list[Mention]:
        """Return the mentions of a segment, in the document's order."""
        first, last = np.searchsorted(self._place, (segment, segment + 1))
        return [self.mentions[i] for i in self._order[first:last]]

    def frames_of(self, segment: int) -> list[Frame]:
        """Return the events a segment tells."""
        return self._frames.get(segment, [])

    def _words_of(self, segment: int) -> dict[str, None]:
        terms = dict.fromkeys(m.term for m in self.mentions_of(segment))
        terms.update(dict.fromkeys(frame.event for frame in self.frames_of(segment)))
        return terms

    def _lifted_by(self, segment: int) -> dict[str, FieldValue]:
        """The terms of a segment's context, each with the first value that supplies it."""
        found: dict[str, FieldValue] = {}
        if segment < len(self.contexts):
            for _, value in self.contexts[segment].values():
                if value.term is not None:
                    found.setdefault(value.term, value)
        return found

    def _leaning(self, literal: Literal) -> int:
        """The context bridge itself; the context tells no event, so it fills no slot."""
        if literal.kind is LiteralKind.EVENT:
            return CONTEXT + unfilled_units(literal.slots)
        return CONTEXT
