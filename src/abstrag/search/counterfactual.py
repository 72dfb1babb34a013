"""Counterfactuals: the least edge or budget that would lift a passage into the first k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from abstrag.config import OMEGA, TAU_MAX
from abstrag.language.keys import term_id
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.ranking import Counterfactual
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind
from abstrag.search.scoring import Scoring

_TRIES: Final = 24  # each is a search

Kinds = Mapping[LiteralKind, tuple[TermKind, ...]]


@dataclass(frozen=True, slots=True)
class Supposed:
    """An edge source with the edges of a what-if."""

    edges: tuple[Edge, ...]

    def edges_into(self, term: str) -> tuple[Edge, ...]:
        """Offer those that lead to a term."""
        both = Relation.EQUIVALENT
        return tuple(
            e for e in self.edges if e.target == term or (e.relation is both and e.source == term)
        )


def cheapest_change(
    scoring: Scoring, position: int, *, k: int, kinds: Kinds
) -> Counterfactual | None:
    """Return the least change that lifts a segment into the first k, or else highest.

    None when nothing that could be added or granted lifts it at all.
    """
    before = scoring.rank(position)
    worst = len(scoring.document.records) + 1
    best: tuple[bool, float, int, int] | None = None
    chosen: Counterfactual | None = None
    for n, (price, change) in enumerate(_changes(scoring, position, kinds)):
        if n == _TRIES:
            break
        after = change.rank_after
        if after >= (before or worst):
            continue
        value = (after > k, price if after <= k else 0.0, after, n)
        if best is None or value < best:
            best, chosen = value, change
    return chosen


def _changes(
    scoring: Scoring, position: int, kinds: Kinds
) -> Iterator[tuple[float, Counterfactual]]:
    """Go through what could be changed, each with its price."""
    hit, before = scoring.hit(position), scoring.rank(position)
    far = len(scoring.document.records) + 1
    needed = hit.trace.bridge_cost
    if needed is not None and scoring.tau < needed <= TAU_MAX:
        after = scoring.again(tau=needed).rank(position) or far
        text = f"a budget of {needed:g} instead of {scoring.tau:g}"
        yield needed - scoring.tau, Counterfactual(text, before, after, tau=needed)
    terms = sorted(scoring.index.terms_of(position))
    for trace in hit.trace.literals:
        if trace.met:
            continue
        prefixes = tuple(f"{kind.value}:" for kind in kinds[trace.literal.kind])
        for term in (t for t in terms if t.startswith(prefixes) and "." not in t):
            edge = _edge(term, trace.literal)
            after = scoring.again(sources=(Supposed((edge,)),)).rank(position) or far
            text = f"{_words(scoring, edge, trace.literal)} in the Background"
            yield edge.weight, Counterfactual(text, before, after, edge=edge)


def _edge(term: str, literal: Literal) -> Edge:
    """Return the edge that a Background entry for this pair would make."""
    family, relation, free = Family.CONCEPT, Relation.IMPLIES, True
    if literal.kind in (LiteralKind.ENTITY, LiteralKind.TIME, LiteralKind.QUANTITY):
        family, relation = Family.EXPRESSION, Relation.EQUIVALENT
    elif literal.kind is LiteralKind.EVENT:
        family, free = Family.EVENT, False
    return Edge(
        source=term,
        target=literal.terms[0] if literal.terms else term_id(TermKind.CONCEPT, literal.label),
        relation=relation,
        family=family,
        operator="suppose",
        weight=OMEGA[family],
        distance=0.0,
        truth_preserving=free,
        confidence=1.0,
        licence=Licence(LicenceKind.BACKGROUND, "supposed"),
    )


def _words(scoring: Scoring, edge: Edge, literal: Literal) -> str:
    label = scoring.index.labels.get(edge.source, edge.source)
    if edge.relation is Relation.EQUIVALENT:
        return f"an alias {label} ≡ {literal.label}"
    if edge.family is Family.EVENT:
        return f"an event rule {label} → {literal.label}"
    return f"a class {label} → {literal.label}"
