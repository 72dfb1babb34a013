"""What a text first says of itself: header lines and dates ("Date: ...", "By ..."), and covers.

A filing's cover is recognised by what the form itself prints ("FORM 10-K", "Exact name of
registrant"), a release's by its headline ("Reports Fourth Quarter Fiscal 2022 Results"). The first
page of an annual report shows little more than "Annual Report 2022", often without the company:
that one is named all over the report, with its legal form. So is the day on which the year ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from abstrag.files import read_data_file
from abstrag.model.document import Block, BlockKind, Span

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
RELEASE: Final = "earnings release"
_LISTS: Final = read_data_file("abstrag.documents", "filings.toml")


def patterns(section: str) -> dict[str, re.Pattern[str]]:
    """Return the regular expressions that `filings.toml` has in a section, by name."""
    return {name: re.compile("".join(parts)) for name, parts in _LISTS[section].items()}


_COVER: Final = patterns("cover")
_SIGNATURE_REACH: Final = 4_000  # characters below "SIGNATURES" in which the date stands
_LINES: Final = 60  # of a cover that are looked at


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


@dataclass(frozen=True, slots=True)
class Cover:
    """What a cover states; a part that it does not state is empty."""

    company: str
    form: str = ""
    period: str = ""
    period_end: str = ""  # ISO date

    @property
    def filed(self) -> bool:
        """Whether it has a filer and is no release, so that its title is not printed but known."""
        return bool(self.company and self.form and self.form != RELEASE)

    @property
    def title(self) -> str:
        """A title that says what a reader would call the filing."""
        named = f"Form {self.form}" if self.form[:1].isdigit() else self.form
        parts = [self.company, named]
        whole = ", ".join(part for part in parts if part)
        return f"{whole} for the {self.period}" if self.period else whole


def read_cover(lines: Sequence[str]) -> Cover | None:
    """Return what the lines of a first page state, None where they are no cover of a filing."""
    kept = [" ".join(line.split()) for line in lines[:_LINES]]
    whole = "\n".join(kept)
    form = _COVER["form"].search(whole)
    if form is not None and (_COVER["agency"].search(whole) or _COVER["exact_name"].search(whole)):
        company = _registrant(kept)
        period = _COVER["period"].search(whole) or _COVER["reported"].search(whole)
        end = find_date(period["date"]) if period else None
        kind = period.groupdict().get("kind") if period else None
        said = f"{kind.casefold()} ended {period['date']}" if period and kind else ""
        if period and not kind:
            said = f"report of {period['date']}"
        return Cover(company, form["form"].upper(), " ".join(said.split()), end.iso if end else "")
    return next((made for line in kept if (made := _release(line))), None)


def cover_lines(text: str, blocks: Sequence[Block]) -> list[str]:
    """Return the lines of the first page, or of the first blocks of what has no pages."""
    front = [b for b in blocks if b.page == 1] if blocks and blocks[0].page else blocks[:_LINES]
    lines: list[str] = []
    for block in front:
        heading = block.kind is BlockKind.HEADING  # one that is wrapped reads as one line
        lines += [block.text] if heading else block.span.of(text).split("\n")
    return [line for line in lines if line.strip()]


def signing_date(text: str, after: str) -> str | None:
    """Return the first date below the last "SIGNATURES" that is not before the period's end."""
    marks = [found.end() for found in _COVER["signed"].finditer(text)]
    for mark in reversed(marks):
        found = find_date(text[mark : mark + _SIGNATURE_REACH])
        if found is not None and found.iso >= after:
            return found.iso
    return None


def _registrant(lines: Sequence[str]) -> str:
    """Return the name of the filer: above "(Exact name of registrant", or below the file number."""
    for i, line in enumerate(lines):
        if _COVER["exact_name"].search(line):
            before = _COVER["exact_name"].split(line)[0].strip(" (")
            above = [before, *reversed(lines[max(0, i - 3) : i])]
            return next((name for name in above if not _COVER["not_a_name"].search(name)), "")
    for i, line in enumerate(lines):
        if _COVER["file_number"].search(line):
            below = lines[i + 1 : i + 4]
            return next((name for name in below if not _COVER["not_a_name"].search(name)), "")
    return ""


def _release(line: str) -> Cover | None:
    headline = _COVER["release"].match(line)
    if headline is None or len(line) > 160:
        return None
    found = _COVER["release_period"].search(headline["what"])
    return Cover(headline["company"], RELEASE, found.group() if found else "")


ANNUAL: Final = "annual report"
INTERIM: Final = "interim report"
_LEGAL: Final = (
    r"(?:Limited|LIMITED|Ltd\.?|LTD\.?|[Pp]lc|PLC|Inc\.?|INC\.?|Incorporated|Corporation|CORPORATION"
    r"|Corp\.?|CORP\.?|AG|Aktiengesellschaft|SE|S\.?A\.?|N\.?V\.?|ASA|AB|Oyj|A/S"
    r"|S\.p\.A\.|GmbH|KGaA|K\.K\.|L\.?L\.?C\.?|L\.?P\.?)"
)
_NAME: Final = re.compile(
    rf"(?<![\w@.])(?:[A-Z][\w&’'-]*|\d\w*|[a-z]{{2,}}(?=\s[A-Z]\w+\s[A-Z]))"
    rf"(?:\s+(?:[A-Z][\w&’'.-]*|&|of|and|\([A-Z][\w ]*\))){{0,5}}?,?\s+{_LEGAL}(?![\w-])"
)
_LEADING: Final = frozenset(
    "the of in at for by to with and from annual report reports directors board members group our "
    "this that a an on as shares ordinary formerly known company".split()
)
_CAPITAL: Final = re.compile(r"\b[A-Z]\w+")
_THIS_CENTURY: Final = re.compile(r"\b20\d\d\b")
_SHORT: Final = 120  # words of a first page that is a cover and nothing else
_LINE: Final = 12  # words of a line that names the report, on a page with more on it
_TOP: Final = 4  # lines of a text without pages that are its cover
_PAGES: Final = 2  # that may be the cover
_BODY: Final = 60_000  # characters in which the company and the year are looked for
_FEWEST: Final = 3  # times that a company is spoken of which the cover does not name
_SHARE: Final = 12  # times that one is spoken of, at most, for each time it is named in full


def cover_of(text: str, blocks: Sequence[Block]) -> Cover | None:
    """Return what a document's cover states: of a form, a release or an annual report."""
    lines = cover_lines(text, blocks)
    return read_cover(lines) or _read_annual_report(lines, text, blocks)


def _read_annual_report(lines: Sequence[str], text: str, blocks: Sequence[Block]) -> Cover | None:
    """Return who reports and for which year, None for what is no annual report.

    `lines` are those of the first page.
    """
    if not (blocks and blocks[0].page):
        lines = lines[:_TOP]
    body = " ".join(text[:_BODY].split())
    ends = Counter((m["kind"].casefold(), m["date"]) for m in _COVER["ended"].finditer(body))
    ends = ends or Counter(("year", m["date"] or m["at"]) for m in _COVER["through"].finditer(body))
    kind = next((found for page in _front(lines, blocks) if (found := _kind(page))), "")
    if not kind or not ends:
        return None
    short = [" ".join(line.split()) for line in lines if len(line.split()) <= _LINE]
    front = " ".join(short)
    years = {int(year) for year in _THIS_CENTURY.findall(front)}
    told = Counter({end: n for end, n in ends.items() if not years or _year(end[1]) in years})
    (said, day), _ = (told or ends).most_common(1)[0]
    end = find_date(day)
    period = f"{' '.join(said.split())} ended {' '.join(day.split())}"
    return Cover(_company(front, body), kind, period, end.iso if end else "")


def _front(lines: Sequence[str], blocks: Sequence[Block]) -> list[list[str]]:
    """Return the lines of the pages that may be the cover; the second, if the first is bare."""
    pages = [list(lines)]
    if blocks and blocks[0].page and sum(len(line.split()) for line in lines) < _LINE:
        after = [b.text for b in blocks if b.page and 1 < b.page <= _PAGES]
        pages.append(after[:20])
    return pages


def _kind(lines: Sequence[str]) -> str:
    """Return what a page calls the report, empty for a page that is no cover of one."""
    words = sum(len(line.split()) for line in lines)
    named = [" ".join(lines)] if words <= _SHORT else [n for n in lines if len(n.split()) <= _LINE]
    found = next(
        (m for line in named if (m := _COVER["kind"].search(" ".join(line.split())))), None
    )
    if found is None:
        return ""
    return INTERIM if found["interim"] else ANNUAL


def _company(front: str, body: str) -> str:
    """Return the company that the cover names, else the one that the report speaks of most.

    A report names others as well, such as those its directors serve. Of its own it speaks without
    the legal form too, so the first word of the name is counted.
    """
    often = Counter(name for m in _NAME.finditer(body) if (name := _bare(m.group())))
    words = Counter(word.casefold() for word in _CAPITAL.findall(body))  # "ventures" is no name
    full = Counter[str]()
    for name, count in often.items():
        full[name.casefold()] += count

    def spoken_of(name: str) -> int:
        word = re.findall(r"\w+", name.casefold())[0]
        return min(words[word] or full[name.casefold()], _SHARE * full[name.casefold()])

    shown = [name for m in _NAME.finditer(front) if (name := _bare(m.group()))]
    if shown:
        return max(shown, key=lambda name: (spoken_of(name), -shown.index(name)))
    best = max(often, key=lambda name: (spoken_of(name), often[name]), default="")
    return best if best and spoken_of(best) >= _FEWEST else ""


def _bare(name: str) -> str:
    """Return a name without the words of a sentence before it, empty if it is none of a filer."""
    words = name.split()
    while words and (
        words[0].casefold().strip(".,") in _LEADING or _THIS_CENTURY.fullmatch(words[0])
    ):
        words = words[1:]
    bare = " ".join(words)
    return "" if len(words) < 2 or _COVER["not_ours"].search(bare) else bare


def _year(day: str) -> int:
    return int(_THIS_CENTURY.findall(day)[-1])
