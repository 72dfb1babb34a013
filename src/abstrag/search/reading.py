"""The one-sentence reading: a trace said aloud, for a person.

What is said is what the passage says and what was taken for what; that nothing meets a condition is
said only where no form of its words stands in the passage, its headers or its section.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from abstrag.language.names import names_company
from abstrag.model.query import Bridge, LiteralKind
from abstrag.model.ranking import GapTrace, LiteralTrace, WordTrace
from abstrag.model.segment import Segment
from abstrag.model.term import Family, LicenceKind, Relation
from abstrag.neural.vectors import has_content
from abstrag.search.document_words import forms, label_words
from abstrag.search.families import direction, opposite, step_family
from abstrag.search.query.definition import DEFINITION
from abstrag.search.query.operators import ExpandTime, interval_of
from abstrag.search.told_events import ENDED
from abstrag.search.trace import ALIGN_WORDS, stated

Labels = Mapping[str, str]

CONVINCED: Final = 0.5  # a judge that says at least this takes the segment for evidence
DOUBTFUL: Final = 0.1  # one that says less has found nothing
NEAR: Final = 0.7  # the price up to which a word that does not meet another is worth naming
_ADJECTIVE: Final = 4  # letters of an adjective that an adverb in -ly may come from
_WITHIN: Final = 4  # words between two that still make a phrase: "delete all the old files"
_ALONE: Final = "by the word alone"  # of an event whose parties the passage does not tell
_MARKS: Final = " .,;:)]}"  # that may stand before what is quoted
FILL_SLOTS: Final = "fill_slots"


def read_aloud(
    trace: GapTrace,
    segment: Segment,
    labels: Labels,
    *,
    tau: float,
    judgement: float | None = None,
    neighbours: str | None = None,
    words: tuple[WordTrace, ...] = (),
    names: Sequence[Collection[str]] = (),
) -> str:
    """Say in a sentence or two why a segment is where it is.

    `neighbours` is what the judge read besides the segment, `words` how each word of the query is
    met where words were aligned, `names` what else each literal is called.
    """
    reading = _Reading(segment, labels, words, names)
    parts = reading.parts(trace.literals)
    unmet = [t for t in trace.literals if not t.met]
    text = "; ".join(parts) or "it holds nothing of the query"
    if words and trace.literals and not any(t.met for t in trace.literals) and not reading.met:
        text += "; it is here because as a whole it is about the same thing"
    said = [f"{text[0].upper()}{text[1:]}.", _verdict(trace, tau)]
    if judgement is not None and judgement >= CONVINCED:
        said.append(_opinion(judgement, unmet, neighbours))
    elif judgement is not None and judgement < DOUBTFUL:
        but = ", but it has not read the Background" if stated(trace) else ""
        said.append(f"The judge{_besides(neighbours, ',')} doubts it ({judgement:.2f}){but}.")
    return " ".join(said)


@dataclass(frozen=True)
class _Reading:
    """One passage, read aloud for one query."""

    segment: Segment
    labels: Labels
    words: tuple[WordTrace, ...]
    names: Sequence[Collection[str]] = ()

    @property
    def met(self) -> bool:
        """Whether any word of the query is met."""
        return any(word.met for word in self.words)

    def parts(self, literals: tuple[LiteralTrace, ...]) -> list[str]:
        """Return what there is to say: what it says, stands under, is read as, and lacks."""
        own: list[str] = []
        headed: list[str] = []
        steps: list[str] = []
        lacking: list[str] = []
        for number, literal in enumerate(literals):
            mine = [word for word in self.words if word.literal == number]
            if literal.met:
                plain = self._plain(literal, mine)
                if plain is None:
                    steps.append(self._defined(literal, literals) or self._bridged(literal, mine))
                else:
                    (headed if _aside(literal, mine) else own).append(plain)
            elif any(word.met for word in mine):
                steps.append(self._partly(literal, mine))
            elif uncounted := self._not_counted(number, literal, mine):
                steps.append(uncounted)
            else:
                lacking.append(_quoted(_as_asked(literal, mine)) + _nearest(mine))
        parts = []
        for who, some in (("it says ", own), ("it stands under ", headed)):
            if some:
                parts.append(who + _listed(list(dict.fromkeys(some))))
        parts += list(dict.fromkeys(steps))  # a definition speaks for several literals at once
        if lacking:
            parts.append("nothing in it meets " + _listed(lacking, "or"))
        return parts

    def _defined(self, trace: LiteralTrace, every: tuple[LiteralTrace, ...]) -> str:
        """Say which words the text defines a term by, where one of them leads to a literal."""
        if not _by_definition(trace):
            return ""
        term = trace.bridges[0].source
        those = (t for t in every if t.met and _by_definition(t) and t.bridges[0].source == term)
        words = [_quoted(t.literal.label) for t in those if not self._verbatim(t.literal.label)]
        return f"the text defines {_quoted(self.labels.get(term, ''))} by {_listed(words)}"

    def _plain(self, trace: LiteralTrace, mine: list[WordTrace]) -> str | None:
        """Quote the words that meet a literal as it is asked; None where a step is to be told."""
        asked = _as_asked(trace, mine)
        said = self._said(trace) or " ".join(dict.fromkeys(w.said for w in mine if w.in_section))
        if trace.context is not None:
            return None
        if not trace.bridges:
            several = len(mine) > 1 and trace.via == " ".join(word.said for word in mine)
            return self._several(trace, mine) if several else self._direct(trace, said, asked)
        if _only_open(trace, mine):
            words = _listed(list(dict.fromkeys(_quoted(word.said) for word in mine)))
            return f"{words} ({_ALONE}, {_price(trace)})"
        via = self.labels.get(trace.via or "", "")
        if any(not b.truth_preserving and b.operator != FILL_SLOTS for b in trace.bridges):
            return None
        if said and _holds(said, asked):
            return _quoted(said) + self._slots(trace)
        if via and _holds(via, asked):  # "it" for what it stands for
            return _quoted(said or via) + self._slots(trace, *_in_place_of(said, asked))
        if found := self._verbatim(asked):
            return _quoted(found) + self._slots(trace)
        if all(b.operator == FILL_SLOTS for b in trace.bridges):
            return _quoted(said or via) + self._slots(trace, f"for {_quoted(asked)}")
        return None

    def _direct(self, trace: LiteralTrace, said: str, asked: str) -> str:
        if trace.literal.kind is LiteralKind.TIME and trace.via is not None:
            when = self.labels.get(trace.via, trace.via)
            told = f"{_quoted(said)}, which is {when}" if said and said != when else _quoted(when)
            own, wanted = interval_of(trace.via), trace.literal.interval
            within = own is not None and wanted is not None and own != wanted
            return f"{told} (within {_quoted(asked)})" if within else told
        if not said or _holds(said, asked) or asked.casefold() in said.casefold():
            return _quoted(said or asked)  # “web” and “sites” stand in “websites”
        if found := self._verbatim(asked):
            return _quoted(found)
        return f"{_quoted(said)} (for {_quoted(asked)})"

    def _verbatim(self, label: str) -> str:
        """Return a label as the passage writes it, "" where it does not."""
        found = re.search(rf"(?<!\w){re.escape(label)}(?!\w)", self.segment.text, re.IGNORECASE)
        return found.group() if found else ""

    def _bridged(self, trace: LiteralTrace, mine: list[WordTrace]) -> str:
        asked = _as_asked(trace, mine)
        via = self.labels.get(trace.via or "", trace.via or "")
        if trace.context is not None:
            return (
                f"{_quoted(asked)} comes from the {trace.context.name} "
                f"({trace.context.value}, {_price(trace)})"
            )
        said = self._said(trace) or via
        paid = [b for b in trace.bridges if not b.truth_preserving]
        if not paid:
            return f"{_known(trace, via, said)}, {_source(trace, via)}"
        if any(b.operator == ALIGN_WORDS for b in paid) and mine:
            return self._by_words(trace, mine)
        steps = [b for b in paid if b.operator != FILL_SLOTS]
        how = " and ".join(dict.fromkeys(_reason(b, asked, said) for b in steps))
        reason = f"{how}, " if how else ""
        return f"{_quoted(said)} is read as {_quoted(asked)} ({reason}{_price(trace)})"

    def _by_words(self, trace: LiteralTrace, mine: list[WordTrace]) -> str:
        """Say how the words of a passage meet a literal, each word of it by another."""
        asked = _as_asked(trace, mine)
        steps = [word for word in mine if word.family is not None]
        said = list(dict.fromkeys(_quoted(word.said) for word in mine if word.said))
        verb = "are" if len(said) > 1 else "is"
        dearest = max(steps, key=lambda word: word.price)
        if len(steps) == 1 and opposite(dearest.asked, dearest.said):
            return f"{_listed(said)} says the opposite of {_quoted(asked)} ({_price(trace)})"
        where = " in the heading" if _aside(trace, mine) else ""
        how = f"{_how(dearest)}, {_price(trace)}"
        return f"{_listed(said)}{where} {verb} read as {_quoted(asked)} ({how})"

    def _partly(self, trace: LiteralTrace, mine: list[WordTrace]) -> str:
        """Say which words of a literal are there and which are not."""
        found = _listed(list(dict.fromkeys(_met(word) for word in mine if word.met)))
        lacking = [w for w in mine if not w.met and not self._stands(w.asked)]
        missing = list(dict.fromkeys(_quoted(word.asked) + _nearest([word]) for word in lacking))
        lacks = f", but nothing meets {_listed(missing, 'or')}" if missing else ""
        if not lacking and len(mine) > 1 and all(word.met for word in mine):
            lacks = ", but in different sentences" if self._far_apart(mine) else ""
        return f"of {_quoted(_as_asked(trace, mine))} it says {found}{lacks}"

    def _not_counted(self, number: int, trace: LiteralTrace, mine: list[WordTrace]) -> str:
        """Say of words that stand there, or another name, that they do not count as asked for."""
        label = _quoted(_as_asked(trace, mine))
        all_stand = bool(mine) and all(self._stands(word.asked) for word in mine)
        if all_stand or self._stands(trace.literal.label):
            if any(word.other_sense for word in mine):
                return f"{label} stands there in another sense"
            where = "there" if _holds(self.segment.text, trace.literal.label) else "in a heading"
            return f"{label} stands {where}, but does not count as met"
        names = self.names[number] if number < len(self.names) else ()
        name = next((name for name in sorted(names) if self._in_a_row(name)), "")
        return f"{_quoted(name)}, a name of {label}, does not count as met" if name else ""

    def _slots(self, trace: LiteralTrace, *more: str) -> str:
        """Say in brackets what is more to say, what a telling leaves open, and what that costs."""
        details = [d for b in trace.bridges if b.operator == FILL_SLOTS for d in b.details]
        open_ = [d.removesuffix(" unfilled") for d in details if d.endswith(" unfilled")]
        coerced = [d.removesuffix(" coerced") for d in details if d.endswith(" coerced")]
        all_open = len(open_) == len(trace.literal.slots)  # a bare word, which may be told of any
        told = [_ALONE if all_open else _not_found(open_)] if open_ else []
        told += [f"an office stands for {_parties(coerced)}"] if coerced else []
        told += [_price(trace)] if told else []
        return f" ({', '.join((*more, *told))})" if more or told else ""

    def _said(self, trace: LiteralTrace) -> str:
        """Return the words of the segment that carry a literal."""
        header = _header(trace)
        if header is None:
            place, text = trace.frame or trace.mention, self.segment.text
        else:
            place, text = trace.mention, self.segment.headers[header].text
        return "" if place is None else text[place.start : place.end].lstrip(_MARKS)

    def _in_a_row(self, name: str) -> bool:
        """Tell whether a name stands in the passage, its headers or its section, word for word."""
        headers = [header.text for header in self.segment.headers]
        text = " ".join((self.segment.text, *headers, *self.segment.section))
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?:e?s)?(?!\w)", text, re.IGNORECASE))

    def _several(self, trace: LiteralTrace, mine: Sequence[WordTrace]) -> str:
        """Quote the words of a literal in the order of the passage, and say if they are apart."""
        asked = _as_asked(trace, mine)
        parts = list(dict.fromkeys(word.said for word in _as_written(mine) if word.said))
        together = " ".join(parts)
        if len(parts) == 1 or together in self.segment.text:
            return self._direct(trace, together, asked)
        if self._far_apart(mine):
            said = " … ".join(map(_quoted, parts))
            return f"{said} (apart from each other, for {_quoted(asked)})"
        return self._direct(trace, " … ".join(parts), asked)

    def _far_apart(self, mine: Sequence[WordTrace]) -> bool:
        """Tell whether words that stand in the passage itself are no phrase there."""
        own = [word for word in _as_written(mine) if word.said_start is not None]
        if len(own) < len(mine) or any(w.in_section or w.header is not None for w in own):
            return False
        between = (self.segment.text[a.said_end : b.said_start] for a, b in pairwise(own))
        return any(ENDED.search(f"{text}X") or len(text.split()) > _WITHIN for text in between)

    def _stands(self, label: str) -> bool:
        """Tell whether the words of a label stand in the passage, its headers or its section."""
        headers = [header.text for header in self.segment.headers]
        return _holds(" ".join((self.segment.text, *headers, *self.segment.section)), label)


def _by_definition(trace: LiteralTrace) -> bool:
    """Tell whether nothing but a definition in the text leads to a literal."""
    made = [b.operator for b in trace.bridges]
    return bool(made) and set(made) == {DEFINITION} and trace.context is None


def _holds(text: str, label: str) -> bool:
    """Tell whether all content words of a label stand in a text, or inflections of them."""
    words = label_words(label)
    wanted = [word for word in words if has_content(word.lower())] or words
    there = {form for word in dict.fromkeys(label_words(text)) for form in _forms(word)}
    return bool(wanted) and all(not there.isdisjoint(_forms(word)) for word in wanted)


def _as_written(mine: Sequence[WordTrace]) -> list[WordTrace]:
    """Return words in the order in which the passage has them."""
    return sorted(mine, key=lambda word: word.said_start or 0)


def _forms(word: str) -> tuple[str, ...]:
    """Return the forms of a word, of an adverb also its adjective, of what ends in s also the rest.

    "Olympics" is a word of its own in the lexicon, and says "Olympic" too.
    """
    found, own = forms(word), word.casefold()
    bare = own.removesuffix("ly") if own.endswith("ly") else own.removesuffix("s")
    return (*found, bare) if len(bare) >= _ADJECTIVE and bare != own else found


def _met(word: WordTrace) -> str:
    """Say which word meets a word of the query, and how."""
    if word.family is None:
        return _quoted(word.said)
    if word.other_sense:
        return f"{_quoted(word.said)} in another sense ({word.price:.2f})"
    if opposite(word.asked, word.said):
        return f"{_quoted(word.said)}, the opposite of {_quoted(word.asked)} ({word.price:.2f})"
    return f"{_quoted(word.said)} for {_quoted(word.asked)} ({_how(word)}, {word.price:.2f})"


def _how(word: WordTrace) -> str:
    """Say what kind of step leads to a word of the query."""
    if word.other_sense:
        return "in another sense"
    assert word.family is not None
    return _kind_of_step(word.family, word.asked, word.said)


def _opinion(judgement: float, unmet: list[LiteralTrace], neighbours: str | None) -> str:
    """Say that a judge found evidence, and what of it no bridge accounts for."""
    if not unmet:
        return f"The judge{_besides(neighbours, ',')} agrees ({judgement:.2f})."
    sure = f"takes it for evidence ({judgement:.2f})"
    return f"The judge{_besides(neighbours, ',')} {sure}, for reasons that no step here shows."


def _besides(neighbours: str | None, end: str) -> str:
    return f", who has read {neighbours} too{end}" if neighbours else ""


def _verdict(trace: GapTrace, tau: float) -> str:
    if trace.over_budget_by is not None:
        return (
            f"Each is affordable, but together they cost {trace.bridge_cost:.2f}, over the budget "
            f"of {tau:g} by {trace.over_budget_by:.2f}."
        )
    if trace.reachable:
        return f"Gap {trace.gap:.2f}, within the budget of {tau:g}."
    met = f"{trace.share:.0%} of the query is met" if trace.share else "no condition is met in full"
    return f"Gap {trace.gap:.2f}; {met}."


def _known(trace: LiteralTrace, via: str, said: str) -> str:
    """Say what something is called too, or which class it is of."""
    asked = trace.literal.label
    if all(bridge.relation is Relation.EQUIVALENT for bridge in trace.bridges):
        return f"{_quoted(said)} is another name of {_quoted(asked)}"
    if trace.literal.kind is LiteralKind.ENTITY:
        return f"{via} goes by the name {_quoted(asked)}"  # a name is no class
    return f"{via} is {_a(asked)}"


def _reason(bridge: Bridge, asked: str, said: str) -> str:
    """Say what kind of step it is, and which other document allows it where one does."""
    if bridge.operator == ExpandTime.name:
        return "a time that only overlaps it"
    if bridge.licence is not None and bridge.licence.kind is LicenceKind.COLLECTION:
        return f"{_kind_of_step(bridge.family, asked, said)}: {bridge.licence.reference}"
    return _kind_of_step(bridge.family, asked, said)


_STEPS: Final[Mapping[Family, str]] = {
    Family.EXPRESSION: "another expression",
    Family.CONCEPT: "a narrower or broader word",
    Family.INTENT: "an office stands for it",
    Family.EVENT: "an event that suggests it",
    Family.CONTEXT: "the context",
    Family.RELATED: "a related word",
}


_SLOTS: Final[Mapping[str, str]] = {"who": "who does it", "whom": "what it is done to"}


def _parties(slots: Sequence[str]) -> str:
    """Name the parties of an event in plain words."""
    return _listed([_SLOTS.get(name, name) for name in slots])


def _not_found(slots: Sequence[str]) -> str:
    """Say which parties of an event the passage does not name beside it."""
    return f"{_parties(slots)} {'are' if len(slots) > 1 else 'is'} not found"


def _in_place_of(said: str, asked: str) -> tuple[str, ...]:
    """Say for what a word stands, where one was said."""
    return (f"for {_quoted(asked)}",) if said else ()


def _kind_of_step(family: Family, asked: str, said: str) -> str:
    """Say what kind of step a family is; one without words of its own is called by its name.

    A step over the classes of a lexicon may lead to a word for the same thing.
    """
    if family is Family.CONCEPT:
        if way := direction(asked, said):
            return f"a {way} word"
        if step_family(asked, said) == Family.EXPRESSION.value:
            return _STEPS[Family.EXPRESSION]
    return _STEPS.get(family, f"{_a(family.value)} step")


def _source(trace: LiteralTrace, via: str) -> str:
    """Say who states a free step; the text only where its words do."""
    licences = [b.licence for b in trace.bridges if b.licence is not None]
    known = {licence.kind: licence for licence in reversed(licences)}
    if LicenceKind.BACKGROUND in known:
        return f"as {_background(known[LicenceKind.BACKGROUND].reference)} states"
    if LicenceKind.PATCH in known:
        return "as an accepted patch states"
    if LicenceKind.LEXICON in known:
        return "as a dictionary states"
    told = [licence.reference for licence in licences]
    named = all(names_company(one) or _holds(via, one) for one in told)
    if not named or any(_holds(one, trace.literal.label) for one in told):
        return "as the text states"  # "Jane Roe, chief executive officer" of a CEO
    return "judging by the name"


def _background(reference: str) -> str:
    """Name the Background that a licence refers to, by its file where it has one."""
    name = reference.partition(": ")[0]
    return "the Background" if name in ("", "background") else f"the Background {name}"


def _price(trace: LiteralTrace) -> str:
    return f"{trace.distance:.2f}" if trace.distance is not None else "unpriced"


def _header(trace: LiteralTrace) -> int | None:
    """Return which of the segment's headers carries a literal, None where its own words do."""
    return None if trace.mention is None else trace.mention.header


def _aside(trace: LiteralTrace, mine: list[WordTrace]) -> bool:
    """Tell whether what meets a literal stands in a header, or in the name of the section."""
    if trace.mention is not None or trace.frame is not None:
        return _header(trace) is not None
    return bool(mine) and all(word.in_section or word.header is not None for word in mine)


def _quoted(text: str) -> str:
    return f"“{text}”"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeio' or noun[:2] in ('LL', 'SE') else 'a'} {noun}"


def _only_open(trace: LiteralTrace, mine: Sequence[WordTrace]) -> bool:
    """Tell whether the very words of a literal stand there and only parties were not found."""
    by_words = any(bridge.operator == ALIGN_WORDS for bridge in trace.bridges)
    return bool(mine) and by_words and all(word.family is None for word in mine)


def _as_asked(trace: LiteralTrace, mine: Sequence[WordTrace]) -> str:
    """Return a literal in the words of the query, where they stand in a row; else its label."""
    label = trace.literal.label
    row = all(after.start - before.end == 1 for before, after in pairwise(mine))
    if not mine or not row or len(mine) != len(label_words(label)):
        return label
    return " ".join(word.asked for word in mine)


def _nearest(mine: Sequence[WordTrace]) -> str:
    """Say which word comes nearest to one that is not met, where one is near."""
    near = [word for word in mine if word.family is not None and word.price <= NEAR]
    if not near:
        return ""
    best = min(near, key=lambda word: word.price)
    to = f" to {_quoted(best.asked)}" if len(mine) > 1 else ""
    return f" (nearest{to}: {_quoted(best.said)})"


def _listed(items: list[str], joint: str = "and") -> str:
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"
