"""How long a query takes as a document grows: the costed index next to scoring every segment.

The documents are synthetic: Zipfian words over a vocabulary that grows with the text, classes with
members, aliases, events with frames. A query asks for what a person would, something specific: its
terms keep their frequency while the document grows. "common" asks for the commonest words instead,
which touches a share of the document, and "exhaustive" scores every segment by itself.
Run `python benchmarks/calculus.py`; all times are milliseconds.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

from abstrag.config import OMEGA
from abstrag.model.context import Context, FieldValue
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
from abstrag.search.gap import Gaps, gaps
from abstrag.search.lookup import Lookup

SIZES = (100, 1_000, 10_000, 100_000)
WORDS_A_SEGMENT = 12


def edge(
    source: str, target: str, family: Family, *, distance: float = 0.0, both_ways: bool = False
) -> Edge:
    """Make an edge at its family's weight."""
    relation = Relation.EQUIVALENT if both_ways else Relation.IMPLIES
    licence = Licence(LicenceKind.BACKGROUND, f"{source} → {target}")
    weight = OMEGA[family]
    return Edge(source, target, relation, family, "made", weight, distance, False, 1.0, licence)


def document(segments: int, rng: random.Random) -> tuple[CostedIndex, int]:
    """Make a document whose rare words stay rare; returns it with the size of its vocabulary."""
    vocabulary = 200 + segments * 2
    weights = [1 / (rank + 2) for rank in range(vocabulary)]
    words = rng.choices(range(vocabulary), weights, k=segments * WORDS_A_SEGMENT)
    mentions = [
        Mention(f"concept:{word}", i // WORDS_A_SEGMENT, 0, 1) for i, word in enumerate(words)
    ]
    frames = [
        Frame(
            f"event:{word % (20 + segments // 20)}",
            s,
            0,
            1,
            (Slot("who", 0, 1), Slot("whom", 0, 1, coerced=word % 3 == 0)),
        )
        for s, word in ((s, rng.randrange(vocabulary)) for s in range(segments))
    ]
    edges = []
    for word in range(vocabulary):
        source = f"concept:{word}"
        for family, classes in ((Family.CONCEPT, 6), (Family.INTENT, 12)):
            target = f"concept:class {rng.randrange(1 + vocabulary // classes)}"
            edges.append(edge(source, target, family, distance=rng.randrange(50) / 100))
        if word % 4 == 0:
            alias = f"concept:{rng.randrange(vocabulary)}"
            edges.append(edge(source, alias, Family.EXPRESSION, distance=0.3, both_ways=True))
    edges.extend(
        edge(f"event:{i}", f"event:kind {i % 9}", Family.EVENT) for i in range(20 + segments // 20)
    )
    dates = [FieldValue("anchor", str(s), 1.0, term=f"time:{s}") for s in range(segments // 50)]
    contexts = [Context(time=tuple(dates[s // 50 : s // 50 + 1])) for s in range(segments)]
    return CostedIndex(mentions, frames=frames, contexts=contexts, edges=edges), vocabulary


def question(vocabulary: int, rng: random.Random, *, common: bool = False) -> Query:
    """Ask for a class, two words, an event with its participants and a date.

    The words are rare ones, or else two of the most common.
    """
    low, high = (0, 5) if common else (vocabulary // 10, vocabulary)
    kinds = (
        (LiteralKind.CONCEPT, f"concept:class {rng.randrange(vocabulary // 6)}", ()),
        (LiteralKind.CONCEPT, f"concept:{rng.randrange(low, high)}", ()),
        (LiteralKind.ENTITY, f"concept:{rng.randrange(low, high)}", ()),
        (LiteralKind.EVENT, f"event:{rng.randrange(20)}", ("who", "whom")),
        (LiteralKind.TIME, f"time:{rng.randrange(max(1, vocabulary // 100))}", ()),
    )
    return Query(
        "synthetic",
        tuple(Literal(kind, term, (term,), 0.2, slots=slots) for kind, term, slots in kinds),
    )


def score_everything(index: CostedIndex, query: Query, segments: int) -> list[float]:
    """Score every segment by itself, with the same paths but without postings."""
    lookup = Lookup(index, query)
    gap = []
    for s in range(segments):
        endings = lookup.endings(s, lookup.near)
        soft = 1.0
        for literal, ends, found in zip(query.literals, endings, lookup.near.alone, strict=True):
            units = [
                label.units + end.extra
                for end in ends
                for label in found.ways(end.term, without=end.without)
            ]
            if units and min(units) <= lookup.near.limit:
                soft -= literal.weight * (1 - min(units) / 40_000)
        joint = lookup.joint(endings, lookup.near, limit=lookup.near.limit)
        gap.append(min(1.5 + 2.5 * soft, joint.units / 10_000 if joint else 4.0))
    return gap


def timed(work: Callable[[Query], object], query: Query) -> float:
    """Return how many milliseconds one query takes."""
    started = perf_counter()
    work(query)
    return (perf_counter() - started) * 1_000


def measure(size: int, queries: int) -> str:
    """Time a document of one size; returns a row of the table."""
    rng = random.Random(size)
    index, vocabulary = document(size, rng)
    rare = [question(vocabulary, rng) for _ in range(queries)]
    common = [question(vocabulary, rng, common=True) for _ in range(queries)]

    def look_up(query: Query) -> Gaps:
        return gaps(Lookup(index, query))

    def score_all(query: Query) -> list[float]:
        return score_everything(index, query, size)

    found, slowly = look_up(rare[0]), score_all(rare[0])
    if not np.allclose(found.gap, np.array(slowly)[found.segments]):
        raise SystemExit(f"the two ways disagree at {size} segments")
    times = sorted(timed(look_up, query) for query in rare)
    row = (
        f"{size:,}",
        f"{median(len(look_up(query).segments) for query in rare):.0f}",
        f"{median(times):.2f}",
        f"{times[int(len(times) * 0.95)]:.2f}",
        f"{median(timed(look_up, query) for query in common):.2f}",
        f"{median(timed(score_all, query) for query in rare[: max(1, 1_000 // size)]):.1f}",
    )
    return "".join(f"{cell:>12}" for cell in row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--queries", type=int, default=50)
    chosen = parser.parse_args()
    heads = ("segments", "touched", "median ms", "p95 ms", "common ms", "exhaustive")
    print("".join(f"{head:>12}" for head in heads))
    for size in chosen.sizes:
        print(measure(size, chosen.queries), flush=True)


if __name__ == "__main__":
    main()
