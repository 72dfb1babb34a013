"""Idx(D): the canonical index of a document, as the chain leaves it."""

from __future__ import annotations

from bisect import bisect_left

from abstrag.model.background import EMPTY, Background
from abstrag.model.context import Context, Statement
from abstrag.model.document import Document, Genre
from abstrag.model.record import record
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
