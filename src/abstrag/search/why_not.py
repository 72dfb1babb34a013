"""Why not: the one first reason why a passage was not found, and the least that would change it.

The reasons are tried in the order in which a passage can get lost: it is not in the document, it is
no segment, a literal finds nothing of its kind in it, nothing licenses the step, the step is too
dear, the steps are too dear together, something else ranks higher. Everything is read off the same
lookup and the same scores that rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, log
from typing import Final

from abstrag.config import OMEGA, TAU_MAX
from abstrag.language.words import key, term_id
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.ranking import Cause, Counterfactual, Hit, LiteralTrace, WhyNot
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind
from abstrag.search.query.scope import in_scope
from abstrag.search.scoring import Scoring

# Counterfactuals: the least edge or budget that would lift a passage into the first k.

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


KINDS: Final = {  # which terms of a segment could ever stand for a literal
    LiteralKind.ENTITY: (TermKind.ENTITY,),
    LiteralKind.CONCEPT: (TermKind.ENTITY, TermKind.CONCEPT, TermKind.ROLE),
    LiteralKind.RELATION: (TermKind.CONCEPT,),
    LiteralKind.ROLE: (TermKind.ROLE, TermKind.ENTITY, TermKind.CONCEPT),
    LiteralKind.EVENT: (TermKind.EVENT,),
    LiteralKind.TIME: (TermKind.TIME,),
    LiteralKind.QUANTITY: (TermKind.QUANTITY,),
}


def why_not_text(scoring: Scoring, text: str, *, k: int) -> WhyNot:
    """Explain why a passage, given by its words, is not among the first k."""
    asked = key(text)
    document, segments = scoring.document.document, scoring.document.segments
    for position, segment in enumerate(segments):
        if asked and (asked in key(segment.text) or asked in key(document.quote(segment.span))):
            return why_not(scoring, position, k=k)
    parts = [s.id for s in segments if asked and key(s.text) and key(s.text) in asked]
    if len(parts) > 1:
        detail = f"it runs over several segments: {', '.join(parts[:5])}"
        return WhyNot(text, Cause.NOT_A_SEGMENT, detail)
    for block in document.blocks:
        if asked and asked in key(block.text):
            detail = f"it stands in a {block.kind.value} and is not a segment by itself"
            return WhyNot(text, Cause.NOT_A_SEGMENT, detail)
    if asked and asked in key(document.text):
        detail = "it stands in the file, but not within one segment"
        return WhyNot(text, Cause.NOT_A_SEGMENT, detail)
    return WhyNot(text, Cause.NOT_IN_DOCUMENT, "the document does not contain these words")


def why_not(scoring: Scoring, position: int, *, k: int) -> WhyNot:
    """Explain why one segment is not among the first k."""
    hit, rank = scoring.hit(position), scoring.rank(position)
    if rank is not None and rank <= k:
        return WhyNot(
            hit.quote, Cause.FOUND, f"it is found, at rank {rank}", hit.segment, rank, hit=hit
        )
    segment = scoring.document.records[position].segment
    if not in_scope(segment, scoring.query.scope):
        detail = f"the query asks for {', '.join(scoring.query.scope)}"
        return WhyNot(hit.quote, Cause.OUT_OF_SCOPE, detail, hit.segment, rank, hit=hit)
    cause, detail, literal, by, rival = _blocker(scoring, hit, k)
    return WhyNot(
        hit.quote,
        cause,
        detail,
        segment=hit.segment,
        rank=rank,
        literal=literal,
        by=by,
        rival=rival,
        counterfactual=cheapest_change(scoring, position, k=k, kinds=KINDS),
        hit=hit,
    )


_Blocker = tuple[Cause, str, str | None, float | None, str | None]


def _blocker(scoring: Scoring, hit: Hit, k: int) -> _Blocker:
    here = scoring.index.terms_of(hit.position)
    for cause in (Cause.NO_COUNTERPART, Cause.NO_EDGE, Cause.OVER_TAU):
        for number, trace in enumerate(hit.trace.literals):
            if _cause(trace, here) is cause:
                why, detail, label, by, rival = _of_literal(cause, trace, scoring.tau)
                return why, detail + _nearest(hit, number), label, by, rival
    if hit.trace.over_budget_by is not None:
        by = hit.trace.over_budget_by
        detail = f"together the bridges cost {hit.trace.bridge_cost:.2f}, {by:.2f} over the budget"
        return Cause.OVER_TOGETHER, detail, None, by, None
    return _outranked(scoring, hit, k)


def _nearest(hit: Hit, literal: int) -> str:
    """Name what comes nearest to the dearest word of a literal, where words were aligned."""
    words = [w for w in hit.words if w.literal == literal and not w.met and w.said]
    if not words:
        return ""
    word = max(words, key=lambda one: one.units)
    return f"; nearest to “{word.asked}” is “{word.said}”, at {word.price:.2f}"


def _cause(trace: LiteralTrace, here: frozenset[str]) -> Cause | None:
    if trace.met:
        return None
    if trace.distance is not None:
        return Cause.OVER_TAU
    prefixes = tuple(f"{kind.value}:" for kind in KINDS[trace.literal.kind])
    fitting = any(term.startswith(prefixes) for term in here)
    return Cause.NO_EDGE if fitting else Cause.NO_COUNTERPART


def _of_literal(cause: Cause, trace: LiteralTrace, tau: float) -> _Blocker:
    label = trace.literal.label
    if cause is Cause.NO_COUNTERPART:
        detail = f"it has no {trace.literal.kind.value} that could stand for “{label}”"
        return cause, detail, label, None, None
    if cause is Cause.NO_EDGE:
        detail = f"nothing licenses a step from what it says to “{label}”"
        return cause, detail, label, None, None
    assert trace.distance is not None
    by = trace.distance - tau
    detail = f"“{label}” costs {trace.distance:.2f}, {by:.2f} over the budget of {tau:g}"
    return cause, detail, label, by, None


def _outranked(scoring: Scoring, hit: Hit, k: int) -> _Blocker:
    """Name the last segment that made it, and the factor on which it is most ahead."""
    rival = scoring.hit(scoring.order[min(k, len(scoring.order)) - 1])
    preset = scoring.preset
    ahead = {
        "match": preset.match_power * _ratio(rival.match, hit.match),
        "utility": preset.utility_power * _ratio(rival.utility, hit.utility),
        "gap": preset.gap_rate * (hit.gap - rival.gap),
    }
    factor = max(ahead, key=lambda name: ahead[name])
    mine, theirs = getattr(hit, factor), getattr(rival, factor)
    detail = f"{rival.segment} is ahead on {factor}: {theirs:.2f} against {mine:.2f}"
    if ahead[factor] <= 0:
        detail = f"{rival.segment} is as good and stands earlier in the document"
    return Cause.OUTRANKED, detail, None, abs(theirs - mine), rival.segment


def _ratio(theirs: float, mine: float) -> float:
    if mine == theirs:
        return 0.0
    if mine == 0:
        return inf
    return log(theirs / mine) if theirs else -inf
