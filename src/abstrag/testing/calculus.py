"""Short ways to write edges, literals and queries by hand."""

from __future__ import annotations

from dataclasses import replace

from abstrag.config import OMEGA
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation


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
