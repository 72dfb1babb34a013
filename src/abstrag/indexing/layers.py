"""What each operator of the chain leaves behind: one frozen record per layer.

A layer can be written to the store and read back, so that a changed operator re-runs only what
comes after it. Only the layers of zero-cost operators have `rewrites`: canonical text cannot be
changed by anything else.
"""

from __future__ import annotations

from abstrag.model.document import Genre
from abstrag.model.index import Ambiguity, Context, Statement
from abstrag.model.record import record
from abstrag.model.segment import Granularity, Segment
from abstrag.model.term import AbstractionMap, Edge, Frame, Interval, Mention, Term


@record
class Rewrite:
    """Canonical text reads `text` where the segment has `segment.text[start:end]`."""

    segment: int
    start: int
    end: int
    text: str


@record
class Segments:
    """Seg_L: the segments, and which tokens of which parsed text each of them covers."""

    genre: Genre
    granularity: Granularity
    segments: tuple[Segment, ...]
    tokens: tuple[tuple[int, int, int], ...]  # parsed text, first token, token after the last


@record
class CoreferenceLink:
    """An anaphor and the mention it stands for, both as segment and offsets in its text."""

    segment: int
    start: int
    end: int
    antecedent_segment: int
    antecedent_start: int
    antecedent_end: int
    confidence: float
    kind: str  # pronoun or description


@record
class SuggestedLink:
    """A link that a model's call suggests; it rewrites nothing, and whoever uses it pays."""

    link: CoreferenceLink
    call: str


@record
class Coreference:
    """Coref: what pronouns and definite descriptions stand for, and what stayed open."""

    links: tuple[CoreferenceLink, ...]
    ambiguities: tuple[Ambiguity, ...]
    rewrites: tuple[Rewrite, ...]
    suggested: tuple[SuggestedLink, ...] = ()


@record
class Entities:
    """NormNE: canonical entities with their mentions, and the alias edges that made them one."""

    terms: tuple[Term, ...]
    mentions: tuple[Mention, ...]
    edges: tuple[Edge, ...]
    ambiguities: tuple[Ambiguity, ...]
    rewrites: tuple[Rewrite, ...]


@record
class TimeMention:
    """A time expression at `segment.text[start:end]`; `interval` is None when unresolved."""

    segment: int
    start: int
    end: int
    interval: Interval | None
    relative: bool  # it needed the anchor
    header: int | None = None


@record
class TimeLayer:
    """NormTime: the anchor, every time expression, and the intervals as terms."""

    anchor: str | None
    expressions: tuple[TimeMention, ...]
    terms: tuple[Term, ...]
    mentions: tuple[Mention, ...]
    ambiguities: tuple[Ambiguity, ...]
    rewrites: tuple[Rewrite, ...]


@record
class Contexts:
    """LiftCtx: statements and the minimal sufficient context of every segment."""

    contexts: tuple[Context, ...]
    statements: tuple[tuple[Statement, ...], ...]
    ambiguities: tuple[Ambiguity, ...] = ()  # what a judge of contexts found missing


@record
class Concepts:
    """AbsConcept: concepts, roles and quantities with their mentions and edges."""

    terms: tuple[Term, ...]
    mentions: tuple[Mention, ...]
    edges: tuple[Edge, ...]


@record
class Events:
    """AbsEvent: events with their mentions, frames and edges."""

    terms: tuple[Term, ...]
    mentions: tuple[Mention, ...]
    frames: tuple[Frame, ...]
    edges: tuple[Edge, ...]


@record
class Map:
    """BuildMap: the abstraction map and all mentions, merged, sorted and checked."""

    map: AbstractionMap
    mentions: tuple[Mention, ...]
    frames: tuple[Frame, ...]
