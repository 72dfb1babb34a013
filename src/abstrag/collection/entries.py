"""Entries: what one document tells a collection about the things it names.

They are a small part of its index: names with the words that license them, classes it states,
what shows which of several bearers of a name is meant, and events with their participants. They
carry no document id, for two documents of one content have the same entries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from abstrag.collection.homonyms import (
    BearerKind,
    form,
    is_full,
    is_short,
    is_shouted,
    person_form,
    shown_kinds,
)
from abstrag.indexing.events import TELLINGS
from abstrag.language.spelling import fold
from abstrag.language.words import key
from abstrag.model.document import Span
from abstrag.model.index import DocumentIndex
from abstrag.model.record import record
from abstrag.model.term import (
    Edge,
    Frame,
    Interval,
    Licence,
    LicenceKind,
    Relation,
    Term,
    TermKind,
)

VERSION: Final = 1  # of what is kept; part of the fingerprint entries are kept under
_WINDOW: Final = 2  # segments before and after a mention that tell who is meant
_MOST_NEAR: Final = 64  # names kept for that, the most frequent
_PEOPLE: Final = frozenset({"he", "she", "him", "his", "her", "hers", "himself", "herself"})
_SHORTEST: Final = 2  # letters of a name: the C. of C. elegans is none
_STATING: Final = (LicenceKind.TEXT, LicenceKind.BACKGROUND)
_BRACKETS: Final = {")": "(", "]": "["}
_ENTITY: Final = f"{TermKind.ENTITY.value}:"
_CONCEPT: Final = f"{TermKind.CONCEPT.value}:"


@record
class ThingName:
    """A name of a thing, the id that a query makes of it, its form, and its licence.

    The name the document itself settles on needs no licence.
    """

    surface: str
    term: str
    form: str
    licence: Licence | None = None


@record
class Class:
    """A class the document states of a thing."""

    term: str
    label: str
    licence: Licence


@record
class NamedThing:
    """A thing the document names, and the forms it is looked up by.

    `near` counts into the entries' `context`.
    """

    term: str
    label: str
    names: tuple[ThingName, ...]
    forms: tuple[str, ...]
    classes: tuple[Class, ...] = ()
    kinds: tuple[BearerKind, ...] = ()
    near: tuple[int, ...] = ()
    mentions: int = 0


@record
class EventReport:
    """An event as a document reports it: what, who, when, and in which words."""

    event: str
    participants: tuple[tuple[str, str], ...]  # slot and term, sorted
    licence: Licence
    when: Interval | None = None
    coerced: int = 0


@record
class Entries:
    """What a document contributes to the map of its collection."""

    title: str
    entries: tuple[NamedThing, ...]
    happenings: tuple[EventReport, ...]
    concepts: tuple[str, ...]  # further concepts it mentions
    context: tuple[str, ...]  # names and phrases of several words that stand near entries


def entries_of(index: DocumentIndex) -> Entries:
    """Return the entries of an index."""
    return _Reader(index).read()


@dataclass(slots=True)
class _Draft:
    names: dict[str, ThingName] = field(default_factory=dict)  # by surface
    classes: dict[str, Class] = field(default_factory=dict)
    shown: set[BearerKind] = field(default_factory=set)
    segments: Counter[int] = field(default_factory=Counter)


class _Reader:
    def __init__(self, index: DocumentIndex) -> None:
        self.index = index
        self.terms: Mapping[str, Term] = {term.id: term for term in index.map.terms}
        self.drafts: defaultdict[str, _Draft] = defaultdict(_Draft)
        stated = [e for e in index.map.edges if _is_stated(e)]
        self.aliases = {e.source: e for e in stated if e.relation is Relation.EQUIVALENT}
        self.classes = [e for e in stated if e.relation is Relation.IMPLIES]
        self.tokens: defaultdict[int, Counter[str]] = defaultdict(Counter)

    def read(self) -> Entries:
        self._name()
        self._state()
        self._mention()
        self._frame()
        table = _Table()
        entries = tuple(self._entry(one, table) for one in sorted(self.drafts))
        return Entries(
            title=self.index.document.title,
            entries=entries,
            happenings=tuple(sorted(self._happenings(), key=_told_first)),
            concepts=tuple(sorted(self._concepts())),
            context=tuple(table.places),
        )

    def canonical(self, term: str) -> str:
        """Return the term that stands for everything the document calls the same."""
        return self.aliases[term].target if term in self.aliases else term

    def _name(self) -> None:
        mentioned = {mention.term for mention in self.index.mentions}
        for one, edge in self.aliases.items():
            if edge.target in mentioned or one in mentioned:
                names = self.drafts[edge.target].names
                for surface in _surfaces(self.terms[one]):
                    names.setdefault(surface, _name(surface, one, self._exactly(edge.licence)))
        for one in mentioned:
            if one not in self.aliases and _is_name(self.terms[one]):
                self.drafts[one]
        for edge in self.classes:
            if edge.source in mentioned and edge.source.startswith((_ENTITY, _CONCEPT)):
                self.drafts[self.canonical(edge.source)]
        for one, draft in self.drafts.items():
            for surface in _surfaces(self.terms[one]):
                draft.names.setdefault(surface, _name(surface, one))
            label = _label(self.terms[one])
            draft.names[label] = _name(label, one)

    def _state(self) -> None:
        for edge in self.classes:
            draft = self.drafts.get(self.canonical(edge.source))
            if draft is not None:
                label = self.terms[edge.target].label
                said = Class(edge.target, label, self._exactly(edge.licence))
                draft.classes.setdefault(edge.target, said)
                if edge.target.startswith(f"{TermKind.ROLE.value}:"):
                    draft.shown.add(BearerKind.PERSON)

    def _mention(self) -> None:
        for mention in self.index.mentions:
            one = self.canonical(mention.term)
            if one in self.drafts:
                draft = self.drafts[one]
                draft.segments[mention.segment] += 1
                segment = self.index.records[mention.segment].segment
                if mention.header is None:
                    words = segment.text[mention.start : mention.end].casefold()
                    if words in _PEOPLE:
                        draft.shown.add(BearerKind.PERSON)
            if " " in one and one.startswith((_ENTITY, _CONCEPT)):
                self.tokens[mention.segment][one] += 1  # one word is too often a homonym itself

    def _frame(self) -> None:
        for frame in self.index.frames:
            for slot in frame.slots:
                if slot.name == "where" and slot.term is not None and not slot.coerced:
                    one = self.canonical(slot.term)
                    if one in self.drafts:
                        self.drafts[one].shown.add(BearerKind.PLACE)

    def _entry(self, one: str, table: _Table) -> NamedThing:
        draft, term = self.drafts[one], self.terms[one]
        names = tuple(draft.names[surface] for surface in sorted(draft.names))
        labels = [said.label for said in draft.classes.values()]
        kinds = draft.shown
        if term.kind is TermKind.ENTITY:
            kinds = kinds | shown_kinds([n.surface for n in names], labels)
        return NamedThing(
            term=one,
            label=_label(term),
            names=names,
            forms=_forms(term, names, kinds),
            classes=tuple(draft.classes[c] for c in sorted(draft.classes)),
            kinds=tuple(sorted(kinds)),
            near=tuple(sorted(table.place(token) for token in self._near(one, names))),
            mentions=draft.segments.total(),
        )

    def _near(self, one: str, names: Iterable[ThingName]) -> list[str]:
        """Return the other names near a thing, without those that share a word with its own."""
        own = {word for name in names for word in key(name.surface).replace("-", " ").split()}
        where = {
            segment + step
            for segment in self.drafts[one].segments
            for step in range(-_WINDOW, _WINDOW + 1)
        }
        found: Counter[str] = Counter()
        for segment in where:
            found.update(self.tokens.get(segment, {}))
        other = [t for t in found if not own & set(_words(t))]
        return sorted(other, key=lambda t: (-found[t], t))[:_MOST_NEAR]

    def _happenings(self) -> Iterator[EventReport]:
        listed = {edge.source for edge in self.index.map.edges if edge.operator == TELLINGS}
        for frame in self.index.frames:
            if frame.event in listed:  # the verb itself is an event as well
                continue
            who = self._participants(frame)
            when = self._when(frame)
            named = {term for _, term in who}
            if frame.negated or len(named) < (1 if _is_narrow(when) else 2):
                continue  # it would fit too many events
            segment = self.index.records[frame.segment].segment
            span = segment.alignment.locate(frame.start, frame.end)
            coerced = sum(slot.coerced for slot in frame.slots if slot.name in ("who", "whom"))
            licence = Licence(LicenceKind.TEXT, segment.text[frame.start : frame.end], span)
            yield EventReport(frame.event, who, licence, when, coerced)

    def _participants(self, frame: Frame) -> tuple[tuple[str, str], ...]:
        found = {
            (slot.name, self.canonical(slot.term))
            for slot in frame.slots
            if slot.name in ("who", "whom") and slot.term is not None
        }
        # a class of things takes part in events without number
        return tuple(sorted((slot, one) for slot, one in found if one.startswith(_ENTITY)))

    def _when(self, frame: Frame) -> Interval | None:
        times = (self.terms[s.term] for s in frame.slots if s.name == "when" and s.term)
        return next((time.interval for time in times if time.interval is not None), None)

    def _concepts(self) -> set[str]:
        mentioned = {mention.term for mention in self.index.mentions}
        return {t for t in mentioned if t.startswith(_CONCEPT) and t not in self.drafts}

    def _exactly(self, licence: Licence) -> Licence:
        """Extend a quotation by the closing bracket that follows it."""
        span = licence.span
        if span is None:
            return licence
        after = self.index.document.text[span.end : span.end + 1]
        opening = _BRACKETS.get(after)
        if opening is None or licence.reference.count(opening) <= licence.reference.count(after):
            return licence
        wider = Span(span.start, span.end + 1)
        return replace(licence, reference=f"{licence.reference}{after}", span=wider)


class _Table:
    """Numbers strings in the order they come."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, text: str) -> int:
        return self.places.setdefault(text, len(self.places))


def _is_name(term: Term) -> bool:
    """True for an entity, and for a concept that is only ever written as a short form."""
    if any(map(is_shouted, term.surfaces)) or len(fold(term.label)) < _SHORTEST:
        return False
    written = bool(term.surfaces) and all(map(is_short, term.surfaces))
    return term.kind is TermKind.ENTITY or (term.kind is TermKind.CONCEPT and written)


def _is_stated(edge: Edge) -> bool:
    """True for what text or Background states of a thing, not for a guess or a model's reply."""
    things = edge.source.startswith((_ENTITY, _CONCEPT))
    return things and edge.truth_preserving and edge.licence.kind in _STATING


def mentioned(term: str) -> NamedThing:
    """Return the entry of a concept that a document mentions without stating anything of it."""
    label = term.partition(":")[2]
    name = _name(label, term)
    return NamedThing(term, label, (name,), (name.form,))


def _name(surface: str, term: str, licence: Licence | None = None) -> ThingName:
    """Make a name; a common noun is looked up in the singular, as its id has it."""
    noun = term.startswith(_CONCEPT) and not is_short(surface)
    return ThingName(surface, term, form(term.removeprefix(_CONCEPT) if noun else surface), licence)


def _forms(
    term: Term, names: Iterable[ThingName], kinds: Collection[BearerKind]
) -> tuple[str, ...]:
    found = {name.form for name in names}
    if term.kind is TermKind.ENTITY and (
        set(kinds) == {BearerKind.PERSON} or not is_full(term.label)
    ):
        found.add(person_form(term.label) or "")
    return tuple(sorted(found - {""}))


def _label(term: Term) -> str:
    """Return what a thing is called; a short form as it is written, not as a lemma."""
    if term.kind is TermKind.CONCEPT and term.surfaces and all(map(is_short, term.surfaces)):
        return min(term.surfaces, key=lambda s: (len(s), s))
    return term.label


def _surfaces(term: Term) -> tuple[str, ...]:
    return tuple(dict.fromkeys((_label(term), *term.surfaces)))


def _words(term: str) -> list[str]:
    return term.partition(":")[2].replace("-", " ").split()


def _is_narrow(when: Interval | None) -> bool:
    """True for a time within one month."""
    return when is not None and when.start[:7] == when.end[:7]


def _told_first(one: EventReport) -> tuple[str, tuple[tuple[str, str], ...], int]:
    return one.event, one.participants, one.licence.span.start if one.licence.span else -1
