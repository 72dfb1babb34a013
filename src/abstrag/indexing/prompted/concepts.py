"""AbsConcept with a model: what words are a kind of, and which words mean the same, at a price.

The rules and WordNet run first, and all they found stays. A model extracts concepts and roles with
a broader class each, an embedding proposes synonyms (cosine 0.75), and an alignment call decides
all pairs. Every edge that comes of it is costed by the distances of appendix C. The probability of
a type given an office, which local mode can only assume, is asked for as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from abstrag.errors import ModelError
from abstrag.indexing.abstraction.nominals import class_key
from abstrag.indexing.concepts import AbstractConcepts
from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.layers import Concepts, CoreferenceLink, Entities, SuggestedLink
from abstrag.indexing.operator import IndexDraft, Layer, ReplyFault
from abstrag.indexing.prompted.alignment import Aligned, Pair, align, plan_alignment
from abstrag.indexing.prompted.merging import alike
from abstrag.indexing.prompted.prompts import Plan, TermsAt, planned
from abstrag.indexing.prompted.reader import Batch, StageReader, batches, prose
from abstrag.language.spelling import overlaps
from abstrag.language.words import key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import roles
from abstrag.lexicon.wordnet import wordnet
from abstrag.llm.budget import Batching, room
from abstrag.llm.prompt import Answered, Prompt
from abstrag.llm.shape import Percent
from abstrag.model.distances import abstraction_distance, intent_distance
from abstrag.model.record import record
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Mention, Relation, Term, TermKind
from abstrag.neural.encoder import TextEncoder

# P(type | role): how probable it is that the holder of an office is of a type (appendix C).
#
# Local mode assumes one distance for every office; a model that is asked gives the surprisal.

_ROLE_TOKENS: Final = 40  # tokens of a reply for a pair
_ROLE_PAIRS: Final = 40  # in one call, where the program sets no limit of its own


@record
class Probability:
    """P(type | role) of one pair."""

    pair: str
    probability: Percent
    context_sensitive: bool


@record
class Probabilities:
    """The reply of the program `role_probability`."""

    probabilities: tuple[Probability, ...]


def with_probabilities(
    draft: IndexDraft, layer: Concepts, prompt: Prompt, reader: StageReader
) -> Concepts:
    """Return the layer with the distance of every intent edge that a model was told about."""
    edges = _intent(layer)
    chunks = _chunks(edges, prompt)
    inputs = [_inputs(draft, layer, chunk) for chunk in chunks]
    replies = prompt.ask_many(Probabilities, inputs, max_tokens=room(inputs, _ROLE_TOKENS))
    priced: dict[tuple[str, str], Edge] = {}
    where = {m.term: m.segment for m in reversed(layer.mentions)}
    for chunk, reply in zip(chunks, replies, strict=True):
        if isinstance(reply, ModelError):
            reader.miss({where[e.source] for e in chunk if e.source in where}, reply)
            continue
        asked = {f"p{n}": edge for n, edge in enumerate(chunk, 1)}
        for said in reply.value.probabilities:
            edge = asked.get(said.pair.strip())
            if edge is None:
                reader.drop(ReplyFault.UNKNOWN_ID)
                continue
            distance = intent_distance(said.probability, context_sensitive=said.context_sensitive)
            priced[edge.source, edge.target] = replace(
                edge,
                distance=round(distance, 4),
                licence=Licence(LicenceKind.MODEL, reply.call, edge.licence.span),
            )
    kept = (
        priced.get((e.source, e.target), e) if e.family is Family.INTENT else e for e in layer.edges
    )
    return replace(layer, edges=tuple(kept))


def plan_intent(draft: IndexDraft, layer: Concepts, prompt: Prompt) -> Plan:
    """Say how many calls that takes."""
    chunks = _chunks(_intent(layer), prompt)
    inputs = [_inputs(draft, layer, chunk) for chunk in chunks]
    return planned(prompt, inputs, each=_ROLE_TOKENS)


def _intent(layer: Concepts) -> list[Edge]:
    return [e for e in layer.edges if e.family is Family.INTENT and not e.truth_preserving]


def _chunks(edges: Sequence[Edge], prompt: Prompt) -> list[Sequence[Edge]]:
    most = prompt.limit("probabilities", _ROLE_PAIRS)
    return [edges[i : i + most] for i in range(0, len(edges), most)]


def _inputs(draft: IndexDraft, layer: Concepts, edges: Sequence[Edge]) -> dict[str, Any]:
    labels = {t.id: t.label for t in layer.terms}
    pairs = [
        {"id": f"p{n}", "role": labels[e.source], "type": labels[e.target]}
        for n, e in enumerate(edges, 1)
    ]
    return {"about": draft.document.title, "pairs": pairs}


# Anaphors that a model resolved, as terms of their own with an edge that pays.
#
# "She" in segment 12 is a term that only segment 12 mentions; the edge from it to Marie Curie is
# an expression bridge with the model's call as its licence. So a search for Marie Curie finds the
# segment at a price, and nobody takes the link for something the text says. The terms join the
# map after the rules have read the document, so that the rules read it as they do without a
# model.


def with_anaphors(draft: IndexDraft, layer: Concepts) -> Concepts:
    """Return the layer with a term, a mention and an edge for every suggested link."""
    assert draft.coreference is not None
    assert draft.entities is not None
    terms: dict[str, Term] = {}
    mentions: list[Mention] = []
    edges: list[Edge] = []
    for suggested in draft.coreference.suggested:
        link = suggested.link
        if _at(draft.entities.mentions, link.segment, link.start, link.end) is not None:
            continue  # the rules know what stands there
        anaphor, meant = _anaphor(draft, link), _meant(draft, draft.entities, link)
        terms |= {t.id: t for t in (anaphor, meant)}
        mentions.append(Mention(anaphor.id, link.segment, link.start, link.end))
        edges.append(_edge(anaphor, meant, suggested))
    known = {t.id for t in layer.terms}
    return replace(
        layer,
        terms=(*layer.terms, *(t for i, t in sorted(terms.items()) if i not in known)),
        mentions=(*layer.mentions, *mentions),
        edges=(*layer.edges, *edges),
    )


def _anaphor(draft: IndexDraft, link: CoreferenceLink) -> Term:
    segment = draft.segments[link.segment]
    words = segment.text[link.start : link.end]
    # the label names the place, so that no query for "the company" takes this one for it
    where = f"@{segment.id} {link.start}"
    term = term_id(TermKind.ENTITY, f"{key(words)} {where}")
    return Term(term, TermKind.ENTITY, f"{words} {where}")


def _meant(draft: IndexDraft, known: Entities, link: CoreferenceLink) -> Term:
    """Return the entity that stands at the antecedent, or the concept its words name."""
    start, end = link.antecedent_start, link.antecedent_end
    entity = _at(known.mentions, link.antecedent_segment, start, end)
    if entity is not None:
        return next(t for t in known.terms if t.id == entity)
    words = draft.segments[link.antecedent_segment].text[start:end]
    return Term(term_id(TermKind.CONCEPT, class_key(words)), TermKind.CONCEPT, words)


def _edge(anaphor: Term, meant: Term, suggested: SuggestedLink) -> Edge:
    """Price a link: how a pronoun is spelt says nothing, so doubt takes the place of spelling."""
    confidence = suggested.link.confidence
    return Edge(
        source=anaphor.id,
        target=meant.id,
        relation=Relation.IMPLIES,
        family=Family.EXPRESSION,
        operator=ResolveCoreference.name,
        weight=OMEGA[Family.EXPRESSION],
        distance=round(DELTA_EXPR_ALIAS + 1.0 - confidence, 4),
        truth_preserving=False,
        confidence=confidence,
        licence=Licence(LicenceKind.MODEL, suggested.call),
    )


def _at(mentions: Iterable[Mention], segment: int, start: int, end: int) -> str | None:
    for mention in mentions:
        here = mention.segment == segment and mention.header is None
        if here and overlaps((mention.start, mention.end), (start, end)):
            return mention.term
    return None


# Synonyms: words of a document that an embedding finds close, for a model to decide about.

_TERMS: Final = 300  # of a document that are compared, the most frequent
_PAIRS: Final = 60  # of a document that are asked about, the closest
_WORDS: Final = 4  # longer phrases hardly recur


def synonyms(
    labels: Mapping[str, str], mentions: Iterable[Mention], encoder: TextEncoder
) -> dict[Pair, int]:
    """Return close pairs of the terms that are mentioned, each with a segment that has one."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for mention in mentions:
        if mention.term in labels and _is_word(mention.term):
            counts[mention.term] += 1
            first.setdefault(mention.term, mention.segment)
    kept = sorted(counts, key=lambda term: (-counts[term], term))[:_TERMS]
    close = alike({term: labels[term] for term in kept}, encoder, _TERMS)
    telling = [(a, b) for a, b in close if not _contained(labels[a], labels[b])][:_PAIRS]
    return {pair: first[pair[0]] for pair in telling}


def _is_word(term: str) -> bool:
    """False for a sense of WordNet and for long phrases."""
    word = term.partition(":")[2]
    return "." not in word and len(word.split()) <= _WORDS


def _contained(left: str, right: str) -> bool:
    """True when one is the other with a modifier or without: the rules have that, at no cost."""
    a, b = (f" {label.casefold()}" for label in (left, right))
    return a.endswith(b) or b.endswith(a)


# δ_abs between two expressions: Wu–Palmer where WordNet knows both, else how close they mean.

_SENSES = 3  # of each word, the most frequent


class Distances:
    """Prices concept edges; the model that proposed them has no say in it."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder

    def __call__(self, left: str, right: str, *, one_way: bool) -> float:
        """Return δ_abs of two expressions, rounded to what a cost can tell apart."""
        similar = _wu_palmer(left, right)
        cosine = None
        if similar is None:
            a, b = self._encoder.embed([left, right])
            cosine = float(a @ b)
        return round(abstraction_distance(similar, cosine, one_way=one_way), 4)


def _wu_palmer(left: str, right: str) -> float | None:
    """Return the similarity of the closest senses; None when WordNet lacks one of the two."""
    net = wordnet()
    a, b = (net.synsets(class_key(words), Pos.NOUN)[:_SENSES] for words in (left, right))
    if not a or not b:
        return None
    return max(min(1.0, net.wup(x, y)) for x in a for y in b)


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

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of concepts."""
        draft = self.local(draft)
        assert draft.concepts is not None
        reader = StageReader(draft, "concepts")
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

    def plan(self, draft: IndexDraft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        assert draft.concepts is not None
        cut = batches(draft, prose(draft), self.batching)
        labels = {t.id: t.label for t in draft.concepts.terms}
        close = list(synonyms(labels, draft.concepts.mentions, self.encoder))
        reader = StageReader(draft, "plan")
        shown = [{"segments": reader.shown(batch)} for batch in cut]
        expected = _PAIRS_A_SEGMENT * sum(len(batch.segments) for batch in cut)
        return (
            planned(self.extract, shown, each=_EACH),
            plan_alignment(self.align, close, labels, expected),
            plan_intent(draft, draft.concepts, self.probability),
        )


class _Found:
    """Concepts of a document as a model reads them, tied to terms and places."""

    def __init__(self, draft: IndexDraft, reader: StageReader) -> None:
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
                self.reader.drop(ReplyFault.NOT_ALLOWED)
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
