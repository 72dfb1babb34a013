"""role_L: which part of its document a block plays, from headings, kind, position and cues."""

from __future__ import annotations

import re
from typing import Final

from abstrag.model.document import Block, BlockKind, Genre
from abstrag.model.segment import SegmentRole

_NUMBERING: Final = re.compile(
    r"^\s*(?:(?:section|chapter|part|appendix)\s+)?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.):]?\s+", re.I
)
# Tried in this order on each heading of the path, innermost first.
_HEADINGS: Final[tuple[tuple[SegmentRole, re.Pattern[str]], ...]] = tuple(
    (role, re.compile(pattern, re.I))
    for role, pattern in (
        (SegmentRole.REFERENCES, r"^(?:references|bibliography|works cited|literature cited)\b"),
        (
            SegmentRole.APPENDIX,
            r"^(?:appendi(?:x|ces)|supplement(?:ary|al)?\b|annex\b|exhibits?\b)",
        ),
        (SegmentRole.ABSTRACT, r"^(?:abstract|summary|executive summary|synopsis|highlights)\b"),
        (SegmentRole.CONCLUSION, r"\b(?:conclusions?|concluding|closing remarks|future work)\b"),
        (
            SegmentRole.DISCUSSION,
            r"\b(?:discussion|limitations?|implications|threats to validity|ethic)",
        ),
        (
            SegmentRole.BACKGROUND,
            r"\b(?:background|related work|prior work|previous work|preliminaries|literature"
            r" review|state of the art|motivation|overview of the literature)\b",
        ),
        (SegmentRole.INTRODUCTION, r"^(?:introduction|overview|about|preface|foreword)\b"),
        (
            SegmentRole.RESULTS,
            r"\b(?:results?|findings|evaluation|experiments?|performance|analysis|analyses|"
            r"ablations?|comparison|outcomes?|case stud(?:y|ies))\b",
        ),
        (
            SegmentRole.METHODS,
            r"\b(?:methods?|methodology|approach|model|architecture|design|implementation|"
            r"algorithm|system|materials|procedure|training|data ?sets?|corpus|data collection|"
            r"setup|set-up|settings?|participants|protocol|framework)\b",
        ),
    )
)
# The labels of a structured abstract: "METHODS: We enrolled …", "Results. All …".
_LABEL: Final = re.compile(
    r"^(?P<label>[A-Z][A-Za-z &/]{3,40}?)\s*(?::|\.(?=\s+[A-Z])|—)\s*(?=\S)", re.ASCII
)


def role_of_heading(heading: str) -> SegmentRole | None:
    """Return the role a heading announces, if it announces one."""
    bare = _NUMBERING.sub("", heading).strip()
    if re.match(r"^\s*appendix\b", heading, re.I):
        return SegmentRole.APPENDIX
    for role, pattern in _HEADINGS:
        if pattern.search(bare):
            return role
    return None


def role_of_label(text: str) -> SegmentRole | None:
    """Return the role a structured-abstract label at the start of a text announces."""
    match = _LABEL.match(text)
    if not match:
        return None
    label = match.group("label")
    return role_of_heading(label) if label.isupper() or len(label.split()) <= 3 else None


def role_of_block(block: Block, genre: Genre) -> SegmentRole:
    """Return the role of everything in a block, before cues inside it are looked at."""
    page_local = genre is Genre.PAGE_LOCAL
    if block.kind is BlockKind.CAPTION:
        return SegmentRole.CAPTION
    if block.kind is BlockKind.TABLE:
        return SegmentRole.CELL if page_local else SegmentRole.TABLE
    for heading in reversed(block.section):
        if role := role_of_heading(heading):
            return role
    if genre is Genre.ABSTRACT_ONLY:
        return SegmentRole.ABSTRACT
    return SegmentRole.TEXT if page_local else SegmentRole.OTHER
