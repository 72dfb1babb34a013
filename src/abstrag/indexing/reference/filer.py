"""Who "the Company", "we" and "our" are in a filing: the one that its cover names as the filer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.documents.cover import cover_of
from abstrag.indexing.naming.mentions import PlacedName
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.reference.discourse import quotations
from abstrag.model.document import BlockKind
from abstrag.model.segment import SegmentKind

_ANAPHOR: Final = re.compile(
    r"(?<![\w“”\"'‘’-])(?:(?P<owns>[Oo]ur)|(?P<says>[Ww]e|us|ours)|[Tt]he (?:Company|Registrant))"
    r"(?![\w”\"-])"
)
_QUOTE_ENDS: Final = re.compile(r"^\s*(?:,\s*)?[”\"]")
_LEGAL: Final = frozenset(
    "inc incorporated corp corporation co company plc ltd limited llc lp sa ag nv se the".split()
)
_NOT_PROSE: Final = frozenset({SegmentKind.TABLE_CELL, SegmentKind.TABLE_ROW})


@dataclass(frozen=True, slots=True)
class FilerAnaphor:
    """Where a segment speaks of the filer without its name."""

    segment: int
    start: int
    end: int
    owns: bool
    described: bool  # "the Company", which is no pronoun


def filer_mention(draft: IndexDraft, names: Sequence[PlacedName]) -> PlacedName | None:
    """Return the first mention of the filer by the name it is called most, None without a cover."""
    document = draft.document
    cover = cover_of(document.text, document.blocks)
    if cover is None or not cover.company:
        return None
    own = name_words(cover.company)
    called = [m for m in names if m.text.strip() and name_words(m.text) == own]
    if not called:
        return None
    usual, _ = Counter(m.text for m in called).most_common(1)[0]
    return next(m for m in called if m.text == usual)


def name_words(name: str) -> tuple[str, ...]:
    """Return what tells a company's name from others: its words less those of its legal form."""
    words = re.findall(r"[\w&]+", name.casefold())
    return tuple(word for word in words if word not in _LEGAL) or tuple(words)


def filer_anaphors(draft: IndexDraft) -> Iterator[FilerAnaphor]:
    """Go through what stands for the filer; a person who is quoted speaks for somebody else."""
    for i, segment in enumerate(draft.segments):
        if segment.kind in _NOT_PROSE:
            continue
        if draft.document.blocks[segment.block].kind is BlockKind.CODE:
            continue
        quoted = quotations(segment.text)
        for found in _ANAPHOR.finditer(segment.text):
            described = not (found["owns"] or found["says"])
            inside = any(a <= found.start() < b for a, b in quoted)
            if inside and not described:
                continue
            if _QUOTE_ENDS.match(segment.text[found.end() :]):
                continue  # the text says what the words mean
            owns = bool(found["owns"]) or found["says"] == "ours"
            yield FilerAnaphor(i, found.start(), found.end(), owns, described)
