"""What the first page says about the whole: its title and its date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.documents.dates import FoundDate, find_date, parse_date
from abstrag.documents.pdf_layout.draft import BlockDraft
from abstrag.documents.pdf_layout.headings import BodyStyle
from abstrag.model.document import BlockKind

_LARGE: Final = 1.15  # of the body's size
_NEARLY: Final = 0.65  # of the largest text on the page
_WORDS: Final = 3  # in a title that is not the largest text
_LONGEST: Final = 300
_NAME_LIKE: Final = re.compile(
    r"[\w./\\() -]*\.(?:docx?|pdf|tex|dvi|indd|qxd|rtf|odt|html?|pptx?|xlsx?)|[\d\W_]+|untitled.*"
    r"|microsoft \w+ - .*|(?:slide|page|document|report|scan)\s*\d*",
    re.IGNORECASE,
)
_DATE_WORD: Final = re.compile(
    r"(?:(?:last\s+)?(?:updated|revised|modified)|dated?|published|released|issued|posted|submitted"
    r"|accepted|version|on|draft|of|the|as|(?:mon|tues|wednes|thurs|fri|satur|sun)day|[ap]m"
    r"|e[sd]?t|p[sd]?t|gmt|utc|cet|v?\d[\d.:]*)",
    re.IGNORECASE,
)
_DATE_LINE: Final = re.compile(r"[A-Z][\w .,'’/()-]{2,50}[,–—-]\s*$")


def find_title(drafts: Sequence[BlockDraft], body: BodyStyle) -> BlockDraft | None:
    """Return the block that is the title: on the first page, at its top, larger than the text."""
    front = [d for d in drafts if d.page == 1 and _may_be_title(d)]
    largest = max((d.size for d in front), default=0.0)
    if largest < _LARGE * body.size:
        return None
    named = [d for d in front if d.size >= max(_NEARLY * largest, _LARGE * body.size)]
    long = [d for d in named if len(d.text.split()) >= _WORDS]
    first = max(long, key=lambda d: d.size, default=None)
    if first is None:
        return max(named, key=lambda d: d.size)
    equals = [d for d in named if abs(d.size - first.size) < 0.03 * first.size]
    # Several as large are the headings of a document without a title of its own.
    return first if len(equals) < 3 else None


def _may_be_title(draft: BlockDraft) -> bool:
    kinds = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
    return draft.kind in kinds and not draft.figure and 4 < len(draft.text) < _LONGEST


def sane_title(text: str) -> str | None:
    """Return what the file's header calls it, unless that is a file name or a number."""
    text = " ".join(text.split())
    if len(text) < 4 or len(text) > _LONGEST or _NAME_LIKE.fullmatch(text):
        return None
    return text


def printed_date(text: str, spans: Sequence[tuple[int, int]]) -> FoundDate | None:
    """Return the date of the first line that gives one and little else.

    `spans` are the blocks of the first page. The date line of a news agency counts too.
    """
    for start, end in spans:
        offset = start
        for line in text[start:end].split("\n"):
            found = find_date(line)
            if found and _is_date_line(line[: found.start], line[found.end :], offset == start):
                return FoundDate(found.iso, offset + found.start, offset + found.end)
            offset += len(line) + 1
    return None


def _is_date_line(before: str, after: str, opens: bool) -> bool:
    words = re.findall(r"[^\s,;:()|/–—-]+", f"{before} {after}")
    if len(words) <= 6 and all(_DATE_WORD.fullmatch(word.strip(".")) for word in words):
        return True
    place = _DATE_LINE.match(before) is not None and before[:4].isupper()
    return opens and place and re.match(r"\s*(?:[–—(/:-]|$)", after) is not None


def header_date(created: str) -> str | None:
    """Return the date of a PDF's header, "D:20240515103000Z"."""
    return parse_date(created.removeprefix("D:")[:8])
