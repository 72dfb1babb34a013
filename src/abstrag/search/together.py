"""The fewest hits that together meet a query, for questions that need more than one place.

The best hit comes first. Others join as long as one is likely to belong: because it meets words
that those before it leave unmet, because it is about somebody or something that one of them
introduces ("the director of that film was born in …"), or because it is about something the query
itself names. A question that asks for all of something takes every hit that meets what the first
meets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Final

import numpy as np

from abstrag.config import COST_UNIT, MAX_GAP, TAU
from abstrag.model.query import Bridge, Query
from abstrag.model.ranking import Hit, LeftOut, LiteralTrace, SupportSet
from abstrag.model.term import TermKind
from abstrag.search.bridges.paths import Aggregator, BridgeGraph, additive, budget, cost
from abstrag.search.costed_index import CostedIndex, FloatArray
from abstrag.search.scoring import Scoring

# Support sets: hits that can be believed together (the last step of query-side scoring).

_BINDING: Final = tuple(f"{kind.value}:" for kind in (TermKind.ENTITY, TermKind.TIME))

Bindings = list[frozenset[str] | None]  # for each literal the things it may still be; None: open


def support_set(
    hits: Sequence[Hit],
    graph: BridgeGraph,
    *,
    k: int,
    tau: float = TAU,
    aggregator: Aggregator = additive,
) -> SupportSet:
    """Take hits from the top while they agree with those taken and stay within τ together."""
    limit = budget(tau)
    taken: list[Hit] = []
    left: list[LeftOut] = []
    bridges: dict[Bridge, None] = {}
    bound: Bindings = [None] * (len(hits[0].trace.literals) if hits else 0)
    for hit in hits:
        if len(taken) == k:
            break
        merged = [_both(old, new) for old, new in zip(bound, _bindings(hit, graph), strict=True)]
        union = bridges | dict.fromkeys(bridges_of(hit))
        over = cost(union, aggregator) - limit
        if frozenset() in merged:
            at = merged.index(frozenset())
            label = hit.trace.literals[at].literal.label
            left.append(LeftOut(hit.position, f"binds {label!r} to something else"))
        elif over > 0:
            left.append(
                LeftOut(hit.position, f"takes the bridges over budget by {over / COST_UNIT:g}")
            )
        else:
            taken.append(hit)
            bound, bridges = merged, union
    return SupportSet(
        hits=tuple(taken),
        bindings=tuple(min(things) if things else None for things in bound),
        bridges=tuple(bridges),
        cost=cost(bridges, aggregator) / COST_UNIT,
        left_out=tuple(left),
    )


def bridges_of(hit: Hit) -> tuple[Bridge, ...]:
    """Return what a hit assumes: the joint minimum, or where that is not affordable what it met."""
    if hit.trace.reachable:
        return hit.trace.bridges
    met = (literal for literal in hit.trace.literals if literal.met)
    return tuple(dict.fromkeys(bridge for literal in met for bridge in literal.bridges))


def _bindings(hit: Hit, graph: BridgeGraph) -> Bindings:
    return [_things(literal, graph) for literal in hit.trace.literals]


def _things(literal: LiteralTrace, graph: BridgeGraph) -> frozenset[str] | None:
    """The entities or times that meet a literal equally well; names of one thing count once.

    A literal that is unmet, or met by a mere concept, binds nothing.
    """
    terms = () if literal.via is None else (literal.via, *literal.alternatives)
    if not literal.met or not all(term.startswith(_BINDING) for term in terms):
        return None
    return frozenset(min(graph.names_of(term)) for term in terms)


def _both(old: frozenset[str] | None, new: frozenset[str] | None) -> frozenset[str] | None:
    if old is None or new is None:
        return new if old is None else old
    return old & new


MOST: Final = 4  # hits of a set, unless all of something are asked for
LOOKED_AT: Final = 15  # hits that may join
# A logistic regression on the even cases that tools/support_sets.py draws; it reports the odd ones.
_GAIN: Final = 7.19  # of the share of the query's weight that is met in addition
_SAME: Final = 0.70  # about the same thing as a hit before it
_INTRODUCED: Final = 2.71  # about something that a hit before it introduces
_ASKED: Final = 1.44  # about something that the query names
_SHARED: Final = 0.71  # names something else that a hit before it names
_WORSE: Final = -0.16  # for each unit of log relevance below the best hit
_RANK: Final = -1.12  # of log(1 + hits that are passed over)
_SIZE: Final = -0.79  # for each hit in the set already
_START: Final = -0.87
_LEAST: Final = -2.0  # log-odds: what has less does not join
_ALL: Final = re.compile(r"\b(?:all|every|each|list|both)\b", re.IGNORECASE)
_ENTITY: Final = f"{TermKind.ENTITY.value}:"


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with the score it is ranked by, and the postings of its document."""

    hit: Hit
    score: float
    index: CostedIndex


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A hit: what each part of the query costs in it, what it is about, what else it names."""

    hit: Hit
    score: float
    prices: FloatArray
    subject: str
    label: str  # of the subject
    names: frozenset[str]  # but for those of the query


def hits_together(scoring: Scoring, *, k: int) -> SupportSet:
    """Return the fewest hits that together meet a query; in the paper's presets by its own rule."""
    hits = scoring.ranking(hits_read(k)).hits
    if scoring.preset.hard_gap:
        return support_set(hits, scoring.index.graph, k=k, tau=scoring.tau)
    ranked = [RankedHit(hit, hit.relevance, scoring.index) for hit in hits]
    return smallest_set(scoring.query, ranked, k=k)


def hits_read(k: int) -> int:
    """Return how many hits a set of at most k is chosen from."""
    return max(4 * k, LOOKED_AT)


def smallest_set(query: Query, hits: Sequence[RankedHit], *, k: int) -> SupportSet:
    """Return the fewest of some hits, best first, that together meet a query.

    Args:
        query: What was asked.
        hits: The ranking from its top, of one document or of several. A thing that two documents
            call by the same name counts as one.
        k: At most so many.
    """
    if not hits:
        return SupportSet((), (), (), 0.0)
    literals = [one.literal for ranked in hits for one in ranked.hit.trace.literals]
    asked = frozenset(term for literal in literals for term in literal.terms)
    parts = _parts(hits[0].hit)
    every = [_candidate(ranked, parts, asked) for ranked in hits]
    if _ALL.search(query.text):
        taken, why = _all_of(every, k)
    else:
        weights = np.array(list(parts.values()))
        weights = weights / max(float(weights.sum()), 1e-9)
        taken, why = _joined(every, weights, asked, min(k, MOST))
    bridges = dict.fromkeys(bridge for each in taken for bridge in bridges_of(each.hit))
    met = {label for each in taken for label in _met(each)}
    return SupportSet(
        hits=tuple(each.hit for each in taken),
        bindings=(),
        bridges=tuple(bridges),
        cost=cost(bridges) / COST_UNIT,
        joined_by=tuple(why),
        unmet=tuple(
            one.literal.label for one in taken[0].hit.trace.literals if one.literal.label not in met
        ),
    )


def _candidate(
    ranked: RankedHit, parts: Mapping[int | str, float], asked: frozenset[str]
) -> _Candidate:
    hit, index = ranked.hit, ranked.index
    named = [m for m in index.mentions_of(hit.position) if m.term.startswith(_ENTITY)]
    own = [m for m in named if m.header is None]
    first = min(own, key=lambda m: (m.start, -m.end), default=None)
    subject = "" if first is None else first.term
    label = index.labels.get(subject, "")
    names = frozenset(m.term for m in named) - asked
    return _Candidate(hit, ranked.score, _prices(hit, parts), subject, label, names)


def _parts(hit: Hit) -> dict[int | str, float]:
    """Return the weights of the words of a query by where they begin, or else of its literals."""
    words: dict[int | str, float] = {word.start: word.weight for word in hit.words}
    return words or {one.literal.label: one.literal.weight for one in hit.trace.literals}


def _prices(hit: Hit, parts: Mapping[int | str, float]) -> FloatArray:
    """Return what each part of the query costs in a hit: the most, if its document lacks it."""
    own: dict[int | str, float] = {word.start: word.price for word in hit.words}
    for one in hit.trace.literals:
        own[one.literal.label] = MAX_GAP if one.distance is None else one.distance
    return np.array([own.get(part, MAX_GAP) for part in parts])


def _met(each: _Candidate) -> set[str]:
    return {one.literal.label for one in each.hit.trace.literals if one.met}


def _joined(
    every: Sequence[_Candidate], weights: FloatArray, asked: frozenset[str], most: int
) -> tuple[list[_Candidate], list[str]]:
    taken, why = [every[0]], [""]
    while len(taken) < most:
        others = [each for each in every[:LOOKED_AT] if each not in taken]
        rated = [
            (_odds(taken, each, weights, rank, asked), -rank) for rank, each in enumerate(others)
        ]
        if not rated or max(rated)[0] < _LEAST:
            break
        best = others[-max(rated)[1]]
        why.append(_reason(taken, best, asked))
        taken.append(best)
    return taken, why


def _odds(
    taken: Sequence[_Candidate],
    each: _Candidate,
    weights: FloatArray,
    rank: int,
    asked: frozenset[str],
) -> float:
    """Return the log-odds that a hit belongs to those taken."""
    left = np.minimum.reduce([one.prices for one in taken])
    gain = float(weights @ np.maximum(left - each.prices, 0.0)) / MAX_GAP
    same = any(one.subject == each.subject for one in taken)
    total = _START + _GAIN * gain + _SIZE * len(taken) + _RANK * log1p(rank)
    best, own = (log(max(one.score, 1e-12)) for one in (taken[0], each))
    total += _WORSE * (best - own)
    if same:
        return total + _SAME
    total += _INTRODUCED * (each.subject in _introduced(taken))
    total += _ASKED * (each.subject in asked)
    shared = _introduced(taken) & (each.names - {each.subject})
    return total + _SHARED * bool(shared)


def _introduced(taken: Sequence[_Candidate]) -> frozenset[str]:
    """What hits name beside what they are about."""
    return frozenset(name for one in taken for name in one.names - {one.subject})


def _reason(taken: Sequence[_Candidate], each: _Candidate, asked: frozenset[str]) -> str:
    """Say in words why a hit joins."""
    if each.subject in _introduced(taken) and each.label:
        return f"is about {each.label}, named before"
    left = np.minimum.reduce([one.prices for one in taken])
    words = [word.asked for word in taken[0].hit.words]
    more = [w for w, old, new in zip(words, left, each.prices, strict=False) if new < old - 0.5]
    if more:
        return "meets “" + "”, “".join(more) + "” better"
    if each.subject in asked:
        return f"is about {each.label}, which the query names"
    return "comes next"


def _all_of(every: Sequence[_Candidate], k: int) -> tuple[list[_Candidate], list[str]]:
    """Take every hit that meets all conditions that the first meets."""
    least = _met(every[0])
    taken = [each for each in every if _met(each) >= least][:k]
    return taken, ["", *("meets as much",) * (len(taken) - 1)]
