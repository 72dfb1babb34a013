"""Coref with a model: the rules first, then a model for the references that they left open.

What the model says is kept as suggestions. They rewrite no text and make no free mentions:
AbsConcept turns each into a term of its own with an edge that pays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.layers import Coreference, CoreferenceLink, SuggestedLink
from abstrag.indexing.operator import IndexDraft, Layer, ReplyFault
from abstrag.indexing.prompted.prompts import Plan, planned
from abstrag.indexing.prompted.reader import Batch, StageReader, batches, prose
from abstrag.language.spelling import Place
from abstrag.llm.budget import Batching
from abstrag.llm.prompt import Answered, Prompt
from abstrag.llm.shape import Percent
from abstrag.model.index import Ambiguity
from abstrag.model.record import record

_LEAD: Final = 3  # segments of the batch before, where an antecedent may stand
_LIKELY: Final = 0.5  # a link the model itself does not believe is none
_EACH: Final = 90  # tokens of a reply for a segment
_PRONOUNS: Final = frozenset(
    "he she it they him her them his its their hers theirs himself herself itself themselves "
    "this that these those we us our i me my you your one ones which who".split()
)
_DEFINITE: Final = frozenset("the this that these those such both his her its their".split())


@record
class ModelLink:
    """A reference as the program reports it."""

    segment: str
    mention: str
    antecedent_segment: str
    antecedent: str
    kind: Literal["pronoun", "description"]
    confidence: Percent


@record
class Unresolved:
    """A reference that could stand for several things."""

    segment: str
    mention: str


@record
class Links:
    """The reply of the program `coreference`."""

    links: tuple[ModelLink, ...]
    unresolved: tuple[Unresolved, ...]


@dataclass(frozen=True, slots=True)
class PromptedCoreference:
    """Link by rule, then ask about every batch in which the rules left something open."""

    prompt: Prompt
    local: ResolveCoreference = field(default_factory=ResolveCoreference)
    batching: Batching = field(default_factory=Batching)

    name: ClassVar[str] = ResolveCoreference.name
    requires: ClassVar[Layer | None] = ResolveCoreference.requires
    provides: ClassVar[Layer] = ResolveCoreference.provides
    conservative: ClassVar[bool] = True  # every rewrite is the rules'
    version: ClassVar[int] = 1

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of coreference."""
        draft = self.local(draft)
        assert draft.coreference is not None
        reader = StageReader(draft, "coreference")
        filler = _Filler(reader, draft.coreference)
        for batch, reply in reader.ask(
            self.prompt,
            Links,
            self._batches(draft),
            lambda batch: _inputs(reader, batch),
            each=_EACH,
        ):
            filler.read(batch, reply)
        return draft.with_(
            coreference=filler.layer, shortfalls=(*draft.shortfalls, *reader.shortfalls)
        )

    def plan(self, draft: IndexDraft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        reader = StageReader(draft, "coreference")
        inputs = [_inputs(reader, batch) for batch in self._batches(draft)]
        return (planned(self.prompt, inputs, each=_EACH),)

    def _batches(self, draft: IndexDraft) -> list[Batch]:
        assert draft.coreference is not None
        unsettled = {a.segment for a in draft.coreference.ambiguities}
        cut = batches(draft, prose(draft), self.batching, lead=_LEAD)
        return [batch for batch in cut if unsettled.intersection(batch.segments)]


def _inputs(reader: StageReader, batch: Batch) -> dict[str, Any]:
    """Put a batch to `coreference`, with the words that the rules left open."""
    assert reader.draft.coreference is not None
    segments = reader.draft.segments
    left = [
        {
            "segment": segments[a.segment].id,
            "mention": segments[a.segment].text[a.start : a.end],
            "candidates": list(a.candidates),
        }
        for a in reader.draft.coreference.ambiguities
        if a.segment in batch.segments
    ]
    return {"open": left, "segments": reader.shown(batch)}


class _Filler:
    """Adds what a model says to what the rules found, never in place of it."""

    def __init__(self, reader: StageReader, layer: Coreference) -> None:
        self.reader = reader
        self.layer = layer
        self.taken: dict[int, list[Place]] = {}
        for link in layer.links:
            self._take(link.segment, (link.start, link.end))

    def read(self, batch: Batch, reply: Answered[Links]) -> None:
        """Take over the links of one reply that hold water."""
        made = [
            SuggestedLink(link, reply.call)
            for said in reply.value.links
            if (link := self._link(batch, said)) is not None
        ]
        unsettled = [
            found
            for said in reply.value.unresolved
            if (found := self._unresolved(batch, said)) is not None
        ]
        self.layer = replace(
            self.layer,
            suggested=(*self.layer.suggested, *made),
            ambiguities=tuple(
                sorted((*self.layer.ambiguities, *unsettled), key=lambda a: (a.segment, a.start))
            ),
        )

    def _link(self, batch: Batch, said: ModelLink) -> CoreferenceLink | None:
        if said.confidence < _LIKELY or not _refers(said) or _pronoun(said.antecedent):
            self.reader.drop(ReplyFault.NOT_ALLOWED)
            return None
        here = self.reader.segment(said.segment, batch.segments)
        there = self.reader.segment(said.antecedent_segment, batch.shown)
        if here is None or there is None:
            return None
        mention = self.reader.place(here, said.mention, self.taken.get(here, ()))
        antecedent = self.reader.place(there, said.antecedent)
        if mention is None or antecedent is None:
            return None
        if (there, antecedent[1]) > (here, mention[0]):  # it must have been named before
            self.reader.drop(ReplyFault.NOT_ALLOWED)
            return None
        self._take(here, mention)
        return CoreferenceLink(here, *mention, there, *antecedent, said.confidence, said.kind)

    def _unresolved(self, batch: Batch, said: Unresolved) -> Ambiguity | None:
        here = self.reader.segment(said.segment, batch.segments)
        if here is None:
            return None
        known = [(a.start, a.end) for a in self.layer.ambiguities if a.segment == here]
        place = self.reader.place(here, said.mention, self.taken.get(here, ()))
        if place is None or place in known:
            return None
        return Ambiguity(here, *place, "several antecedents")

    def _take(self, segment: int, place: Place) -> None:
        self.taken.setdefault(segment, []).append(place)


def _pronoun(words: str) -> bool:
    return words.strip().casefold() in _PRONOUNS


def _refers(said: ModelLink) -> bool:
    """True for a pronoun or a definite description; a name refers by itself."""
    words = said.mention.casefold().split()
    if said.kind == "pronoun":
        return _pronoun(said.mention)
    return len(words) > 1 and words[0] in _DEFINITE
