"""Why not: the one first reason why a passage was not found, and the least that would change it.

The reasons are tried in the order in which a passage can get lost: it is not in the document, it is
no segment, a literal finds nothing of its kind in it, nothing licenses the step, the step is too
dear, the steps are too dear together, something else ranks higher. Everything is read off the same
lookup and the same scores that rank.
"""

from __future__ import annotations

from math import inf, log
from typing import Final

from abstrag.language.keys import key
from abstrag.model.query import LiteralKind
from abstrag.model.ranking import Cause, Hit, LiteralTrace, WhyNot
from abstrag.model.term import TermKind
from abstrag.search.counterfactual import cheapest_change
from abstrag.search.query.scope import in_scope
from abstrag.search.scoring import Scoring

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
