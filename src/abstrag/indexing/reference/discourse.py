"""A draft as it is read: sentences in order, in stretches no reference should cross."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.segment import sentences
from abstrag.model.document import BlockKind
from abstrag.model.segment import SegmentKind

_TABLES = frozenset({SegmentKind.TABLE_CELL, SegmentKind.TABLE_ROW})
_ASIDES = frozenset({BlockKind.CAPTION, BlockKind.FOOTNOTE})
_QUOTED = 4  # words
_QUOTATION = re.compile(r"[“\"]([^”“\"]{12,}?)[”\"]")


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """Tokens `first` to before `last` of a parsed text.

    `base` is where the segment begins in the parsed text, `start` where the sentence does.
    """

    number: int
    parse: int
    first: int
    last: int
    segment: int
    paragraph: int
    base: int
    start: int
    text: str


def stretches(draft: IndexDraft) -> Iterator[list[SentenceSpan]]:
    """Go through runs of sentences that belong together.

    A section's prose is one stretch, whatever tables stand in between; each caption and footnote
    is one of its own. Tables and code refer to nothing.
    """
    assert draft.segmented is not None
    running: list[SentenceSpan] = []
    section: tuple[str, ...] | None = None
    for i, segment in enumerate(draft.segments):
        kind = draft.document.blocks[segment.block].kind
        if segment.kind in _TABLES or kind is BlockKind.CODE:
            continue
        if kind in _ASIDES:
            yield _sentences(draft, i, 0)
            continue
        if segment.section != section and running:
            yield running
            running = []
        section = segment.section
        running.extend(_sentences(draft, i, len(running)))
    if running:
        yield running


def _sentences(draft: IndexDraft, segment: int, number: int) -> list[SentenceSpan]:
    assert draft.segmented is not None
    parse, first, last = draft.segmented.tokens[segment]
    doc = draft.parses[parse]
    base = doc[first].idx if first < len(doc) else 0
    cuts = [(first, last)]
    if draft.segments[segment].kind is not SegmentKind.SENTENCE:
        cuts = [(max(a, first), min(b, last)) for a, b in sentences(doc) if a < last and first < b]
    made: list[SentenceSpan] = []
    for a, b in cuts:
        begin, end = doc[a].idx, doc[b - 1].idx + len(doc[b - 1])
        made.append(
            SentenceSpan(
                number=number + len(made),
                parse=parse,
                first=a,
                last=b,
                segment=segment,
                paragraph=draft.segments[segment].block,
                base=base,
                start=begin,
                text=draft.segments[segment].text[begin - base : end - base],
            )
        )
    return made


def quotations(text: str) -> list[tuple[int, int]]:
    """Return where a text quotes somebody, in characters; a quoted word or title does not count."""
    return [m.span(1) for m in _QUOTATION.finditer(text) if len(m.group(1).split()) >= _QUOTED]
