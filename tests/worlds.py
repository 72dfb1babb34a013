"""Hypothesis strategies for the calculus: edges, queries, worlds to search in.

Everything is tiny on purpose. A world of five terms already holds shared edges, free merges,
one-way steps, families that run out and detours that pay off only together, and a reference
implementation can still try every possibility. Terms are in order: queries ask for early ones,
segments hold late ones and most edges lead from the one to the other, so that paths are long.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product
from typing import Final

from hypothesis import strategies as st

from abstrag.config import COST_UNIT, OMEGA, TAU_MAX
from abstrag.model.index import Context, FieldValue
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.term import (
    Edge,
    Family,
    Frame,
    Licence,
    LicenceKind,
    Mention,
    Relation,
    Slot,
)
from abstrag.search.costed_index import CostedIndex

TERMS: Final = tuple(f"concept:{name}" for name in "abcde")
SLOTS: Final = ("who", "whom")


@dataclass(frozen=True, slots=True)
class World:
    """A query and everything it is laid over."""

    query: Query
    edges: tuple[Edge, ...]
    mentions: tuple[Mention, ...]
    frames: tuple[Frame, ...]
    contexts: tuple[Context, ...]

    @property
    def segments(self) -> int:
        """How many segments there are."""
        return len(self.contexts)

    def index(self) -> CostedIndex:
        """Build the costed index."""
        return CostedIndex(
            self.mentions, frames=self.frames, contexts=self.contexts, edges=self.edges
        )

    def plus(self, edges: Iterable[Edge]) -> World:
        """Return the world with more edges."""
        return replace(self, edges=(*self.edges, *edges))


@cache
def edges(terms: tuple[str, ...] = TERMS) -> st.SearchStrategy[Edge]:
    """Draw an edge, mostly from a late term to an early one; one in six is truth-preserving."""
    pairs = [(late, early) for early, late in combinations(terms, 2)]
    directed = [*pairs * 5, *((early, late) for late, early in pairs)]
    states = [*((step / 20, False) for step in range(9)), (0.0, True), (0.2, True)]
    return st.sampled_from(
        [
            Edge(
                source=source,
                target=target,
                relation=relation,
                family=family,
                operator="drawn",
                weight=OMEGA[family],
                distance=distance,
                truth_preserving=free,
                confidence=1.0,
                licence=Licence(LicenceKind.LEXICON, "drawn"),
            )
            for distance, free in states
            for family in Family
            for relation in Relation
            for source, target in directed
        ]
    )


@st.composite
def queries(draw: st.DrawFn, terms: tuple[str, ...] = TERMS, *, most: int = 3) -> Query:
    """Draw a query of one to `most` literals; half of them are events, a few know no term."""
    drawn = [draw(_literals(terms)) for _ in range(draw(st.integers(1, most)))]
    shares = [draw(st.integers(1, 9)) for _ in drawn]
    literals = (
        replace(each, weight=w / sum(shares)) for each, w in zip(drawn, shares, strict=True)
    )
    return Query("drawn", tuple(literals))


@st.composite
def worlds(
    draw: st.DrawFn,
    terms: tuple[str, ...] = TERMS,
    *,
    most_edges: int = 12,
    most_segments: int = 4,
    most_literals: int = 3,
) -> World:
    """Draw a query, a graph, and segments that mention, tell or lift some of its terms."""
    late = terms[2:]
    places = range(draw(st.integers(1, most_segments)))
    named = [draw(_subsets(late)) for _ in places]
    told = [draw(_frames(late)) for _ in places]
    lifted = [draw(_either(late)) for _ in places]
    return World(
        query=draw(queries(terms, most=most_literals)),
        edges=tuple(draw(edges(terms)) for _ in range(draw(st.integers(0, most_edges)))),
        mentions=tuple(Mention(term, s, 0, 1) for s in places for term in named[s]),
        frames=tuple(replace(frame, segment=s) for s, frame in enumerate(told) if frame),
        contexts=tuple(
            Context(scope=(FieldValue("section", term, 1.0, term=term),) if term else ())
            for term in lifted
        ),
    )


def budgets() -> st.SearchStrategy[float]:
    """Draw a budget τ that is a whole number of units, from nothing to the largest there is."""
    return st.integers(0, round(TAU_MAX * 20)).map(lambda n: n * COST_UNIT // 20 / COST_UNIT)


# One draw from a ready list is much faster than a draw for each field of a record.


@cache
def _literals(terms: tuple[str, ...]) -> st.SearchStrategy[Literal]:
    starts = [*((term,) for term in terms[:3]), terms[:1] + terms[2:3], terms[1:3]]
    events = [(LiteralKind.EVENT, slots) for slots in ((), SLOTS[:1], SLOTS)]
    others = [(LiteralKind.CONCEPT, ()), (LiteralKind.ENTITY, ()), (LiteralKind.TIME, ())]
    return st.sampled_from(
        [
            Literal(kind, "drawn", known, 1.0, slots=slots)
            for known in (*starts * 3, ())
            for kind, slots in (*others, *events)
        ]
    )


@cache
def _frames(terms: tuple[str, ...]) -> st.SearchStrategy[Frame | None]:
    states = (None, False, True)  # unfilled, filled, coerced
    tellings = [
        tuple(
            Slot(name, 0, 1, coerced=c)
            for name, c in zip(SLOTS, slots, strict=True)
            if c is not None
        )
        for slots in product(states, repeat=len(SLOTS))
    ]
    frames = [
        Frame(event, 0, 0, 1, slots, artifact)
        for artifact in (False, True)
        for slots in tellings
        for event in terms
    ]
    return st.none() | st.sampled_from(frames)


@cache
def _subsets(terms: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    sizes = range(len(terms) + 1)
    return st.sampled_from([some for size in sizes for some in combinations(terms, size)])


@cache
def _either(terms: tuple[str, ...]) -> st.SearchStrategy[str | None]:
    return st.sampled_from((None, *terms))


def edge(
    source: str,
    target: str,
    family: Family = Family.CONCEPT,
    *,
    distance: float = 0.0,
    both_ways: bool = False,
    free: bool = False,
    operator: str = "by hand",
) -> Edge:
    """Write an edge from what is said to what is asked, at its family's weight."""
    return Edge(
        source=source,
        target=target,
        relation=Relation.EQUIVALENT if both_ways else Relation.IMPLIES,
        family=family,
        operator=operator,
        weight=OMEGA[family],
        distance=distance,
        truth_preserving=free,
        confidence=1.0,
        licence=Licence(LicenceKind.BACKGROUND, f"{source} → {target}"),
    )


def literal(
    *terms: str, kind: LiteralKind = LiteralKind.CONCEPT, slots: tuple[str, ...] = ()
) -> Literal:
    """Write a literal that these terms meet as they are; `query` sets its weight."""
    label = terms[0].partition(":")[2] if terms else "nothing known"
    return Literal(kind, label, terms, 1.0, slots=slots)


def query(*literals: Literal, weights: tuple[float, ...] = ()) -> Query:
    """Write a query; its literals weigh the same unless weights are given."""
    shares = weights or (1 / len(literals),) * len(literals)
    weighed = (replace(each, weight=w) for each, w in zip(literals, shares, strict=True))
    return Query(" and ".join(each.label for each in literals), tuple(weighed))
