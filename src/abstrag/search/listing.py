"""Segments that list and tell nothing: entries of a bibliography, lines of a table of contents."""

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
_LONGEST_ENTRY: Final = 120  # words
_ABOUT_LISTS: Final = re.compile(
    r"\b(?:references?|bibliograph\w+|cit(?:e|es|ed|ing|ations?)|publications?|published|authors?|"
    r"journals?|(?:table of )?contents|chapters?|sections?|pages?|"
    r"(?:which|what|prior|other|previous|related) (?:papers?|work|studies|articles?|literature))\b",
    re.I,
)


def is_listing(segment: Segment) -> bool:
    """Tell whether a segment is an entry of a bibliography or a line of a list of contents."""
    if segment.role is SegmentRole.REFERENCES or any(
        _SECTION.match(name) for name in segment.section
    ):
        return True
    text = segment.text
    if _LEADERS.search(text):
        return True
    if segment.kind in (SegmentKind.TABLE_ROW, SegmentKind.TABLE_CELL):
        return False
    words = len(text.split())
    entry = words <= _LONGEST_ENTRY and _ENTRY.search(text) and _PUBLISHED.search(text)
    return bool(entry and _YEAR.search(text))


def asks_for_listing(question: str) -> bool:
    """Tell whether a question may be about what is listed: works, chapters, pages."""
    return _ABOUT_LISTS.search(question) is not None
