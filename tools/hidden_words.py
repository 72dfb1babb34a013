"""Hidden words: a document in which some words of one passage are replaced by [MASK].

    places = named_places(hit)
    hidden = hiding(index, hit.position, places)

The passage loses the words wherever it is read: in its text, its headers, its section's name and
its canonical text, and with them the mentions and events that stand on them. All other passages
stay as they are, so that a model which remembers them reads this one alone anew.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

from abstrag.model.index import DocumentIndex, SegmentRecord
from abstrag.model.ranking import Hit, LiteralTrace
from abstrag.model.segment import Segment
from abstrag.neural.vectors import has_content
from abstrag.search.trace import ALIGN_WORDS

MASK: Final = "[MASK]"
TEXT: Final = -1  # the part of a passage that is no header
SECTION: Final = -2  # the name of its section
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|\w+|[%$€£¥°]")


@dataclass(frozen=True, slots=True, order=True)
class WordPlace:
    """A word of a passage: which part it stands in, a header's number or one of two others."""

    part: int
    start: int
    end: int


def content_places(segment: Segment) -> list[WordPlace]:
    """Return the places of all content words of a passage, its headers and its section's name."""
    return [
        WordPlace(part, match.start(), match.end())
        for part, text in _parts(segment)
        for match in _WORD.finditer(text)
        if has_content(match.group().lower())
    ]


def named_places(hit: Hit, segment: Segment) -> list[WordPlace]:
    """Return the places of the words that a hit's trace names, one mention for each query word.

    A word that is met names the word that meets it. One that is not met by itself, but whose
    condition a stated way meets, names what that way ends at. Of any other the trace names the word
    that comes nearest, whose price it pays.
    """
    every = content_places(segment)
    found: dict[WordPlace, None] = {}
    for word in hit.words:
        literal = None if word.literal is None else hit.trace.literals[word.literal]
        spans = [] if word.met else _stated(literal)
        if not spans and word.said_start is not None and word.said_end is not None:
            part = SECTION if word.in_section else TEXT if word.header is None else word.header
            spans = [(part, word.said_start, word.said_end)]
        for part, start, end in spans:
            inside = [p for p in every if p.part == part and p.start < end and start < p.end]
            found.update(dict.fromkeys(inside or [WordPlace(part, start, end)]))
    return sorted(found)


def _stated(literal: LiteralTrace | None) -> list[tuple[int, int, int]]:
    """Return where a literal is met that no words meet by a learned price."""
    if literal is None or not literal.met or literal.context is not None:
        return []
    if any(bridge.operator == ALIGN_WORDS for bridge in literal.bridges):
        return []
    mention = literal.mention
    if mention is not None and mention.header is not None:
        return [(mention.header, mention.start, mention.end)]
    place = literal.frame or mention
    return [] if place is None else [(TEXT, place.start, place.end)]


def hiding(index: DocumentIndex, position: int, places: Collection[WordPlace]) -> DocumentIndex:
    """Return an index in which words of one passage are hidden."""
    record = index.records[position]
    records = list(index.records)
    records[position] = _hidden_record(record, places)
    parts = (TEXT, SECTION, *range(len(record.segment.headers)))
    cuts = {part: sorted((p.start, p.end) for p in places if p.part == part) for part in parts}
    mentions = []
    for mention in index.mentions:
        if mention.segment == position:
            own = cuts[TEXT if mention.header is None else mention.header]
            if _touched(own, mention.start, mention.end):
                continue
            start, end = _moved(own, mention.start), _moved(own, mention.end)
            mention = replace(mention, start=start, end=end)
        mentions.append(mention)
    frames = []
    for frame in index.frames:
        if frame.segment == position:
            own = cuts[TEXT]
            if _touched(own, frame.start, frame.end):
                continue
            slots = tuple(
                replace(slot, start=_moved(own, slot.start), end=_moved(own, slot.end))
                for slot in frame.slots
                if not _touched(own, slot.start, slot.end)
            )
            start, end = _moved(own, frame.start), _moved(own, frame.end)
            frame = replace(frame, start=start, end=end, slots=slots)
        frames.append(frame)
    return replace(index, records=tuple(records), mentions=tuple(mentions), frames=tuple(frames))


def keeping(index: DocumentIndex, position: int, places: Collection[WordPlace]) -> DocumentIndex:
    """Return an index in which one passage is nothing but some of its words."""
    others = [p for p in content_places(index.segments[position]) if p not in set(places)]
    hidden = hiding(index, position, others)
    records = list(hidden.records)
    record = index.records[position]
    texts = {
        part: " ".join(text[p.start : p.end] for p in sorted(places) if p.part == part)
        for part, text in _parts(record.segment)
    }
    headers = tuple(replace(h, text=texts[i]) for i, h in enumerate(record.segment.headers))
    section = (texts[SECTION],) if record.segment.section else ()
    bare = replace(record.segment, text=texts[TEXT], headers=headers, section=section)
    records[position] = replace(record, segment=bare, canonical=texts[TEXT])
    return replace(
        hidden,
        records=tuple(records),
        mentions=tuple(
            replace(m, start=0, end=0) if m.segment == position else m for m in hidden.mentions
        ),
        frames=tuple(
            replace(f, start=0, end=0, slots=tuple(replace(s, start=0, end=0) for s in f.slots))
            if f.segment == position
            else f
            for f in hidden.frames
        ),
    )


def _hidden_record(record: SegmentRecord, places: Collection[WordPlace]) -> SegmentRecord:
    segment = record.segment
    texts = {part: _masked(text, part, places) for part, text in _parts(segment)}
    headers = tuple(replace(h, text=texts[i]) for i, h in enumerate(segment.headers))
    section = segment.section
    if section:
        section = (*section[:-1], texts[SECTION])
    changed = replace(segment, text=texts[TEXT], headers=headers, section=section)
    canonical = hidden_canonical(segment.text, record.canonical, places)
    return replace(record, segment=changed, canonical=canonical)


def hidden_canonical(text: str, canonical: str, places: Iterable[WordPlace]) -> str:
    """Return the canonical text without what stands in it for words that are hidden in the text."""
    own = [p for p in places if p.part == TEXT]
    said, written = list(_WORD.finditer(text)), list(_WORD.finditer(canonical))
    gone: set[int] = set()
    hides = [any(p.start < w.end() and w.start() < p.end for p in own) for w in said]
    same = SequenceMatcher(
        None, [w.group() for w in said], [w.group() for w in written], autojunk=False
    )
    for tag, first, last, begin, end in same.get_opcodes():
        if tag == "equal":
            gone.update(begin + i for i in range(last - first) if hides[first + i])
        elif any(hides[first:last]):
            gone.update(range(begin, end))
    for at in sorted(gone, reverse=True):
        word = written[at]
        canonical = canonical[: word.start()] + MASK + canonical[word.end() :]
    return canonical


def _masked(text: str, part: int, places: Iterable[WordPlace]) -> str:
    for place in sorted((p for p in places if p.part == part), reverse=True):
        text = text[: place.start] + MASK + text[place.end :]
    return text


def _parts(segment: Segment) -> list[tuple[int, str]]:
    """Return the parts of a passage that a model reads, each with its name."""
    section = segment.section[-1].strip() if segment.section else ""
    headers = [(i, header.text) for i, header in enumerate(segment.headers)]
    return [(SECTION, section), *headers, (TEXT, segment.text)]


def _touched(cuts: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in cuts)


def _moved(cuts: Sequence[tuple[int, int]], at: int) -> int:
    return at + sum(len(MASK) - (last - first) for first, last in cuts if last <= at)
