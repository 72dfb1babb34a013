"""Idx(D): the canonical index of a document, as the chain leaves it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from abstrag.config import W_ASRT, W_TRUST
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document, Genre, Span
from abstrag.model.record import Unit, record
from abstrag.model.segment import Granularity, Segment
from abstrag.model.term import AbstractionMap, Frame, Mention


@record
class Utility:
    """U(s | D) and what it is made of: U = α·U_L + NovMass·AsrtMass."""

    value: float
    layout: float
    novelty: float
    assertedness: float


@record
class Ambiguity:
    """A mention that could not be settled, at `segment.text[start:end]`, and why."""

    segment: int
    start: int
    end: int
    reason: str
    candidates: tuple[str, ...] = ()


@record
class SegmentRecord:
    """A segment with everything indexing learned about it."""

    segment: Segment
    canonical: str  # S_can(s): the text with zero-cost normalizations applied
    context: Context
    statements: tuple[Statement, ...]
    utility: Utility


@record
class DocumentIndex:
    """Idx(D): segment records, the abstraction map, and the mentions and frames that tie them."""

    document: Document
    genre: Genre
    granularity: Granularity
    records: tuple[SegmentRecord, ...]
    map: AbstractionMap
    mentions: tuple[Mention, ...]
    frames: tuple[Frame, ...]
    ambiguities: tuple[Ambiguity, ...]
    fingerprint: str  # of the operators, the Background and the settings
    background: Background = EMPTY

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The bare segments, in reading order."""
        return tuple(r.segment for r in self.records)

    def terms_in(self, segment: int, start: int, end: int) -> tuple[str, ...]:
        """Return the ids of the terms mentioned in part of a segment's text, in order.

        A statement's typed terms are those of its offsets.
        """
        first = bisect_left(self.mentions, segment, key=lambda m: m.segment)
        found: dict[str, None] = {}
        for mention in self.mentions[first:]:
            if mention.segment != segment:
                break
            if mention.header is None and start <= mention.start and mention.end <= end:
                found[mention.term] = None
        return tuple(found)


class Field(StrEnum):
    """The four parts of a context."""

    ENTITIES = "entities"
    TIME = "time"
    SCOPE = "scope"
    EVIDENCE = "evidence"


@record
class FieldValue:
    """One value of a context: what it settles, to what, how surely, and where that stands.

    It supplies at most one term; a heading that names several is there once for each.
    """

    name: str  # what is bound: a pronoun, "anchor", "section", "caption", "reference", …
    value: str
    confidence: Unit
    span: Span | None = None
    term: str | None = None


@record
class Context:
    """Entity bindings E, temporal anchor T, scope Σ and evidence profile ℰ."""

    entities: tuple[FieldValue, ...] = ()
    time: tuple[FieldValue, ...] = ()
    scope: tuple[FieldValue, ...] = ()
    evidence: tuple[FieldValue, ...] = ()

    def values(self) -> Iterator[tuple[Field, FieldValue]]:
        """Go through every value with the part it belongs to."""
        for field in Field:
            for value in getattr(self, field.value):
                yield field, value

    def to_read(self) -> Iterator[tuple[Field, FieldValue]]:
        """Go through the values as a reader needs them: a heading that names two terms once."""
        seen: set[tuple[Field, str, str]] = set()
        for field, value in self.values():
            said = field, value.name, value.value
            if said not in seen:
                seen.add(said)
                yield field, value

    def without(self, field: Field, value: FieldValue) -> Context:
        """Return the context with one value dropped."""
        kept = tuple(v for v in getattr(self, field.value) if v is not value)
        return replace(self, **{field.value: kept})


class StatementKind(StrEnum):
    """The four kinds of semantic item of appendix A."""

    CLAIM = "claim"
    PROPERTY = "property"
    CONCEPT = "concept"
    EVIDENCE = "evidence"


class Profile(StrEnum):
    """The six epistemic profiles of appendix B."""

    ESTABLISHED = "established"
    STRONG_CLAIM = "strong_claim"
    CITED_EXTERNAL = "cited_external"
    HYPOTHESIS = "hypothesis"
    DISPUTED = "disputed"
    DEFEATED = "defeated"


@record
class Statement:
    """One thing said at `segment.text[start:end]`; `cue` is what gave its profile away."""

    kind: StatementKind
    profile: Profile
    confidence: Unit
    start: int
    end: int
    cue: str = ""

    @property
    def trust(self) -> float:
        """Trust(x) = w_trust(profile) · conf(x)."""
        return W_TRUST[self.profile] * self.confidence

    @property
    def assertedness(self) -> float:
        """Asrt(x): how much the statement is put forward as a result."""
        return W_ASRT[self.profile]
