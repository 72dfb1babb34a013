"""Traces: why a segment has the gap and the score it has, for the segments somebody looks at.

Nothing is computed anew: distances and b* come from the lookup that ranked. Only what the budget
left out is searched for again, up to the largest budget, so that a trace can say how far away it
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abstrag.config import COST_UNIT
from abstrag.model.query import Bridge, LiteralKind
from abstrag.model.ranking import GapTrace, LiteralTrace, WordTrace
from abstrag.model.term import Family, Frame, Licence, LicenceKind, Mention, Relation
from abstrag.search.alignment import Alignment
from abstrag.search.bridges.paths import Combination, Neighbourhood, PathLabel
from abstrag.search.costed_index import CONTEXT, Landing, frame_units, slot_state
from abstrag.search.document_words import NOWHERE, forms
from abstrag.search.lookup import FAR, Endings, Gaps, Lookup

# What alignment says of one segment: which word meets which, and what that adds to its score.

ALIGN_WORDS: Final = "align_words"  # the operator that meets literals by learned links


def word_traces(alignment: Alignment, segment: int) -> tuple[WordTrace, ...]:
    """Say of each content word of the query which word of a segment meets it, and at what price."""
    return tuple(_word(alignment, i, segment) for i in range(len(alignment.asked)))


def _word(alignment: Alignment, i: int, segment: int) -> WordTrace:
    asked = alignment.asked_words[i]
    start, end = alignment.asked.spans[i].tolist()
    price = float(alignment.prices[i, segment])
    word = int(alignment.places[i, segment])
    of = alignment.literal_of[i]
    found = WordTrace(
        asked,
        start,
        end,
        price,
        weight=float(alignment.asked.weights[i]),
        literal=None if of == NOWHERE else of,
    )
    if word == NOWHERE:
        return found
    place = alignment.words.place(segment, word)
    same = bool(alignment.same[i, segment])
    met = bool(alignment.met[i, segment])
    direct = bool(alignment.direct[i, segment])
    family = None if direct else Family(alignment.family(i, segment))
    return replace(
        found,
        met=met,
        said=place.text,
        family=family,
        other_sense=same and not direct,
        said_start=place.start,
        said_end=place.end,
        header=place.header,
        in_section=place.in_section,
    )


def by_words(alignment: Alignment, j: int, segment: int, units: int, *, met: bool) -> LiteralTrace:
    """Return how the words of a segment meet a literal, word by word."""
    literal = alignment.query.literals[j]
    rows = [i for i, of in enumerate(alignment.literal_of) if of == j]
    words = [_word(alignment, i, segment) for i in rows]
    steps = [word for word in words if word.family is not None]
    dearest = max(words, key=lambda word: word.price)
    mention = None
    if dearest.said_start is not None and dearest.said_end is not None and not dearest.in_section:
        mention = Mention(
            dearest.said, segment, dearest.said_start, dearest.said_end, header=dearest.header
        )
    bridges: tuple[Bridge, ...] = ()
    if units:
        fee = max((alignment.fees[i, segment] for i in rows), default=0.0) if steps else 0.0
        fee = min(float(fee), units / COST_UNIT)
        family = dearest.family or Family.EVENT
        bridges = (
            Bridge(
                family=family,
                relation=Relation.IMPLIES,
                operator=ALIGN_WORDS,
                source=" ".join(word.said for word in words),
                target=literal.label,
                weight=fee,
                distance=units / COST_UNIT - fee,
                cost=units / COST_UNIT,
                truth_preserving=False,
                licence=_licence(alignment, words),
                literal=j,
                segment=segment,
                details=tuple(f"{w.asked} ← {w.said} {w.price:.2f}" for w in steps),
            ),
        )
    return LiteralTrace(
        literal,
        met=met,
        distance=units / COST_UNIT,
        via=" ".join(word.said for word in words),
        bridges=bridges,
        mention=mention,
    )


def _licence(alignment: Alignment, words: Sequence[WordTrace]) -> Licence:
    """Return who says what the words cost: the aligner, or somebody who confirmed a step."""
    for step in alignment.steps:
        for word in words if not step.refuses else ():
            asked, said = set(forms(word.asked)), set(forms(word.said))
            if asked.intersection(forms(step.asked)) and said.intersection(forms(step.said)):
                return Licence(LicenceKind.PATCH, f"{step.said} → {step.asked}")
    return Licence(LicenceKind.MODEL, "the aligner")


def trace(lookup: Lookup, gaps: Gaps, segment: int, alignment: Alignment | None = None) -> GapTrace:
    """Explain the gap of one segment, touched or not."""
    column = gaps.column(segment)
    near = lookup.endings(segment, lookup.near)
    literals = tuple(
        _literal(lookup, segment, j, near, column, alignment) for j in range(len(near))
    )
    reachable = column is not None and bool(gaps.reachable[column])
    joint, endings = _joint(lookup, segment, near, literals, reachable=reachable)
    over = None
    if joint is not None and not reachable and all(each.met for each in literals):
        over = (joint.units - lookup.near.limit) / COST_UNIT
    return GapTrace(
        literals=literals,
        bridges=() if joint is None else _union(lookup, segment, joint, endings, alignment),
        bridge_cost=None if joint is None else joint.units / COST_UNIT,
        reachable=reachable or not literals,
        over_budget_by=over,
        share=gaps.rest_share if column is None else float(gaps.share[column]),
        soft=1.0 - gaps.rest_share if column is None else float(gaps.soft[column]),
        gap=gaps.rest_gap if column is None else float(gaps.gap[column]),
    )


def stated(trace: GapTrace) -> bool:
    """Whether a Background carries a segment over the whole query, within the budget."""
    steps = [*trace.bridges, *(step for literal in trace.literals for step in literal.bridges)]
    return trace.reachable and any(
        step.licence is not None and step.licence.kind is LicenceKind.BACKGROUND for step in steps
    )


def _joint(
    lookup: Lookup,
    segment: int,
    near: Endings,
    literals: tuple[LiteralTrace, ...],
    *,
    reachable: bool,
) -> tuple[Combination | None, Endings]:
    """The cheapest set for all literals; beyond the budget too, where each can be met at all."""
    if reachable:
        return lookup.joint(near, lookup.near, limit=lookup.near.limit, segment=segment), near
    if any(each.distance is None for each in literals):
        return None, near
    far = lookup.endings(segment, lookup.far)
    return lookup.joint(far, lookup.far, limit=None, segment=segment), far


def _literal(
    lookup: Lookup,
    segment: int,
    j: int,
    near: Endings,
    column: int | None,
    alignment: Alignment | None,
) -> LiteralTrace:
    literal = lookup.query.literals[j]
    met = column is not None and bool(lookup.distances[j, column] < FAR)
    if met:
        way = _own_way(lookup, segment, j, near, lookup.near)
    else:
        way = _own_way(lookup, segment, j, lookup.endings(segment, lookup.far), lookup.far)
    learned = FAR if lookup.learned is None else int(lookup.learned[j, segment])
    if alignment is not None and _by_its_words(learned, way):
        return by_words(alignment, j, segment, learned, met=met)
    if way is None:
        return LiteralTrace(literal, met=False)
    units, label, end, others = way
    found = [m for m in lookup.index.mentions_of(segment) if m.term == end.term]
    return LiteralTrace(
        literal,
        met=met,
        distance=units / COST_UNIT,
        via=end.term,
        alternatives=others,
        bridges=_bridges(lookup, segment, j, label, end, alignment),
        mention=found[0] if found and end.context is None else None,
        context=end.context,
        frame=_frame(lookup, segment, j, end, alignment),
    )


_Way = tuple[int, PathLabel, Landing, tuple[str, ...]]


def _by_its_words(learned: int, way: _Way | None) -> bool:
    """Tell whether the words of a segment meet a literal for less than a path, or without one."""
    if way is None:
        return learned < FAR
    return learned < way[0] or (learned == way[0] == 0 and bool(way[1].edges()))


def _own_way(
    lookup: Lookup, segment: int, j: int, endings: Endings, around: Neighbourhood
) -> _Way | None:
    """The cheapest way for one literal by itself, and which other terms do as well.

    Of equal ways one without a step is taken, and of those the first in the segment.
    """
    ways: list[tuple[int, PathLabel, Landing]] = []
    for end in endings[j]:
        known = around.alone[j].ways(end.term, without=end.without)
        label = next((one for one in known if lookup.takes(j, segment, one)), None)
        if label is not None:
            ways.append((lookup.aggregator(label.units, end.extra), label, end))
    if not ways:
        return None
    units, label, end = min(ways, key=lambda way: (way[0], bool(way[1].edges())))
    equal = (other.term for cost, _, other in ways if cost == units and other.term != end.term)
    return units, label, end, tuple(dict.fromkeys(equal))


def _union(
    lookup: Lookup,
    segment: int,
    joint: Combination,
    endings: Endings,
    alignment: Alignment | None,
) -> tuple[Bridge, ...]:
    """The bridges of a combination, each once, in the literals' order."""
    used: dict[Bridge, None] = {}
    for j, offer in enumerate(joint.offers):
        if offer.label is None:
            assert alignment is not None
            found = by_words(alignment, j, segment, offer.private, met=True)
            used.update(dict.fromkeys(found.bridges))
            continue
        end = endings[j][offer.at]
        used.update(dict.fromkeys(_bridges(lookup, segment, j, offer.label, end, alignment)))
    return tuple(used)


def _bridges(
    lookup: Lookup,
    segment: int,
    j: int,
    label: PathLabel,
    end: Landing,
    alignment: Alignment | None,
) -> tuple[Bridge, ...]:
    edges = tuple(Bridge.over(edge) for edge in label.edges())
    last = _last_bridge(lookup, segment, j, end, alignment)
    return edges if last is None else (*edges, last)


def _last_bridge(
    lookup: Lookup, segment: int, j: int, end: Landing, alignment: Alignment | None
) -> Bridge | None:
    """What ending at this term adds as a bridge: leaning on the context, or on untold slots."""
    if not end.extra:
        return None
    literal = lookup.query.literals[j]
    weight = 0 if end.context is None else CONTEXT
    licence = None
    if end.context is not None:
        licence = Licence(LicenceKind.TEXT, end.context.value, end.context.span)
    return Bridge(
        family=Family.EVENT if end.context is None else Family.CONTEXT,
        relation=Relation.IMPLIES,
        operator="fill_slots" if end.context is None else "lift_context",
        source=end.term,
        target=literal.label,
        weight=weight / COST_UNIT,
        distance=(end.extra - weight) / COST_UNIT,
        cost=end.extra / COST_UNIT,
        truth_preserving=False,
        licence=licence,
        literal=j,
        segment=segment,
        details=_slots(_frame(lookup, segment, j, end, alignment), literal.slots),
    )


def _frame(
    lookup: Lookup, segment: int, j: int, end: Landing, alignment: Alignment | None
) -> Frame | None:
    """The telling of the event that leaves least to be assumed; the context tells none."""
    literal = lookup.query.literals[j]
    if literal.kind is not LiteralKind.EVENT or end.context is not None:
        return None
    frames = [f for f in lookup.index.frames_of(segment) if f.event == end.term]

    there = None if alignment is None else alignment.stands_at(j, segment)

    def rated(frame: Frame) -> tuple[int, bool, bool]:  # "was associated" before "no association"
        apart = there is None or not frame.start <= there < frame.end
        return frame_units(frame, literal.slots), apart, frame.negated != literal.negated

    return min(frames, key=rated, default=None)


def _slots(frame: Frame | None, slots: tuple[str, ...]) -> tuple[str, ...]:
    """Say what is wrong with which slot."""
    if frame is None:
        return tuple(f"{name} unfilled" for name in slots)
    states = ((name, slot_state(frame, name)) for name in slots)
    return tuple(f"{name} {state}" for name, state in states if state is not None)
