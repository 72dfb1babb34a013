"""One query laid over one index: d_j, b* and Gap of every segment that holds something of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final

import numpy as np

from abstrag.config import COST_UNIT, KAPPA, MAX_GAP, TAU, TAU_MAX
from abstrag.indexing.events import TELLINGS
from abstrag.model.query import LiteralKind, Query
from abstrag.model.term import Family, LicenceKind, TermKind
from abstrag.search.bridges.paths import (
    Aggregator,
    Combination,
    EdgeSource,
    Neighbourhood,
    Offer,
    PathLabel,
    TermReach,
    additive,
    budget,
)
from abstrag.search.bridges.steiner import cheapest
from abstrag.search.costed_index import (
    CONTEXT_BIT,
    BoolArray,
    CostedIndex,
    FloatArray,
    IntArray,
    Landing,
)
from abstrag.search.document_words import SegmentReach

LEARNED: Final = -1  # in place of an ending: the literal is met by the words of a segment
_OF: Final = tuple(f"{kind.value}:" for kind in (TermKind.EVENT, TermKind.CONCEPT, TermKind.ENTITY))
_SAID: Final = frozenset({LiteralKind.EVENT, LiteralKind.CONCEPT})  # of something
FAR: Final = 1 << 40  # no way at all; far above any cost, and a sum of ten is still an int64


def by_sense(label: PathLabel) -> bool:
    """Tell whether a path takes a step that holds for a sense of a word, as WordNet has it.

    What is listed as telling the same has been looked at together with what it is told of.
    """
    return any(
        edge.family in (Family.CONCEPT, Family.EVENT)
        and edge.operator != TELLINGS
        and edge.licence.kind is LicenceKind.LEXICON
        and not edge.truth_preserving
        for edge in label.edges()
    )


OfAnother = Callable[[int, int, str], bool]  # literal, segment, term
_STATED: Final = frozenset({LicenceKind.BACKGROUND, LicenceKind.PATCH, LicenceKind.COLLECTION})


def is_stated(path: PathLabel) -> bool:
    """Tell whether somebody has said that a path may be taken."""
    return any(edge.licence.kind in _STATED for edge in path.edges())


Endings = tuple[tuple[Landing, ...], ...]  # for each literal


class Lookup:
    """The distances of one query to the segments of one index, within a budget.

    `segments` are the ones touched, ascending; the rows of `distances` are the literals and its
    columns those segments, in units, `FAR` where a literal is out of the budget's reach.
    """

    def __init__(
        self,
        index: CostedIndex,
        query: Query,
        *,
        tau: float = TAU,
        sources: Sequence[EdgeSource] = (),
        aggregator: Aggregator = additive,
        learned: IntArray | None = None,
        doubted: BoolArray | None = None,
        of_another: OfAnother | None = None,
    ) -> None:
        """Lay a query over an index.

        `learned` has a row for each literal and a column for each segment of the document: what
        meeting it by single words costs, `FAR` where they do not. Nobody shares these ways.
        `doubted` tells where no word is near enough for a sense that only WordNet knows: its steps
        are not taken there. `of_another` tells for a literal, a segment and a term whether the
        segment says it of something else than is asked: no path ends there.
        """
        self.learned = learned
        self._doubted = doubted
        self._of_another = of_another
        self.index = index
        self.query = query
        self.tau = tau
        self.aggregator = aggregator
        self.graph = index.graph_with(sources)
        self.near = self._neighbourhood(tau)
        self.segments, self.distances = self._lay_over()

    @cached_property
    def far(self) -> Neighbourhood:
        """What the literals reach at the largest budget of all; only explanations look there."""
        return self._neighbourhood(TAU_MAX)

    @cached_property
    def bridge_costs(self) -> IntArray:
        """b* of every touched segment in units; `FAR` where it is over the budget."""
        costs = np.full(len(self.segments), FAR, dtype=np.int64)
        complete = np.flatnonzero((self.distances < FAR).all(axis=0))
        if not len(complete):
            return costs
        each = self.distances[:, complete]
        costs[complete] = reduce(self.aggregator, each)
        if self.near.shared:
            # b* lies between what the literals pay with every edge divided among all who may
            # use it and what they pay each by itself; mostly that leaves nothing to solve
            lower = reduce(self.aggregator, self._floors()[:, complete])
            self._solve(costs, complete[(lower < costs[complete]) & (lower <= self.near.limit)])
        costs[costs > self.near.limit] = FAR
        return costs

    def endings(self, segment: int, near: Neighbourhood) -> Endings:
        """Find where in one segment the paths of each literal may end."""
        return tuple(
            tuple(
                end
                for end in self.index.landings(segment, literal, found.labels)
                if end.context is not None
                or not self.strays(j, segment, end.term, list(found.ways(end.term, without=0)))
            )
            for j, (literal, found) in enumerate(zip(self.query.literals, near.alone, strict=True))
        )

    def strays(self, j: int, segment: int, term: str, ways: Sequence[PathLabel]) -> bool:
        """Tell whether a segment says a term of something else than a literal asks it of.

        What another literal asks for is that, and no kind of day because it is a public holiday.
        """
        if self._of_another is None:
            return False
        if term in self._asked_beside[j] and all(map(by_sense, ways)):
            return True
        return self._may_stray(j, term, ways) and self._of_another(j, segment, term)

    @cached_property
    def _asked_beside(self) -> Sequence[frozenset[str]]:
        """For each literal the terms that others ask for and it does not."""
        every = [frozenset(literal.terms) for literal in self.query.literals]
        return [frozenset().union(*every) - own for own in every]

    def _may_stray(self, j: int, term: str, ways: Sequence[PathLabel]) -> bool:
        if self._of_another is None or not term.startswith(_OF):
            return False
        kind = self.query.literals[j].kind
        if kind is LiteralKind.ENTITY:  # a sense of a word leads to no name
            return all(map(by_sense, ways))
        return kind in _SAID and not any(map(is_stated, ways))

    def offers(
        self, endings: Endings, near: Neighbourhood, segment: int | None = None
    ) -> list[list[Offer]]:
        """List all ways to meet each literal; `Offer.at` counts within the literal's endings."""
        return [
            [
                Offer(label, self.aggregator(label.private, end.extra), label.shared, at)
                for at, end in enumerate(ends)
                for label in found.ways(end.term, without=end.without)
                if self.takes(j, segment, label)
            ]
            for j, (ends, found) in enumerate(zip(endings, near.together, strict=True))
        ]

    def takes(self, j: int, segment: int | None, label: PathLabel) -> bool:
        """Tell whether a path may meet a literal in a segment."""
        if self._doubted is None or segment is None or not self._doubted[j, segment]:
            return True
        return not by_sense(label)

    def joint(
        self,
        endings: Endings,
        near: Neighbourhood,
        *,
        limit: int | None,
        segment: int | None = None,
    ) -> Combination | None:
        """Return the cheapest way to meet all literals together, learned ways of a segment too."""
        rows = self.offers(endings, near, segment)
        if segment is not None and self.learned is not None:
            for row, units in zip(rows, self.learned[:, segment].tolist(), strict=True):
                if units < FAR:
                    row.append(Offer(None, units, at=LEARNED))
        return cheapest(rows, near.shared, limit=limit, aggregator=self.aggregator)

    def _neighbourhood(self, tau: float) -> Neighbourhood:
        starts = [literal.terms for literal in self.query.literals]
        return Neighbourhood(self.graph, starts, limit=budget(tau), aggregator=self.aggregator)

    def _lay_over(self) -> tuple[IntArray, IntArray]:
        """Scatter every literal's reach over the postings, keeping the least for each segment."""
        laid = [self._spread(j, found) for j, found in enumerate(self.near.alone)]
        found = [where for where, _ in laid]
        if self.learned is not None:
            found.append(np.flatnonzero((self.learned <= self.near.limit).any(axis=0)))
        touched = np.unique(np.concatenate(found or [np.empty(0, np.int64)]))
        table = np.full((len(laid), len(touched)), FAR, dtype=np.int64)
        for row, (where, units) in zip(table, laid, strict=True):
            np.minimum.at(row, np.searchsorted(touched, where), units)
        if self.learned is not None:
            table = np.minimum(table, self.learned[:, touched])
        table[table > self.near.limit] = FAR  # what a segment adds may overrun the budget
        return touched, table

    def _spread(
        self, j: int, found: TermReach, *, shares: bool = False
    ) -> tuple[IntArray, IntArray]:
        """Return the segments literal j reaches and at what cost, a segment maybe many times."""
        literal = self.query.literals[j]
        where, base, adds = [], [], []
        for term in found.labels:
            if term not in self.index:
                continue
            for (segments, extra), without in (
                (self.index.told(term, literal), 0),
                (self.index.lifted(term, literal), CONTEXT_BIT),
            ):
                ways = list(found.ways(term, without=without))
                if not without and ways and self._may_stray(j, term, ways):
                    kept = [not self.strays(j, s, term, ways) for s in segments.tolist()]
                    segments, extra = segments[kept], extra[kept]
                if len(segments) and ways:
                    where.append(segments)
                    base.append(self._least(j, ways, segments, shares=shares))
                    adds.append(extra)
        if not where:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        units = self.aggregator(np.concatenate(base), np.concatenate(adds))
        return np.concatenate(where), units

    def _least(
        self, j: int, ways: Sequence[PathLabel], segments: IntArray, *, shares: bool
    ) -> IntArray:
        """Return what the cheapest of some ways costs in each of some segments."""

        def least(some: Sequence[PathLabel]) -> int:
            return min((self.near.least(w) if shares else w.units for w in some), default=FAR)

        found = np.full(len(segments), least(ways), dtype=np.int64)
        if self._doubted is not None and (doubted := self._doubted[j, segments]).any():
            found[doubted] = least([way for way in ways if not by_sense(way)])
        return found

    def _floors(self) -> IntArray:
        """The distances with every edge divided among all who may use it."""
        table = self.distances.copy()
        for j, (found, alone) in enumerate(zip(self.near.together, self.near.alone, strict=True)):
            if found is not alone:
                where, units = self._spread(j, found, shares=True)
                np.minimum.at(table[j], np.searchsorted(self.segments, where), units)
        return table

    def _solve(self, costs: IntArray, columns: IntArray) -> None:
        # segments that hold the same in the same state are solved once
        known: dict[tuple[object, ...], int] = {}
        for column in columns.tolist():
            endings = self.endings(int(self.segments[column]), self.near)
            segment = int(self.segments[column])
            tables = [table for table in (self.learned, self._doubted) if table is not None]
            state = (
                tuple(tuple((e.term, e.extra, e.without) for e in ends) for ends in endings),
                *(tuple(table[:, segment].tolist()) for table in tables),
            )
            if state not in known:
                found = self.joint(endings, self.near, limit=self.near.limit, segment=segment)
                known[state] = FAR if found is None else found.units
            costs[column] = known[state]


# Gap: how much has to be assumed before a segment answers a query (sections 3.3 and 3.5).
#
# Gap is b* where all literals can be met within the budget. Where they cannot, the paper has one
# cap for everything; here the segments in between are told apart by a smooth part, which starts
# above what a met query normally costs and ends at the cap.


@dataclass(frozen=True, slots=True)
class Gaps:
    """Gap of every segment a query touched, with what it is made of; arrays are in step.

    `rest_gap` and `rest_share` are those of every segment that was not touched.
    """

    segments: IntArray
    reachable: BoolArray
    share: FloatArray
    soft: FloatArray
    gap: FloatArray
    rest_gap: float
    rest_share: float

    def column(self, segment: int) -> int | None:
        """Return where in the arrays a segment stands; None when it was not touched."""
        at = int(np.searchsorted(self.segments, segment))
        found = at < len(self.segments) and int(self.segments[at]) == segment
        return at if found else None


def gaps(lookup: Lookup, *, hard: bool = False) -> Gaps:
    """Compute Gap for every touched segment; `hard` gives the paper's, b* or the cap."""
    weights = [literal.weight for literal in lookup.query.literals]
    share = np.zeros(len(lookup.segments))
    saved = np.zeros(len(lookup.segments))
    for weight, row in zip(weights, lookup.distances, strict=True):
        met = row < FAR
        share += weight * met
        saved += weight * np.where(met, 1.0 - row / COST_UNIT / MAX_GAP, 0.0)
    # counted from the full cap downwards, so that rounding cannot lift anything above the cap
    soft = np.clip(1.0 - saved, 0.0, 1.0)
    costs = lookup.bridge_costs
    reachable = costs < FAR
    other = np.full(len(soft), MAX_GAP) if hard else KAPPA + (MAX_GAP - KAPPA) * soft
    gap = np.minimum(np.where(reachable, costs / COST_UNIT, MAX_GAP), other)
    return Gaps(
        segments=lookup.segments,
        reachable=reachable,
        share=np.minimum(share, 1.0),
        soft=soft,
        gap=gap,
        # a query that asks nothing is met by everything: Cost(∅) = 0
        rest_gap=MAX_GAP if weights else 0.0,
        rest_share=0.0 if weights else 1.0,
    )


# Where bridges lead before the words of a long document are looked at.


def reach_of(
    index: CostedIndex, query: Query, *, tau: float, sources: Sequence[EdgeSource]
) -> SegmentReach:
    """Return the segments that bridges reach within a budget, and what each literal costs there."""
    laid = Lookup(index, query, tau=tau, sources=sources)
    return SegmentReach(laid.segments, np.minimum(laid.distances / COST_UNIT, MAX_GAP))
