"""The one-sentence reading: a trace said aloud, for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from abstrag.model.query import Bridge, LiteralKind
from abstrag.model.ranking import GapTrace, LiteralTrace, WordTrace
from abstrag.model.segment import Segment
from abstrag.model.term import Family, LicenceKind
from abstrag.search.trace import stated

Labels = Mapping[str, str]

CONVINCED: Final = 0.5  # a judge that says at least this takes the segment for evidence
DOUBTFUL: Final = 0.1  # one that says less has found nothing


def read_aloud(
    trace: GapTrace,
    segment: Segment,
    labels: Labels,
    *,
    tau: float,
    judgement: float | None = None,
    company: str | None = None,
    words: tuple[WordTrace, ...] = (),
) -> str:
    """Say in a sentence or two why a segment is where it is.

    `company` is what the judge read besides the segment, `words` how each word of the query is met
    where words were aligned.
    """
    direct = [t for t in trace.literals if t.met and not t.bridges]
    headed = [t for t in direct if _header(t) is not None]
    own = [t for t in direct if _header(t) is None]
    bridged = [t for t in trace.literals if t.met and t.bridges]
    unmet = [t for t in trace.literals if not t.met]
    parts = []
    for who, some in (("it says ", own), ("it stands under ", headed)):
        if some:
            parts.append(who + _listed([_direct(t, segment, labels) for t in some]))
    parts += [_bridged(t, segment, labels) for t in bridged]
    lacking = [t.literal.label for t in unmet]
    for number, literal in enumerate(trace.literals):
        if literal.met:
            continue
        there = [w for w in words if w.literal == number and w.met]
        if there:  # some of its words are there, so that it is not true that nothing meets it
            lacking.remove(literal.literal.label)
            found = _listed([_met(w) for w in there])
            missing = [_quoted(w.asked) for w in words if w.literal == number and not w.met]
            lacks = f"; {_listed(missing)} is not met" if missing else ""
            parts.append(f"of {_quoted(literal.literal.label)} it says {found}{lacks}")
    if lacking:
        parts.append("nothing in it meets " + _listed([_quoted(one) for one in lacking]))
    text = "; ".join(parts) or "it holds nothing of the query"
    said = [f"{text[0].upper()}{text[1:]}.", _verdict(trace, tau)]
    if judgement is not None and judgement >= CONVINCED:
        said.append(_opinion(judgement, unmet, company))
    elif judgement is not None and judgement < DOUBTFUL:
        but = ", but it has not read the Background" if stated(trace) else ""
        said.append(f"The judge{_besides(company, ',')} doubts it ({judgement:.2f}){but}.")
    return " ".join(said)


def _met(word: WordTrace) -> str:
    """Say which word meets a word of the query, and how."""
    if word.family is None:
        return _quoted(word.said)
    how = "in another sense" if word.other_sense else f"for {_quoted(word.asked)}"
    return f"{_quoted(word.said)} {how} ({word.price:.2f})"


def _opinion(judgement: float, unmet: list[LiteralTrace], company: str | None) -> str:
    """Say that a judge found evidence, and what of it no bridge accounts for."""
    if not unmet:
        return f"The judge{_besides(company, ',')} agrees ({judgement:.2f})."
    without = _listed([_quoted(trace.literal.label) for trace in unmet])
    besides = _besides(company, ";") or ","
    return f"Matched by the judge ({judgement:.2f}){besides} unexplained: {without}."


def _besides(company: str | None, end: str) -> str:
    return f", who has read {company} too{end}" if company else ""


def _verdict(trace: GapTrace, tau: float) -> str:
    if trace.over_budget_by is not None:
        return (
            f"Each is affordable, but together they cost {trace.bridge_cost:.2f}, over the budget "
            f"of {tau:g} by {trace.over_budget_by:.2f}."
        )
    if trace.reachable:
        return f"Gap {trace.gap:.2f}, within the budget of {tau:g}."
    return f"Gap {trace.gap:.2f}; {trace.share:.0%} of the query is met."


def _direct(trace: LiteralTrace, segment: Segment, labels: Labels) -> str:
    said = _words(trace, segment)
    label = trace.literal.label
    if trace.literal.kind is LiteralKind.TIME and trace.via is not None:
        when = labels.get(trace.via, trace.via)
        return f"{_quoted(said)}, which is {when}" if said and said != when else _quoted(label)
    return _quoted(said or label)


def _bridged(trace: LiteralTrace, segment: Segment, labels: Labels) -> str:
    asked = trace.literal.label
    via = labels.get(trace.via or "", trace.via or "")
    if trace.context is not None:
        return (
            f"{_quoted(asked)} comes from the {trace.context.name} "
            f"({trace.context.value}, {_price(trace)})"
        )
    said = _words(trace, segment) or via
    paid = [b for b in trace.bridges if not b.truth_preserving]
    if not paid:
        return f"{via} is {_a(asked)}, {_source(trace.bridges)}"
    slots = [detail for b in paid if b.operator != "align_words" for detail in b.details]
    how = " and ".join(dict.fromkeys(_reason(b) for b in paid if b.operator != "fill_slots"))
    reason = f"{how}, " if how else ""
    aside = f" with {_listed(slots)}" if slots else ""
    return f"{_quoted(said)} is read as {_quoted(asked)}{aside} ({reason}{_price(trace)})"


def _reason(bridge: Bridge) -> str:
    """Say what kind of step it is, and which other document allows it where one does."""
    if bridge.licence is not None and bridge.licence.kind is LicenceKind.COLLECTION:
        return f"{_family(bridge)}: {bridge.licence.reference}"
    return _family(bridge)


def _family(bridge: Bridge) -> str:
    return {
        Family.EXPRESSION: "another expression",
        Family.CONCEPT: "a conceptual step",
        Family.INTENT: "an office for its kind",
        Family.EVENT: "an event step",
        Family.CONTEXT: "the context",
        Family.RELATED: "a related word",
    }[bridge.family]


def _source(bridges: tuple[Bridge, ...]) -> str:
    licences = [b.licence for b in bridges if b.licence is not None]
    if any(licence.kind is LicenceKind.BACKGROUND for licence in licences):
        named = next(x for x in licences if x.kind is LicenceKind.BACKGROUND)
        return f"as {named.reference} states"
    if any(licence.kind is LicenceKind.PATCH for licence in licences):
        return "as an accepted patch states"
    return "as the text states"


def _price(trace: LiteralTrace) -> str:
    return f"{trace.distance:.2f}" if trace.distance is not None else "unpriced"


def _header(trace: LiteralTrace) -> int | None:
    """Return which of the segment's headers carries a literal, None where its own words do."""
    return None if trace.mention is None else trace.mention.header


def _words(trace: LiteralTrace, segment: Segment) -> str:
    """Return the words of the segment that carry a literal."""
    header = _header(trace)
    if header is None:
        place, text = trace.frame or trace.mention, segment.text
    else:
        place, text = trace.mention, segment.headers[header].text
    return "" if place is None else text[place.start : place.end]


def _quoted(text: str) -> str:
    return f"“{text}”"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeio' or noun[:2] in ('LL', 'SE') else 'a'} {noun}"


def _listed(items: list[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
