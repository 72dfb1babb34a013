"""What is never an answer: entries of a bibliography, mastheads, lines of a table of contents."""

from __future__ import annotations

import re
from typing import Final

from abstrag.model.segment import Segment, SegmentKind, SegmentRole

_SECTION: Final = re.compile(
    r"^\W*(?:\d+\.?\s*)?(?:references|bibliography|works cited|literature cited|"
    r"(?:table of )?contents|"
    r"index to (?:exhibits|financial statements)|exhibit index|list of (?:figures|tables))\W*$",
    re.I,
)
_LEADERS: Final = re.compile(r"(?:\.\s?){4,}\s*\d{1,4}\s*$|…\s*\d{1,4}\s*$")
_ENTRY: Final = re.compile(
    r"^\s*(?:\[?\d{1,3}[\].]?\s+)?[A-Z][\w'’-]+,?\s+(?:(?:and|&)\s+)?(?:[A-Z]\.[\s,-]*)+"
    r"|^\s*\[\d{1,3}\]\s+[A-Z]|^\s*(?:[A-Z][\w'’-]+\s+){1,3}(?:,|and|"
    r"et al)[^.]{0,200}\b(?:19|20)\d\d[a-z]?\.\s"
)
_PUBLISHED: Final = re.compile(
    r"\bIn Proceedings\b|\bProc\.|\barXiv\b|\bdoi\b|\bpp?\.\s?\d|\bpages\s+\d+|\bvol(?:ume|"
    r"\.)\s?\d|\bJournal of\b|"
    r"\bTransactions (?:on|of)\b|\bConference on\b|\bUniversity Press\b|\bTechnical report\b|https?://|\d+\s?\(\d+\)\s?:",
    re.I,
)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_MASTHEAD: Final = re.compile(
    r"\bISSN\b|\bVol(?:ume|\.)\s?\d|\bNo\.\s?\d|©|\bCopyright\b|\S+@\S+\.\w|"
    r"\bReceived\b.*\bAccepted\b|\bAll rights reserved\b|"
    r"\bCommission File Number\b|\bI\.R\.S\. Employer\b|\bCorrespondence\b|"
    r"\bFOR IMMEDIATE RELEASE\b|\bdoi:",
    re.I,
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|been|will|can|may|do|does|did|we|show\w*|propos\w+|present\w*|\w+ed)\b",
    re.I,
)
_FIRST_PAGE: Final = 1
_FEW_BLOCKS: Final = 6  # of a document without pages that may be its masthead
_LONGEST_ENTRY: Final = 120  # words


def citable(segment: Segment) -> bool:
    """Tell whether a segment may be quoted as an answer."""
    if segment.role is SegmentRole.REFERENCES or any(
        _SECTION.match(name) for name in segment.section
    ):
        return False
    text = segment.text
    if _LEADERS.search(text):
        return False
    if segment.kind in (SegmentKind.TABLE_ROW, SegmentKind.TABLE_CELL):
        return True
    words = len(text.split())
    entry = words <= _LONGEST_ENTRY and _ENTRY.search(text) and _PUBLISHED.search(text)
    if entry and _YEAR.search(text):
        return False
    first = segment.page == _FIRST_PAGE if segment.page else segment.block < _FEW_BLOCKS
    return not (first and _MASTHEAD.search(text) and not _VERB.search(text))
