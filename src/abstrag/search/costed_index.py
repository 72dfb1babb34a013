"""The costed inverted index: postings that a query's reach is laid over.

A term stands in a segment because the segment, or a header of it, mentions it or tells it as an
event. A term that only the lifted context supplies is there too, at the price of a context bridge.
Both are kept by term, so that a query visits the segments that hold something and no others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.config import OMEGA
from abstrag.model.distances import event_distance
from abstrag.model.index import Context, DocumentIndex, FieldValue
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.term import Edge, Family, Frame, Mention, Relation, Term
from abstrag.search.bridges.paths import FAMILY_BIT, BridgeGraph, EdgeSource, to_units

# Postings: which segments hold a term; and event postings: how well they tell the event.

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NO_SEGMENTS: Final[IntArray] = np.empty(0, dtype=np.int64)
_SLOT: Final = to_units(event_distance(unfilled=1, coerced=0, artifact=False))


class Postings:
    """An inverted index: for each term the segments that hold it, ascending, each once."""

    def __init__(self, terms: Iterable[str], segments: Iterable[int]) -> None:
        self._mentions: dict[str, list[int]] = {}
        for term, segment in zip(terms, segments, strict=True):
            self._mentions.setdefault(term, []).append(segment)
        self._sorted: dict[str, IntArray] = {}  # of the terms that were asked for
        self._changed: Mapping[str, IntArray] = {}  # terms whose segments are kept apart

    def __contains__(self, term: str) -> bool:
        return term in self._mentions or term in self._changed

    def updated(self, added: Mapping[str, Iterable[int]]) -> Postings:
        """Return postings in which terms stand in further segments; all others are shared."""
        made = copy(self)
        changed = {
            term: np.union1d(self.segments(term), np.fromiter(where, np.int64))
            for term, where in added.items()
        }
        made._changed = {**self._changed, **changed}
        return made

    def segments(self, term: str) -> IntArray:
        """Return the segments that hold a term."""
        if (apart := self._changed.get(term)) is not None:
            return apart
        if (known := self._sorted.get(term)) is not None:
            return known
        if (mentions := self._mentions.get(term)) is None:
            return NO_SEGMENTS
        found: IntArray = np.unique(np.array(mentions, dtype=np.int64))
        self._sorted[term] = found
        return found


class EventPostings:
    """What each segment's best telling of an event leaves to be assumed, by event and slots.

    Slots only: that an artifact merely implies an event is paid for on the edge from the one to the
    other, so that whoever asks for the artifact itself finds it for nothing.
    """

    def __init__(self, frames: Iterable[Frame], postings: Postings) -> None:
        self._postings = postings
        self._bits: dict[str, int] = {}
        grouped: dict[str, list[tuple[int, int]]] = {}
        for frame in frames:
            clean = 0
            for slot in frame.slots:
                bit = self._bits.setdefault(slot.name, 1 << len(self._bits))
                clean |= 0 if slot.coerced else bit
            grouped.setdefault(frame.event, []).append((frame.segment, clean))
        self._frames = grouped
        self._known: dict[tuple[str, tuple[str, ...]], tuple[IntArray, IntArray]] = {}

    def penalties(self, event: str, slots: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        """Return the segments that tell an event and the units the slots' state adds in each.

        A segment that names the event without telling it, as a bare noun may, fills no slot.
        """
        if (event, slots) not in self._known:
            self._known[event, slots] = self._count(event, slots)
        return self._known[event, slots]

    def updated(self, postings: Postings) -> EventPostings:
        """Return event postings over updated postings; what frames tell stays as it is."""
        made = copy(self)
        made._postings, made._known = postings, {}
        return made

    def _count(self, event: str, slots: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        named = self._postings.segments(event)
        if event not in self._frames:
            return named, np.full(len(named), unfilled_units(slots), dtype=np.int64)
        segment, clean = np.array(sorted(self._frames[event]), dtype=np.int64).T
        units = np.zeros(len(segment), dtype=np.int64)
        for slot in slots:
            units = units + _SLOT * ((clean & self._bits.get(slot, 0)) == 0)
        first = np.flatnonzero(np.r_[True, segment[1:] != segment[:-1]])
        told, best = segment[first], np.minimum.reduceat(units, first)
        bare = np.setdiff1d(named, told, assume_unique=True)
        segments = np.concatenate((told, bare))
        units = np.concatenate((best, np.full(len(bare), unfilled_units(slots), dtype=np.int64)))
        order = np.argsort(segments, kind="stable")
        return segments[order], units[order]


def unfilled_units(slots: tuple[str, ...]) -> int:
    """Return what these slots add when nothing fills them."""
    return _SLOT * len(slots)


def frame_units(frame: Frame, slots: tuple[str, ...]) -> int:
    """Return what one frame adds for these slots."""
    return _SLOT * sum(1 for name in slots if slot_state(frame, name) is not None)


def slot_state(frame: Frame, name: str) -> str | None:
    """Say what is wrong with a slot of a frame: unfilled, coerced, or nothing."""
    filled = [slot for slot in frame.slots if slot.name == name]
    if not filled:
        return "unfilled"
    return "coerced" if all(slot.coerced for slot in filled) else None


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
