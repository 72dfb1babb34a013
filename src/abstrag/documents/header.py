"""Header lines: what the first lines of a text say about it ("Date: ...", "By ...")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from abstrag.documents.dates import find_date
from abstrag.model.document import Block, BlockKind
from abstrag.model.span import Span

HEADER_BLOCKS: Final = 12  # how far down a date line may stand and still date the document
SHORT_LINE_BLOCKS: Final = 3  # how far down a line may stand that is no date line and dates it
MAX_REST: Final = 8  # words beside the date; more make a sentence that happens to hold one
_LABELLED: Final = re.compile(
    r"(?P<label>date|published|publication date|posted|issued|released|release date|dated|sent"
    r"|updated|last updated|subject|title|re|from|to|cc|by|authors?|reply-to|message-id)"
    r"(?:\s*:|(?<=ed)\s+on\b|(?<=ed)(?=\s)|(?<=by)(?=\s))\s*(?P<value>\S.*)",
    re.IGNORECASE,
)
_DATE_LABEL: Final = re.compile(r"(?:^|\s)(?:Date|Sent|Published|Posted|Issued|Held)(?: on)?:\s*")
_WEEKDAY_ROOM: Final = 12  # letters that may stand between a label and its date
_PLACE: Final = re.compile(r"[A-Z][\w.'’ -]{1,40}(?:, ?[A-Z][\w.'’ -]{1,30})?[,.(]*\s*[(]?")
_DATELINE_END: Final = re.compile(r"\)?\s*(?:\([^()]{2,40}\)\s*)?(?:[–—:]|-{1,2}\s)")
_TITLES: Final = frozenset(("subject", "title"))
_PEOPLE: Final = frozenset(("from", "to", "cc", "by", "author", "authors", "reply-to"))


class HeaderKind(StrEnum):
    """What a header line tells."""

    TITLE = "title"
    DATE = "date"
    OTHER = "other"


class HeaderLine(NamedTuple):
    """A header line: what it tells, the value, and where in the line the value stands."""

    kind: HeaderKind
    value: str
    start: int
    end: int


def header_line(line: str) -> HeaderLine | None:
    """Read one line as a header line, or return None when it is ordinary text.

    A date may also stand alone. "By" heads a line only when what follows looks like a name.
    """
    if len(line) > 200:
        return None
    match = _LABELLED.match(line)
    if match is None:
        found = find_date(line)
        if found is None or re.search(r"\w{3}", _without(line, found.start, found.end)):
            return None
        return HeaderLine(HeaderKind.DATE, found.iso, found.start, found.end)
    label, value = match["label"].casefold(), match["value"].strip()
    start = match.start("value")
    if label in _TITLES:
        return HeaderLine(HeaderKind.TITLE, value, start, start + len(value))
    if label == "by" and not re.fullmatch(r"(?:[A-Z][\w.'’-]*|and|de|van|von|,|&|\s)+", value):
        return None
    if label in _PEOPLE or label in ("re", "message-id"):
        return HeaderLine(HeaderKind.OTHER, value, start, start + len(value))
    found = find_date(value)
    if found is None or len(_without(value, found.start, found.end).split()) > MAX_REST:
        return None
    return HeaderLine(HeaderKind.DATE, found.iso, start + found.start, start + found.end)


def stated_date(blocks: Iterable[Block]) -> tuple[str, Span] | None:
    """Return the date that one of the first blocks states, and where it stands."""
    first = list(islice(blocks, HEADER_BLOCKS))
    for block in first:
        if block.kind not in (BlockKind.PARAGRAPH, BlockKind.HEADING):
            continue
        line = header_line(block.text)
        if line is not None and line.kind is HeaderKind.DATE:
            return line.value, block.alignment.locate(line.start, line.end)
    return _short_line(first) or _labelled(first) or _dateline(first)


def _short_line(blocks: Sequence[Block]) -> tuple[str, Span] | None:
    """Return the date in a short line at the top: "Survey of 20 May 2018", "Bern, 3 May 2020".

    A sentence is none, and neither is a line with a date below the first few.
    """
    headings = [b for b in blocks if b.kind is BlockKind.HEADING and find_date(b.text)]
    for block in blocks[:SHORT_LINE_BLOCKS]:
        text = block.text.strip()
        if block in headings[:1] and len(headings) > 1:
            continue  # each dates its own section
        found = find_date(block.text)
        if found is None or text.endswith((".", "?", "!", ";", ":")):
            continue
        rest = _without(block.text, found.start, found.end)
        if len(rest.split()) <= MAX_REST and find_date(block.text[found.end :]) is None:
            return found.iso, block.alignment.locate(found.start, found.end)
    return None


def _labelled(blocks: Sequence[Block]) -> tuple[str, Span] | None:
    """Return the date of header lines that run on in one block: "From: … Date: … Subject: …"."""
    for block in blocks[:SHORT_LINE_BLOCKS]:
        label = _DATE_LABEL.search(block.text)
        found = find_date(block.text[label.end() :]) if label else None
        if label is not None and found is not None and found.start <= _WEEKDAY_ROOM:
            return found.iso, block.alignment.locate(
                label.end() + found.start, label.end() + found.end
            )
    return None


def _dateline(blocks: Sequence[Block]) -> tuple[str, Span] | None:
    """Return the date of a dateline: "OSLO, 9 February 2011 (Agency) — A glacier …"."""
    for block in blocks[:HEADER_BLOCKS]:
        found = find_date(block.text) if block.kind is BlockKind.PARAGRAPH else None
        if found is None or _PLACE.fullmatch(block.text, 0, found.start) is None:
            continue
        if _DATELINE_END.match(block.text, found.end):
            return found.iso, block.alignment.locate(found.start, found.end)
    return None


def _without(line: str, start: int, end: int) -> str:
    """Return the rest of the line, names of weekdays left out."""
    rest = line[:start] + " " + line[end:]
    return re.sub(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", "", rest, flags=re.IGNORECASE)
