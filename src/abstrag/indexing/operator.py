"""What an index-side operator is, and how operators become a chain (section 3.4, Eq. 4).

A shortfall is what a model was asked for and did not give, or gave and could not be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from abstrag.errors import ChainError
from abstrag.indexing.layers import (
    Concepts,
    Contexts,
    Coreference,
    Entities,
    Events,
    Map,
    Segments,
    TimeLayer,
)
from abstrag.model.document import Document
from abstrag.model.index import Ambiguity
from abstrag.model.record import record
from abstrag.model.segment import Segment

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as Tokens

WITHOUT: Final = "without "  # how an ambiguity begins that stands for a missed segment


class Layer(StrEnum):
    """What has been established about a draft; the value is the draft's field."""

    SEGMENTS = "segmented"
    COREFERENCE = "coreference"
    ENTITIES = "entities"
    TIMES = "times"
    CONTEXTS = "contexts"
    CONCEPTS = "concepts"
    EVENTS = "events"
    MAP = "mapped"


LAYER_RECORDS: Final[dict[Layer, type]] = {
    Layer.SEGMENTS: Segments,
    Layer.COREFERENCE: Coreference,
    Layer.ENTITIES: Entities,
    Layer.TIMES: TimeLayer,
    Layer.CONTEXTS: Contexts,
    Layer.CONCEPTS: Concepts,
    Layer.EVENTS: Events,
    Layer.MAP: Map,
}


@dataclass(frozen=True, slots=True)
class IndexDraft:
    """An index under construction. Operators return a new draft; none edits one.

    `parses` are the parsed texts; the other fields are the layers, in chain order. Reading a layer
    that is not there yet is a programming error, which a built chain rules out. `shortfalls` is
    what a model was asked for and did not give, or gave and could not be used.
    """

    document: Document
    parses: tuple[Doc, ...] = ()
    segmented: Segments | None = None
    coreference: Coreference | None = None
    entities: Entities | None = None
    times: TimeLayer | None = None
    contexts: Contexts | None = None
    concepts: Concepts | None = None
    events: Events | None = None
    mapped: Map | None = None
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments, once Seg_L has run."""
        assert self.segmented is not None
        return self.segmented.segments

    @property
    def layers(self) -> tuple[object, ...]:
        """The layers that are there, in chain order."""
        return tuple(made for each in Layer if (made := getattr(self, each.value)) is not None)

    def tokens(self, segment: int) -> Tokens:
        """Return the parsed tokens of a segment; offsets are those of its parsed text."""
        assert self.segmented is not None
        text, first, last = self.segmented.tokens[segment]
        return self.parses[text][first:last]

    def with_(self, **layers: Any) -> IndexDraft:
        """Return a draft with more layers."""
        return replace(self, **layers)


class Operator(Protocol):
    """One step of the chain: a frozen dataclass whose fields are its settings."""

    name: ClassVar[str]
    requires: ClassVar[Layer | None]  # the predecessor's layer
    provides: ClassVar[Layer]
    conservative: ClassVar[bool]  # zero-cost and truth-preserving: may rewrite canonical text
    version: ClassVar[int]  # raise it when the same settings give another result

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Return the draft with this operator's layer added."""
        ...


class Chain:
    """Operators applied left to right; the order is checked when the chain is built."""

    def __init__(self, *operators: Operator) -> None:
        have: list[Layer] = []
        for op in operators:
            if op.provides in have:
                raise ChainError(f"operator {op.name!r} would run twice in one chain")
            if op.requires is not None and op.requires not in have:
                raise ChainError(
                    f"operator {op.name!r} needs the layer {op.requires.value!r}; "
                    f"the chain has {', '.join(have) or 'nothing'} at that point",
                    hint=f"put the operator that provides {op.requires.value!r} before it",
                )
            if Layer.MAP in have:
                raise ChainError(
                    f"operator {op.name!r} comes after the map, which would lack what it finds",
                    hint="put the operator that provides 'mapped' last",
                )
            have.append(op.provides)
        self.operators = operators

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Run every operator."""
        for op in self.operators:
            draft = op(draft)
        return draft

    def __rshift__(self, op: Operator) -> Chain:
        """Return a chain with one more operator at the end."""
        return Chain(*self.operators, op)

    def __repr__(self) -> str:
        return " >> ".join(op.name for op in self.operators)

    def fingerprints(self) -> tuple[str, ...]:
        """One hash per operator, each covering the operator and all before it."""
        prints: list[str] = []
        for op in self.operators:
            before = prints[-1] if prints else ""
            prints.append(sha256(f"{before}|{op.version}|{op!r}".encode()).hexdigest())
        return tuple(prints)


class ReplyFault(StrEnum):
    """What is wrong with a reply, or with a part of one."""

    MISSED = "missed"  # no usable reply at all
    UNKNOWN_ID = "unknown_id"  # it speaks of an id that it was not given
    NOT_QUOTED = "not_quoted"  # it quotes words that are not in the text
    NOT_ALLOWED = "not_allowed"  # it claims what this stage cannot know


@record
class Shortfall:
    """So many answers of one stage had one fault; a missed segment is one shortfall each."""

    what: str  # coreference, statements, contexts, …
    fault: ReplyFault
    count: int = 1
    segment: int | None = None
    why: str = ""

    @property
    def missed(self) -> bool:
        """True when a segment went without, so that asking again may help."""
        return self.fault is ReplyFault.MISSED


def as_ambiguities(
    shortfalls: Iterable[Shortfall], segments: tuple[Segment, ...]
) -> Iterator[Ambiguity]:
    """Turn missed segments into open questions, which the index keeps and `show` lists."""
    for short in shortfalls:
        if short.missed and short.segment is not None:
            text = segments[short.segment].text
            yield Ambiguity(short.segment, 0, len(text), WITHOUT + short.what, (short.why,))


def missed_segments(ambiguities: Iterable[Ambiguity]) -> dict[str, int]:
    """Return how many segments of an index went without what."""
    found: dict[str, set[int]] = {}
    for one in ambiguities:
        if one.reason.startswith(WITHOUT):
            found.setdefault(one.reason.removeprefix(WITHOUT), set()).add(one.segment)
    return {what: len(segments) for what, segments in sorted(found.items())}
