"""Headings: told by how they are set, put into levels; the title and the date of the first page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from abstrag.documents.header import FoundDate, find_date, parse_date
from abstrag.documents.pdf_layout.lines import number_depth
from abstrag.documents.pdf_layout.manuscript import BlockDraft
from abstrag.model.document import BlockKind

_LARGE: Final = 1.08  # of the body's size
_HEADLINE: Final = 1.15  # of the body's size: it may end in a full stop
_LETTERS: Final = 180  # in a heading at most
_LINES: Final = 4
_SHORT: Final = 80  # letters, where nothing but capitals or italics tells
_SAME: Final = 0.03  # by which sizes may differ and still count as one
_MAX_LEVEL: Final = 6
_LETTER_RUN: Final = re.compile(r"[^\W\d_]{2,}")
_FRESH_START: Final = re.compile(
    r"(?:abstract|summary|(?:1|I)[.:]?\s+introduction)\W*", re.IGNORECASE
)
_FORMULA: Final = re.compile(r"[=∑∫√≤≥∈∂]")


@dataclass(frozen=True, slots=True)
class Look:
    """How a heading is set; the greater look stands higher."""

    size: float
    bold: bool
    capitals: bool
    underlined: bool
    italic: bool

    def rivals(self, other: Look) -> bool:
        """True for two looks of one weight, one in italics and the other with a line below."""
        weight = (self.size, self.bold, self.capitals)
        crossed = (self.italic, self.underlined) == (other.underlined, other.italic)
        return weight == (other.size, other.bold, other.capitals) and crossed

    def above(self, other: Look) -> bool:
        """True when this look is the more prominent one."""
        if abs(self.size - other.size) > _SAME * max(self.size, other.size):
            return self.size > other.size
        mine = (self.bold, self.capitals, self.underlined, not self.italic)
        return mine > (other.bold, other.capitals, other.underlined, not other.italic)


@dataclass(frozen=True, slots=True)
class BodyStyle:
    """How the running text of a document is set."""

    size: float
    bold: bool = False
    italic: bool = False


def body_of(drafts: Iterable[BlockDraft]) -> BodyStyle:
    """Return how most letters of a document are set."""
    letters: Counter[tuple[float, bool, bool]] = Counter()
    for draft in drafts:
        if draft.kind is not BlockKind.TABLE and not draft.figure:
            for line in draft.lines:
                letters[line.size, line.bold, line.italic] += line.letters
    if not letters:
        return BodyStyle(10.0)
    return BodyStyle(*max(sorted(letters), key=lambda key: letters[key]))


def look_of(draft: BlockDraft) -> Look:
    """Return how a block is set."""
    words = _LETTER_RUN.findall(draft.text)
    return Look(
        draft.size,
        draft.bold,
        bool(words) and all(word.isupper() for word in words),
        all(line.underlined for line in draft.lines),
        all(line.italic for line in draft.lines),
    )


def is_heading(draft: BlockDraft, body: BodyStyle, after: BlockDraft | None) -> bool:
    """True for a short block that is set apart from the text it stands over."""
    if not _may_head(draft, body):
        return False
    look, depth = look_of(draft), number_depth(draft.text)
    if look.size > _LARGE * body.size:
        return not _FORMULA.search(draft.text)
    stands_over = after is not None and after.kind is BlockKind.PARAGRAPH and not after.figure
    small = look.size < (1 - _SAME) * body.size
    if small and not (depth and look.bold):  # in small print, of which there may be pages
        local = stands_over and after is not None and look.size > (1 - _SAME) * after.size
        return local and (look.bold or look.capitals) and not draft.text.endswith(":")
    if (look.bold and not body.bold) or look.underlined:
        return True
    alone = stands_over and len(draft.lines) == 1 and len(draft.text) < _SHORT
    return alone and (look.capitals or (look.italic and not body.italic))


def _may_head(draft: BlockDraft, body: BodyStyle) -> bool:
    """True for a block that has the length and the ending of a heading."""
    text, large = draft.text, draft.size > _LARGE * body.size
    if draft.figure or draft.bullet or draft.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM):
        return False
    if draft.kind is BlockKind.LIST_ITEM and not (number_depth(text) and (large or draft.bold)):
        return False
    if len(draft.lines) > _LINES or len(text) > _LETTERS or not _LETTER_RUN.search(text):
        return False
    stop = (",", ";") if draft.size > _HEADLINE * body.size else (".", ",", ";")
    return not text.endswith(stop) and not text[:1].islower()


def mark_headings(drafts: Sequence[BlockDraft], body: BodyStyle, title: BlockDraft | None) -> None:
    """Turn blocks into headings, each with its level.

    A heading closes those that are set no higher than itself; between numbered ones the number
    decides. What stands between a title and the abstract is no heading.
    """
    open_: list[tuple[Look, int]] = []
    seen: dict[Look, int] = {}
    begin = _front_end(drafts, body, title)
    for i, draft in enumerate(drafts):
        if draft is title or i < begin:
            continue
        after = drafts[i + 1] if i + 1 < len(drafts) else None
        if not is_heading(draft, body, after):
            continue
        look, depth = look_of(draft), number_depth(draft.text)
        seen.setdefault(look, len(seen))
        while open_ and closes(look, depth, *open_[-1], seen):
            open_.pop()
        open_.append((look, depth))
        draft.kind = BlockKind.HEADING
        draft.level = min(len(open_), _MAX_LEVEL)


def mark_table_titles(drafts: Sequence[BlockDraft]) -> None:
    """Make captions of bold lines that stand right over a table and are no headings."""
    for title, table in pairwise(drafts):
        if table.table is None or title.kind is not BlockKind.PARAGRAPH or title.figure:
            continue
        near = (title.page, title.left, title.right) == (table.page, table.left, table.right)
        if near and title.bold and len(title.lines) <= _LINES and not title.ends_sentence:
            title.kind, title.caption_for = BlockKind.CAPTION, "table"


def _front_end(drafts: Sequence[BlockDraft], body: BodyStyle, title: BlockDraft | None) -> int:
    """Return where the text begins, after the authors and addresses of a paper."""
    if title is None:
        return 0
    for i, draft in enumerate(drafts):
        if draft.page > 2:
            break
        starts = _FRESH_START.fullmatch(draft.text) is not None
        if starts and is_heading(draft, body, drafts[i + 1] if i + 1 < len(drafts) else None):
            return i
    return 0


def closes(
    look: Look, depth: int, open_look: Look, open_depth: int, seen: Mapping[Look, int] | None = None
) -> bool:
    """True when a heading ends the section of an open one.

    Whether italics or a line below stand higher is the author's choice: `seen` says which of two
    such looks came first, and that one holds the other.
    """
    if depth and open_depth:
        return depth <= open_depth
    if seen and look != open_look and look.rivals(open_look):
        return seen[look] < seen[open_look]
    return not open_look.above(look)


_LARGE_TITLE: Final = 1.15  # of the body's size
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
    if largest < _LARGE_TITLE * body.size:
        return None
    named = [d for d in front if d.size >= max(_NEARLY * largest, _LARGE_TITLE * body.size)]
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
