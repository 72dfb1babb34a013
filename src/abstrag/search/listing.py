"""Segments that list and tell nothing: entries of a bibliography, lines of a table of contents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
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
_NUMBER: Final = re.compile(r"^\W*(?:\d+(?:\.\d+)*\W+)?")
_LINES: Final = 3  # of a list of contents, at least
_LONGEST_LINE: Final = 200  # characters
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


def listed_segments(segments: Sequence[Segment]) -> tuple[int, ...]:
    """Return which segments of a document list and tell nothing.

    Lines in a row that all come again later, each as a heading or a line of its own, are a list of
    contents: the questions at the top of a page of answers.
    """
    texts = [_bare(segment.text) for segment in segments]
    last = {text: i for i, text in enumerate(texts)}
    headed = {_bare(name): i for i, own in enumerate(segments) for name in own.section}
    below = [max(last[text], headed.get(text, 0)) for text in texts]
    found = [i for i, segment in enumerate(segments) if is_listing(segment)]
    again = [b > i and len(segments[i].text) <= _LONGEST_LINE for i, b in enumerate(below)]
    first = 0
    for comes_again, run in groupby(again):
        row = range(first, first + len(list(run)))
        first = row.stop
        plain = [below[i] for i in row if texts[i] not in headed]
        spread = all(b - a > 1 for a, b in pairwise(plain))  # a refrain comes again in one piece
        if comes_again and len(row) >= _LINES and spread:
            found += [i for i in row if below[i] >= first]
    return tuple(sorted(set(found)))


def _bare(line: str) -> str:
    """Return a line without its number."""
    return _NUMBER.sub("", line).strip().casefold()


def asks_for_listing(question: str) -> bool:
    """Tell whether a question may be about what is listed: works, chapters, pages."""
    return _ABOUT_LISTS.search(question) is not None
