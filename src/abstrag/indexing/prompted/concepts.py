"""AbsConcept with a model: what words are a kind of, and which words mean the same, at a price.

The rules and WordNet run first, and all they found stays. A model extracts concepts and roles with
a broader class each, an embedding proposes synonyms (cosine 0.75), and an alignment call decides
all pairs. Every edge that comes of it is costed by the distances of appendix C. The probability of
a type given an office, which local mode can only assume, is asked for as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from abstrag.config import OMEGA
from abstrag.indexing.abstraction.nominals import class_key
from abstrag.indexing.concepts import AbstractConcepts
from abstrag.indexing.layers import Concepts
from abstrag.indexing.operator import Draft, Layer
from abstrag.indexing.prompted.alignment import Aligned, Pair, align, plan_alignment
from abstrag.indexing.prompted.anaphors import with_anaphors
from abstrag.indexing.prompted.intent import plan_intent, with_probabilities
from abstrag.indexing.prompted.plan import Plan, planned
from abstrag.indexing.prompted.reader import Batch, Reader, batches, prose
from abstrag.indexing.prompted.synonyms import synonyms
from abstrag.indexing.prompted.taxonomy import Distances
from abstrag.indexing.prompted.terms import TermsAt
from abstrag.indexing.shortfall import Fault
from abstrag.language.keys import key, term_id
from abstrag.lexicon.roles import roles
from abstrag.llm.ask import Answered
from abstrag.llm.batching import Batching
from abstrag.llm.prompt import Prompt
from abstrag.model.record import record
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Mention, Relation, Term, TermKind
from abstrag.neural.encoder import TextEncoder

_EACH: Final = 130  # tokens of a reply for a segment
_PAIRS_A_SEGMENT: Final = 1  # that a plan expects a model to propose


@record
class ModelConcept:
    """A concept or role as the program reports it."""

    segment: str
    quote: str
    kind: Literal["concept", "role"]
    broader: str


@record
class ExtractedConcepts:
    """The reply of the program `extract_concepts`."""

    concepts: tuple[ModelConcept, ...]


@dataclass(frozen=True, slots=True)
class PromptedConcepts:
    """Find and link concepts by rule, then add a model's classes and synonyms as costed edges."""

    extract: Prompt
    align: Prompt
    probability: Prompt
    encoder: TextEncoder
    local: AbstractConcepts = field(default_factory=AbstractConcepts)
    batching: Batching = field(default_factory=Batching)

    name: ClassVar[str] = AbstractConcepts.name
    requires: ClassVar[Layer | None] = AbstractConcepts.requires
    provides: ClassVar[Layer] = AbstractConcepts.provides
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 1

    def __call__(self, draft: Draft) -> Draft:
        """Add the layer of concepts."""
        draft = self.local(draft)
        assert draft.concepts is not None
        reader = Reader(draft, "concepts")
        found = _Found(draft, reader)
        for batch, reply in reader.ask(
            self.extract,
            ExtractedConcepts,
            batches(draft, prose(draft), self.batching),
            lambda batch: {"segments": reader.shown(batch)},
            each=_EACH,
        ):
            found.read(batch, reply)
        close = synonyms(found.labels, draft.concepts.mentions, self.encoder)
        steps = align(self.align, reader, {**close, **found.pairs}, found.labels)
        layer = found.layer(draft.concepts, steps, Distances(self.encoder))
        layer = with_probabilities(draft, layer, self.probability, reader)
        layer = with_anaphors(draft, layer)
        return draft.with_(concepts=layer, shortfalls=(*draft.shortfalls, *reader.shortfalls))

    def plan(self, draft: Draft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        assert draft.concepts is not None
        cut = batches(draft, prose(draft), self.batching)
        labels = {t.id: t.label for t in draft.concepts.terms}
        close = list(synonyms(labels, draft.concepts.mentions, self.encoder))
        reader = Reader(draft, "plan")
        shown = [{"segments": reader.shown(batch)} for batch in cut]
        expected = _PAIRS_A_SEGMENT * sum(len(batch.segments) for batch in cut)
        return (
            planned(self.extract, shown, each=_EACH),
            plan_alignment(self.align, close, labels, expected),
            plan_intent(draft, draft.concepts, self.probability),
        )


class _Found:
    """Concepts of a document as a model reads them, tied to terms and places."""

    def __init__(self, draft: Draft, reader: Reader) -> None:
        assert draft.concepts is not None
        self.reader = reader
        self.at = TermsAt(draft)
        self.labels = {t.id: t.label for t in self.at.terms.values()}
        self.terms: dict[str, Term] = {}
        self.mentions: dict[Mention, None] = {}
        self.pairs: dict[Pair, int] = {}  # with the segment they come from

    def read(self, batch: Batch, reply: Answered[ExtractedConcepts]) -> None:
        """Note what one reply says of words that are there."""
        for said in reply.value.concepts:
            segment = self.reader.segment(said.segment, batch.segments)
            place = None if segment is None else self.reader.place(segment, said.quote)
            if segment is None or place is None:
                continue
            kind = TermKind(said.kind)
            source = self.at.term(segment, place) or self._named(kind, said.quote)
            target = self._named(kind, said.broader) if said.broader.strip() else source
            if source is None or target is None:
                self.reader.drop(Fault.NOT_ALLOWED)
                continue
            if source in self.terms:
                self.mentions[Mention(source, segment, *place)] = None
            if source != target:
                self.pairs.setdefault((source, target), segment)

    def _named(self, kind: TermKind, words: str) -> str | None:
        """Return the term that words name, made if need be; None for words that name nothing."""
        name = class_key(words.strip())
        if not any(c.isalpha() for c in name):
            return None
        role = roles().find(key(words)) if kind is TermKind.ROLE else None
        term = term_id(kind, role.key if role else name)
        if term not in self.labels:
            self.labels[term] = words.strip()
            self.terms[term] = Term(term, kind, words.strip(), (words.strip(),))
        return term

    def layer(self, local: Concepts, steps: list[Aligned], distances: Distances) -> Concepts:
        """Return the rules' layer with the model's terms, mentions and edges."""
        used = {term for step in steps for term in (step.source, step.target)}
        terms = [term for name, term in sorted(self.terms.items()) if name in used]
        mentions = [m for m in self.mentions if m.term in used]
        edges = _edges(steps, self.labels, distances)
        return Concepts(
            terms=(*local.terms, *terms),
            mentions=tuple(dict.fromkeys((*local.mentions, *mentions))),
            edges=(*local.edges, *edges),
        )


def _edges(steps: list[Aligned], labels: Mapping[str, str], distances: Distances) -> Iterator[Edge]:
    for step in steps:
        distance = distances(labels[step.source], labels[step.target], one_way=not step.mutual)
        yield Edge(
            source=step.source,
            target=step.target,
            relation=Relation.IMPLIES,
            family=Family.CONCEPT,
            operator=AbstractConcepts.name,
            weight=OMEGA[Family.CONCEPT],
            distance=distance,
            truth_preserving=False,
            confidence=step.confidence,
            licence=Licence(LicenceKind.MODEL, step.call),
        )
