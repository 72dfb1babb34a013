"""AbsEvent with a model: events that the rules do not see, and types that they do not know.

The rules run first, and all they found stays. An event that only the model sees becomes a term of
its own, told in one place: what the model takes it for is an edge, and pays. So do the types it
gives to events the rules found. Slots of the rules' frames are never filled by a model, for that
would be a discount nobody pays for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from abstrag.config import OMEGA
from abstrag.indexing.events import AbstractEvents
from abstrag.indexing.layers import Events
from abstrag.indexing.operator import IndexDraft, Layer, ReplyFault
from abstrag.indexing.prompted.alignment import LIKELY, Aligned, Pair, align, plan_alignment
from abstrag.indexing.prompted.prompts import Plan, TermsAt, planned
from abstrag.indexing.prompted.reader import Batch, StageReader, batches, prose
from abstrag.language.spelling import Place, overlaps
from abstrag.language.words import key, term_id
from abstrag.lexicon.events import event_type, named_event
from abstrag.llm.budget import Batching
from abstrag.llm.prompt import Answered, Prompt
from abstrag.llm.shape import Percent
from abstrag.model.distances import event_distance
from abstrag.model.record import record
from abstrag.model.term import (
    Edge,
    Family,
    Frame,
    Licence,
    LicenceKind,
    Mention,
    Relation,
    Slot,
    Term,
    TermKind,
)

_EACH: Final = 180  # tokens of a reply for a segment
_PAIRS_A_SEGMENT: Final = 1  # that a plan expects a model to propose
_EVENT: Final = f"{TermKind.EVENT.value}:"


@record
class Participant:
    """Who or what fills a slot."""

    role: Literal["who", "whom", "when", "where"]
    quote: str


@record
class ModelEvent:
    """An event as the program reports it."""

    segment: str
    trigger: str
    type: str
    participants: tuple[Participant, ...]
    negated: bool
    artifact: bool
    confidence: Percent


@record
class ExtractedEvents:
    """The reply of the program `extract_events`."""

    events: tuple[ModelEvent, ...]


@dataclass(frozen=True, slots=True)
class PromptedEvents:
    """Find and link events by rule, then add a model's events and types as costed edges."""

    extract: Prompt
    align: Prompt
    local: AbstractEvents = field(default_factory=AbstractEvents)
    batching: Batching = field(default_factory=Batching)

    name: ClassVar[str] = AbstractEvents.name
    requires: ClassVar[Layer | None] = AbstractEvents.requires
    provides: ClassVar[Layer] = AbstractEvents.provides
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 1

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of events."""
        draft = self.local(draft)
        assert draft.events is not None
        reader = StageReader(draft, "events")
        found = _Found(draft, reader)
        for batch, reply in reader.ask(
            self.extract,
            ExtractedEvents,
            batches(draft, prose(draft), self.batching),
            lambda batch: {"segments": reader.shown(batch)},
            each=_EACH,
        ):
            found.read(batch, reply)
        steps = align(self.align, reader, found.pairs, found.labels)
        layer = found.layer(draft.events, steps)
        return draft.with_(events=layer, shortfalls=(*draft.shortfalls, *reader.shortfalls))

    def plan(self, draft: IndexDraft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        cut = batches(draft, prose(draft), self.batching)
        reader = StageReader(draft, "plan")
        shown = [{"segments": reader.shown(batch)} for batch in cut]
        expected = _PAIRS_A_SEGMENT * sum(len(batch.segments) for batch in cut)
        return (
            planned(self.extract, shown, each=_EACH),
            plan_alignment(self.align, (), {}, expected),
        )


class _Found:
    """Events of a document as a model reads them, tied to terms and places."""

    def __init__(self, draft: IndexDraft, reader: StageReader) -> None:
        assert draft.events is not None
        self.draft = draft
        self.reader = reader
        self.at = TermsAt(draft)
        self.labels = {t.id: t.label for t in draft.events.terms}
        self.terms: dict[str, Term] = {}
        self.frames: dict[str, Frame] = {}
        self.artifacts: set[str] = set()
        self.pairs: dict[Pair, int] = {}  # with the segment they come from
        self._told: dict[int, list[tuple[Place, str]]] = {}
        for frame in draft.events.frames:
            place = (frame.start, frame.end)
            self._told.setdefault(frame.segment, []).append((place, frame.event))

    def read(self, batch: Batch, reply: Answered[ExtractedEvents]) -> None:
        """Note what one reply tells of words that are there."""
        for said in reply.value.events:
            segment = self.reader.segment(said.segment, batch.segments)
            place = None if segment is None else self.reader.place(segment, said.trigger)
            if segment is None or place is None:
                continue
            target = self._type(said.type)
            if target is None or said.confidence < LIKELY:
                self.reader.drop(ReplyFault.NOT_ALLOWED)
                continue
            source = self._known(segment, place) or self._own(segment, place, said)
            if said.artifact:
                self.artifacts.add(source)
            if source != target:
                self.pairs.setdefault((source, target), segment)

    def _known(self, segment: int, place: Place) -> str | None:
        """Return the event that the rules see at a place."""
        for told, event in self._told.get(segment, ()):
            if overlaps(told, place):
                return event
        return self.at.term(segment, place, prefix=_EVENT)

    def _type(self, words: str) -> str | None:
        """Return the term of an event type; None for words that name none."""
        name = named_event(key(words))
        if not any(c.isalpha() for c in name):
            return None
        term = term_id(TermKind.EVENT, name)
        if term not in self.labels:
            known = event_type(name)
            self.labels[term] = known.label if known else words.strip()
            self.terms[term] = Term(term, TermKind.EVENT, self.labels[term])
        return term

    def _own(self, segment: int, place: Place, said: ModelEvent) -> str:
        """Make a term and a frame for an event that only the model sees."""
        where = self.draft.segments[segment].id
        term = term_id(TermKind.EVENT, f"{key(said.trigger)} @{where} {place[0]}")
        if term not in self.terms:
            words = said.trigger.strip()
            self.terms[term] = Term(term, TermKind.EVENT, words, (words,))
            self.labels[term] = words
            self.frames[term] = Frame(
                event=term,
                segment=segment,
                start=place[0],
                end=place[1],
                slots=tuple(self._slots(segment, said)),
                artifact=said.artifact,
                negated=said.negated,
            )
        return term

    def _slots(self, segment: int, said: ModelEvent) -> Iterator[Slot]:
        filled: set[str] = set()
        for one in said.participants:
            place = self.reader.place(segment, one.quote)
            if place is not None and one.role not in filled:
                filled.add(one.role)
                yield Slot(one.role, *place, self.at.within(segment, place))

    def layer(self, local: Events, steps: list[Aligned]) -> Events:
        """Return the rules' layer with the model's terms, mentions, frames and edges."""
        used = {term for step in steps for term in (step.source, step.target)}
        frames = [f for name, f in sorted(self.frames.items()) if name in used]
        mentions = [Mention(f.event, f.segment, f.start, f.end) for f in frames]
        return Events(
            terms=(*local.terms, *(t for name, t in sorted(self.terms.items()) if name in used)),
            mentions=(*local.mentions, *mentions),
            frames=tuple(sorted((*local.frames, *frames), key=lambda f: (f.segment, f.start))),
            edges=(*local.edges, *self._edges(steps)),
        )

    def _edges(self, steps: list[Aligned]) -> Iterator[Edge]:
        """Price the steps: the slots are the ranker's to weigh, an artifact pays here."""
        for step in steps:
            if step.target in self.frames:  # nobody asks for an event by the place it is told in
                continue
            artifact = step.source in self.artifacts
            yield Edge(
                source=step.source,
                target=step.target,
                relation=Relation.IMPLIES,
                family=Family.EVENT,
                operator=AbstractEvents.name,
                weight=OMEGA[Family.EVENT],
                distance=event_distance(unfilled=0, coerced=0, artifact=artifact),
                truth_preserving=False,
                confidence=step.confidence,
                licence=Licence(LicenceKind.MODEL, step.call),
            )
