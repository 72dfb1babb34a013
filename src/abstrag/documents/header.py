"""Header lines and dates: what the first lines of a text say about it ("Date: ...", "By ...")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from abstrag.model.document import Block, BlockKind
from abstrag.model.span import Span

# Dates as files state them in metadata, header lines and front matter, turned into ISO dates.
#
# Only a whole date counts: day, month and year. The order of day and month is never guessed, so
# 05/06/2024 is no date here while 15/06/2024 is.

_MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>[12]\d{3})"
_FORMS: Final = tuple(
    re.compile(rf"(?<![\w/.-]){form}(?![\w/-]|\.\d)", re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<sep>[-/.])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)(?:[T ]\d\d:\d\d\S*)?",
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}",
        rf"{_DAY}-{_MONTH}-{_YEAR}",
        rf"(?P<first>\d{{1,2}})(?P<sep>[/.-])(?P<second>\d{{1,2}})(?P=sep){_YEAR}",
    )
)
_COMPACT: Final = re.compile(r"(?P<year>[12]\d{3})(?P<month>\d\d)(?P<day>\d\d)(?:T?\d{4,6}Z?)?")


class FoundDate(NamedTuple):
    """An ISO date and where in the searched text it stands."""

    iso: str
    start: int
    end: int


def find_date(text: str) -> FoundDate | None:
    """Return the first whole date in a text."""
    found = [
        FoundDate(iso, *match.span())
        for form in _FORMS
        for match in form.finditer(text)
        if (iso := _iso(match)) is not None
    ]
    return min(found, key=lambda f: (f.start, -f.end), default=None)


def parse_date(text: str) -> str | None:
    """Return the ISO date a metadata value states, or None when it states no whole date."""
    text = text.strip()
    if match := _COMPACT.fullmatch(text):
        return _iso(match)
    found = find_date(text)
    return found.iso if found else None


def _iso(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second"])
        if first <= 12 and second <= 12 and first != second:
            return None
        day, month = (first, second) if first > 12 else (second, first)
    else:
        day, month = int(parts["day"]), _month(parts["month"])
    try:
        return date(int(parts["year"]), month, day).isoformat()
    except ValueError:
        return None


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(text.casefold()[:3]))


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
