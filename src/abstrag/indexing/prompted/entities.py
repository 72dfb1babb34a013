"""NormNE with a model: the rules first, then names that only a reader would take for one.

What rules and Background group stays grouped and free. A model adds alias edges, which pay. A
guess of the rules about a risky name stays only if the model confirms it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from abstrag.config import MERGE_CONFIRM, OMEGA
from abstrag.indexing.entities import NormalizeEntities
from abstrag.indexing.layers import Entities
from abstrag.indexing.operator import IndexDraft, Layer, ReplyFault
from abstrag.indexing.prompted.merging import (
    EACH,
    Confirmed,
    Pair,
    alike,
    confirm,
    pair_inputs,
)
from abstrag.indexing.prompted.prompts import Plan, planned
from abstrag.indexing.prompted.reader import Batch, StageReader, batches, prose
from abstrag.language.words import key, term_id
from abstrag.llm.budget import Batching
from abstrag.llm.prompt import Answered, Prompt
from abstrag.llm.shape import Percent
from abstrag.model.distances import expression_distance
from abstrag.model.index import Ambiguity
from abstrag.model.record import record
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Mention, Relation, Term, TermKind
from abstrag.neural.encoder import TextEncoder

# Risky names: surface forms that may well name two things, whatever an embedding says.

_INITIAL = re.compile(r"(?<!\w)[A-Z]\.?(?!\w)")
_ACRONYM = re.compile(r"^[A-Z][A-Z0-9&.-]{1,6}$")
_SMALL = frozenset("of the and for de on in a &".split())


@dataclass(frozen=True, slots=True)
class Risk:
    """Knows the names of a document, and which of them must not be merged on looks alone."""

    surnames: Counter[str]
    expansions: Counter[str]

    @classmethod
    def among(cls, labels: Iterable[str]) -> Risk:
        """Count what the names share: last words, and initials."""
        surnames: Counter[str] = Counter()
        expansions: Counter[str] = Counter()
        for label in sorted(set(labels)):
            words = label.split()
            if len(words) > 1:
                surnames[words[-1].casefold()] += 1
                expansions[_initials(words)] += 1
        return cls(surnames, expansions)

    def __call__(self, left: str, right: str) -> bool:
        """True when either name is a lone word, has initials, shares a surname or is an acronym."""
        return any(map(self._risky, (left, right)))

    def _risky(self, label: str) -> bool:
        words = label.split()
        return (
            len(words) < 2  # a lone word; an acronym is one too
            or _INITIAL.search(label) is not None
            or self.surnames[words[-1].casefold()] > 1
            or self._several(label)
        )

    def _several(self, label: str) -> bool:
        """True for what holds an acronym that more than one name of the document spells out."""
        letters = (w.replace(".", "") for w in label.split() if _ACRONYM.match(w))
        return any(self.expansions[w] > 1 for w in letters)


def _initials(words: Iterable[str]) -> str:
    return "".join(w[0] for w in words if w.casefold() not in _SMALL).upper()


_EACH: Final = 110  # tokens of a reply for a segment
_NAMES: Final = 40  # shown with a batch
_PAIRS: Final = 120  # looked at in one document
_MOST: Final = 40  # in one call


@record
class ModelAlias:
    """Two names that a model takes for one, or may take for one."""

    segment: str
    form: str
    name: str
    quote: str
    verdict: Literal["same", "unsure"]
    confidence: Percent


@record
class ModelAmbiguity:
    """A name with several readings."""

    segment: str
    form: str
    readings: tuple[str, ...]


@record
class Aliases:
    """The reply of the program `normalize_entities`."""

    aliases: tuple[ModelAlias, ...]
    ambiguous: tuple[ModelAmbiguity, ...]


@dataclass(frozen=True, slots=True)
class PromptedEntities:
    """Group by rule, then let a model add costed aliases; `confirm` decides what is doubtful."""

    propose: Prompt
    confirm: Prompt
    encoder: TextEncoder
    local: NormalizeEntities = field(default_factory=NormalizeEntities)
    batching: Batching = field(default_factory=Batching)

    name: ClassVar[str] = NormalizeEntities.name
    requires: ClassVar[Layer | None] = NormalizeEntities.requires
    provides: ClassVar[Layer] = NormalizeEntities.provides
    conservative: ClassVar[bool] = True  # every rewrite is the rules'
    version: ClassVar[int] = 1

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of entities."""
        draft = self.local(draft)
        assert draft.entities is not None
        reader = StageReader(draft, "entities")
        known = KnownEntities(draft, draft.entities)
        proposals = _Proposals(reader, known)
        for batch, reply in reader.ask(
            self.propose,
            Aliases,
            self._batches(draft, known),
            lambda batch: self._inputs(reader, known, batch),
            each=_EACH,
        ):
            proposals.read(batch, reply)
        doubtful = self._doubtful(known, proposals)
        said = confirm(self.confirm, reader, doubtful, known.labels, known.contexts, known.first_at)
        layer = _merged(known, draft.entities, said, proposals)
        return draft.with_(entities=layer, shortfalls=(*draft.shortfalls, *reader.shortfalls))

    def plan(self, draft: IndexDraft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        assert draft.entities is not None
        reader, known = StageReader(draft, "entities"), KnownEntities(draft, draft.entities)
        shown = [self._inputs(reader, known, b) for b in self._batches(draft, known)]
        pairs = self._doubtful(known, _Proposals(reader, known))
        most = self.confirm.limit("verdicts", _MOST)
        doubtful = pair_inputs(pairs, known.labels, known.contexts, most)
        return (
            planned(self.propose, shown, each=_EACH),
            planned(self.confirm, doubtful, each=EACH, exact=False),
        )

    def _batches(self, draft: IndexDraft, known: KnownEntities) -> list[Batch]:
        """Only what names something is asked about."""
        cut = batches(draft, prose(draft), self.batching)
        return [batch for batch in cut if any(known.named_in(i) for i in batch.segments)]

    def _inputs(self, reader: StageReader, known: KnownEntities, batch: Batch) -> dict[str, Any]:
        here = [term for i in batch.segments for term in known.named_in(i)]
        names = dict.fromkeys([*here, *known.frequent])
        listed = [known.labels[term] for term in names][:_NAMES]
        return {"names": listed, "segments": reader.shown(batch)}

    def _doubtful(self, known: KnownEntities, proposals: _Proposals) -> list[Pair]:
        """Return the pairs to confirm: what rules, model or embedding propose, in that order."""
        pairs = [*known.guesses, *proposals.doubtful, *alike(known.labels, self.encoder, _PAIRS)]
        ordered = dict.fromkeys((min(p), max(p)) for p in pairs)
        return [p for p in ordered if p not in proposals.believed][:_PAIRS]


class KnownEntities:
    """The entities that a draft mentions: what they are called, where first, and in what words."""

    def __init__(self, draft: IndexDraft, layer: Entities) -> None:
        own = {t.id: t for t in layer.terms if t.kind is TermKind.ENTITY}
        self.first_at: dict[str, int] = {}
        self._in: dict[int, dict[str, None]] = {}
        counts: dict[str, int] = {}
        for mention in layer.mentions:
            if mention.term in own:
                self.first_at.setdefault(mention.term, mention.segment)
                self._in.setdefault(mention.segment, {})[mention.term] = None
                counts[mention.term] = counts.get(mention.term, 0) + 1
        self.labels = {term: own[term].label for term in self.first_at}
        self.contexts = {term: draft.segments[at].text for term, at in self.first_at.items()}
        self.frequent = sorted(counts, key=lambda term: (-counts[term], term))
        self.by_key: dict[str, str] = {}
        for term in self.labels:
            for surface in (own[term].label, *own[term].surfaces):
                self.by_key.setdefault(key(surface), term)
        self.guesses: list[Pair] = sorted(
            {
                (min(e.source, e.target), max(e.source, e.target))
                for e in layer.edges
                if _is_guess(e) and e.source in self.labels and e.target in self.labels
            }
        )
        self.risky = Risk.among(self.labels.values())

    def named_in(self, segment: int) -> Iterable[str]:
        """Return the entities of a segment."""
        return self._in.get(segment, ())


class _Proposals:
    """Pairs that a model proposes: believed at once, or to be confirmed."""

    def __init__(self, reader: StageReader, known: KnownEntities) -> None:
        self.reader = reader
        self.known = known
        self.believed: dict[Pair, Confirmed] = {}
        self.doubtful: dict[Pair, None] = {}
        self.terms: dict[str, Term] = {}
        self.mentions: dict[Mention, None] = {}
        self.ambiguities: list[Ambiguity] = []

    def read(self, batch: Batch, reply: Answered[Aliases]) -> None:
        """Take over what one reply says about names that are there."""
        for said in reply.value.aliases:
            self._alias(batch, said, reply.call)
        for unsure in reply.value.ambiguous:
            self._ambiguous(batch, unsure)

    def _alias(self, batch: Batch, said: ModelAlias, call: str) -> None:
        segment = self.reader.segment(said.segment, batch.segments)
        if segment is None or self.reader.place(segment, said.quote) is None:
            return
        form, name = self._term(segment, said.form), self._term(segment, said.name)
        if form is None or name is None or form == name:
            return
        pair = (min(form, name), max(form, name))
        sure = said.verdict == "same" and said.confidence >= MERGE_CONFIRM
        if sure and not self.known.risky(said.form, said.name):
            self.believed.setdefault(pair, Confirmed(True, said.confidence, call))
        else:
            self.doubtful[pair] = None

    def _term(self, segment: int, name: str) -> str | None:
        """Return the entity a name stands for; one that only the segment has becomes a term."""
        found = self.known.by_key.get(key(name))
        if found is not None:
            return found
        place = self.reader.place(segment, name)
        if place is None:
            return None
        if not any(c.isupper() or c.isdigit() for c in name):  # a common noun is no name
            self.reader.drop(ReplyFault.NOT_ALLOWED)
            return None
        made = Term(term_id(TermKind.ENTITY, key(name)), TermKind.ENTITY, name, (name,))
        self.terms[made.id] = made
        self.mentions[Mention(made.id, segment, *place)] = None
        self.known.by_key[key(name)] = made.id
        self.known.labels[made.id] = name
        self.known.first_at[made.id] = segment
        self.known.contexts[made.id] = self.reader.draft.segments[segment].text
        return made.id

    def _ambiguous(self, batch: Batch, said: ModelAmbiguity) -> None:
        segment = self.reader.segment(said.segment, batch.segments)
        place = None if segment is None else self.reader.place(segment, said.form)
        if segment is None or place is None:
            return
        labels, by_key = self.known.labels, self.known.by_key
        terms = {by_key[key(r)] for r in said.readings if key(r) in by_key}
        if len(terms) > 1:
            readings = tuple(sorted(labels[term] for term in terms))
            self.ambiguities.append(
                Ambiguity(segment, *place, "a name for several things", readings)
            )


def _merged(
    known: KnownEntities, layer: Entities, said: Mapping[Pair, Confirmed], proposals: _Proposals
) -> Entities:
    """Add the confirmed pairs, and withdraw the guesses that were asked about in vain."""
    refused = {pair for pair in known.guesses if pair in said and not said[pair].same}
    kept = [
        e
        for e in layer.edges
        if not _is_guess(e) or (min(e.source, e.target), max(e.source, e.target)) not in refused
    ]
    confirmed = {**{p: c for p, c in said.items() if c.same}, **proposals.believed}
    used = {term for pair in confirmed for term in pair}
    edges = [*kept, *(e for p, c in sorted(confirmed.items()) for e in _edges(known, p, c))]
    taken = [(m.segment, m.start, m.end) for m in layer.mentions if m.header is None]
    new = [
        m
        for m in proposals.mentions
        if m.term in used
        and not any(s == m.segment and a < m.end and m.start < b for s, a, b in taken)
    ]
    return replace(
        layer,
        terms=(*layer.terms, *(t for i, t in sorted(proposals.terms.items()) if i in used)),
        mentions=tuple(sorted((*layer.mentions, *new), key=_place)),
        edges=tuple(sorted(edges, key=lambda e: (e.source, e.target, e.relation))),
        ambiguities=(*layer.ambiguities, *proposals.ambiguities),
    )


def _edges(known: KnownEntities, pair: Pair, confirmed: Confirmed) -> Iterator[Edge]:
    """Make the two directed edges of a confirmed pair; a model never merges two nodes."""
    for source, target in (pair, pair[::-1]):
        distance = expression_distance(
            key(known.labels[source]), key(known.labels[target]), guessed=True
        )
        yield Edge(
            source=source,
            target=target,
            relation=Relation.IMPLIES,
            family=Family.EXPRESSION,
            operator=NormalizeEntities.name,
            weight=OMEGA[Family.EXPRESSION],
            distance=round(distance, 4),
            truth_preserving=False,
            confidence=confirmed.confidence,
            licence=Licence(LicenceKind.MODEL, confirmed.call),
        )


def _is_guess(edge: Edge) -> bool:
    return edge.family is Family.EXPRESSION and not edge.truth_preserving


def _place(mention: Mention) -> tuple[int, int, int, int, str]:
    header = -1 if mention.header is None else mention.header
    return mention.segment, header, mention.start, mention.end, mention.term
