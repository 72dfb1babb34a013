"""What of a document may be quoted as an answer, and what only leads to its text.

An entry of a bibliography, a masthead, a list of links and a line of a table of contents name what
is said elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

from abstrag.model.document import Block
from abstrag.model.segment import Segment, SegmentKind
from abstrag.search.listing import is_listing

_LINKS: Final = re.compile(
    r"^\W*(?:notes and references|citations|sources|(?:foot|end)notes|external links|"
    r"further reading|see also)\W*$",
    re.I,
)
_LOOKED_UP: Final = re.compile(r"^\W*(?:Retrieved|Accessed|Archived)\b.*\b(?:19|20)\d\d\b")
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
_CONTENTS: Final = re.compile(r"\b(?:contents|index)\W*$", re.I)
_PAGES: Final = re.compile(r"^\W*pages?(?:\s+(?:no\.?|numbers?))?\W*$", re.I)
_PAGE: Final = re.compile(r"^\d{1,4}$")
_LEAST_LINES: Final = 3  # of a list of contents


def citable(segment: Segment) -> bool:
    """Tell whether a segment may be quoted as an answer."""
    if is_listing(segment) or any(map(_LINKS.match, segment.section)):
        return False
    text = segment.text
    if _LOOKED_UP.match(text):
        return False
    if segment.kind in (SegmentKind.TABLE_ROW, SegmentKind.TABLE_CELL):
        return True
    first = segment.page == _FIRST_PAGE if segment.page else segment.block < _FEW_BLOCKS
    return not (first and _MASTHEAD.search(text) and not _VERB.search(text))


def lists_contents(block: Block) -> bool:
    """Tell whether a block is a list of contents: names, and behind them pages in their order."""
    cells = block.table.cells if block.table else ()
    last = max((one.column for one in cells), default=0)
    column = [one for one in cells if one.column == last and one.text.strip()]
    headed = any(_PAGES.match(one.text) for one in column)
    pages = [int(one.text) for one in column if _PAGE.match(one.text.strip())]
    named = headed or any(_CONTENTS.search(name) for name in block.section)
    only = len(pages) == len(column) - headed and len(pages) >= _LEAST_LINES
    return named and only and pages == sorted(pages)
