"""Headings: told by how they are set, put into levels; the title and the date of the first page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from abstrag.documents.header import FoundDate, find_date, parse_date, patterns
from abstrag.documents.pdf_layout.document_writer import BlockDraft
from abstrag.documents.pdf_layout.lines import PdfLine, number_depth
from abstrag.model.document import BlockKind

_PATTERNS: Final = patterns("headings")
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
class HeadingStyle:
    """How a heading is set; the greater look stands higher."""

    size: float
    bold: bool
    capitals: bool
    underlined: bool
    italic: bool

    def rivals(self, other: HeadingStyle) -> bool:
        """True for two looks of one weight, one in italics and the other with a line below."""
        weight = (self.size, self.bold, self.capitals)
        crossed = (self.italic, self.underlined) == (other.underlined, other.italic)
        return weight == (other.size, other.bold, other.capitals) and crossed

    def above(self, other: HeadingStyle) -> bool:
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


def look_of(draft: BlockDraft) -> HeadingStyle:
    """Return how a block is set."""
    words = _LETTER_RUN.findall(draft.text)
    return HeadingStyle(
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
    open_: list[tuple[HeadingStyle, int]] = []
    seen: dict[HeadingStyle, int] = {}
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
    look: HeadingStyle,
    depth: int,
    open_look: HeadingStyle,
    open_depth: int,
    seen: Mapping[HeadingStyle, int] | None = None,
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
    if len(text) < 4 or len(text) > _LONGEST or _PATTERNS["name_like"].fullmatch(text):
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
    if len(words) <= 6 and all(_PATTERNS["date_word"].fullmatch(word.strip(".")) for word in words):
        return True
    place = _PATTERNS["date_line"].match(before) is not None and before[:4].isupper()
    return opens and place and re.match(r"\s*(?:[–—(/:-]|$)", after) is not None


def header_date(created: str) -> str | None:
    """Return the date of a PDF's header, "D:20240515103000Z"."""
    return parse_date(created.removeprefix("D:")[:8])


# Filings: parts, items, statements and notes are known by their names, however they are set.
#
# Form 10-K and its kin print the same skeleton in every style there is: bold, in capitals,
# centred or not, a statement's name between the filer's and the dates. What a form prints by law
# ranks above what its author set; headings in between keep the order that their looks give them.

PART, ITEM, STATEMENT, NOTE = 1, 2, 3, 4
_RANKS: Final = tuple(enumerate(patterns("ranks").values(), 1))
_ENTRIES: Final = 4  # lines with an item and a page number make a table of contents
_SMALL: Final = 0.97  # of the size of running text; what is smaller heads a table
_NEAR: Final = 2  # blocks at the top of a page that nobody signed above
_NAME_LINES: Final = 2  # of a name under that of the filer
_LONGEST_NAME: Final = 250  # letters of the heading of an item, which may end in a full stop
_FURNITURE: Final = 3  # blocks at the top of a page among which a running head stands


def rank_of(text: str, *, in_notes: bool = False) -> int | None:
    """Return how high a heading that every filing has stands, None for one of the author's."""
    for rank, pattern in _RANKS:
        if pattern.match(text):
            return rank
    return NOTE if in_notes and _PATTERNS["numbered_note"].match(text) else None


def parted(drafts: Sequence[BlockDraft], body: BodyStyle, company: str) -> list[BlockDraft]:
    """Part blocks that hold several headings, one under the other in one style."""
    return [part for draft in drafts for part in _parts(draft, body, company)]


def _parts(draft: BlockDraft, body: BodyStyle, company: str) -> Iterator[BlockDraft]:
    named = _is_company(draft.lines[0].text, company) if draft.lines else False
    styled = (draft.bold or look_of(draft).capitals) and (named or not _is_small(draft, body))
    prose = draft.kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) and not draft.figure
    if draft.page == 1 or not prose or not styled or not 1 < len(draft.lines) <= 6:
        yield draft
        return
    groups: list[list[PdfLine]] = []
    for i, line in enumerate(draft.lines):
        above = draft.lines[i - 1].text if i else ""
        # An item's own heading may go on in a second line; a name or a date is one line.
        apart = not i or _stands_alone(line.text, company) or _is_aside(above, company)
        if apart or (rank_of(above) == STATEMENT and _PATTERNS["aside"].match(line.text)):
            groups.append([line])
        else:
            groups[-1].append(line)
    if len(groups) == 1:
        yield draft
        return
    for group in groups:
        yield replace(draft, kind=BlockKind.PARAGRAPH, lines=group)


def _stands_alone(text: str, company: str) -> bool:
    return rank_of(text) is not None or _is_aside(text, company)


def _is_aside(text: str, company: str) -> bool:
    return _PATTERNS["aside"].match(text) is not None or _is_company(text, company)


def _is_company(text: str, company: str) -> bool:
    """True for the filer's name, also with its subsidiaries."""
    form = r"(?:inc|incorporated|corp|corporation|company|co|ltd|limited|plc)?"
    whole = rf"{re.escape(_packed(company))}{form}(?:and.*subsidiar.*)?"
    return bool(company) and re.fullmatch(whole, _packed(text)) is not None


def _packed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def mark_filing(
    drafts: Sequence[BlockDraft], body: BodyStyle, company: str, *, form: bool = True
) -> None:
    """Put the headings of a filing into order; what only looks like one becomes text.

    A release is no `form`: its first page is no cover, and what follows its statements is as high.

    Text are lines of the cover and of the table of contents, the smaller lines of a headline, the
    filer's name over each statement, the head of a table in small print, who signed, and a heading
    that is printed again at the top of the next page of its section.
    """
    contents = _contents_pages(drafts)
    headline = frozenset[int]() if form else _below_headline(drafts)
    open_: list[tuple[int | None, HeadingStyle, int, str]] = []
    seen: dict[HeadingStyle, int] = {}
    place = page = 0
    above = text = ""
    for draft in drafts:
        highest, above, text = above, text, draft.text
        place, page = (place + 1 if draft.page == page else 1), draft.page
        rank = _rank_here(text, [(above_rank, name) for above_rank, *_, name in open_])
        small = _is_small(draft, body)
        exhibit = _PATTERNS["exhibit"].fullmatch(text) is not None
        if small and place > _FURNITURE and not (exhibit or _is_company(above, company)):
            rank = None
        in_exhibit = _PATTERNS["exhibit"].fullmatch(highest) is not None and _is_company(
            above, company
        )
        if rank is None and in_exhibit and _names_what_follows(draft):
            rank = STATEMENT
        if draft.kind is not BlockKind.HEADING and not (
            rank and (exhibit or _may_be_ranked(draft))
        ):
            continue
        again = place <= _FURNITURE and any(_packed(name) == _packed(text) for *_, name in open_)
        listed = page in contents and (
            rank is not None or _PATTERNS["form"].search(text) is not None
        )
        listed = listed and not _PATTERNS["contents"].search(text)
        near = (above,) if place <= _NEAR else (above, highest)  # who signed, and as what
        signed = any(_PATTERNS["signed"].search(each) for each in near)
        aside = ((small and form) or signed or id(draft) in headline) and rank is None
        if (form and page == 1) or listed or again or aside or _is_aside(text, company):
            draft.kind, draft.level = BlockKind.PARAGRAPH, None
            continue
        look, depth = look_of(draft), number_depth(text)
        seen.setdefault(look, len(seen))
        if not form and place == 1 and look.capitals:  # as high as any other in capitals
            del open_[next((i for i, one in enumerate(open_) if one[1].capitals), len(open_)) :]
        while open_ and (
            _shuts(rank, (look, depth), open_[-1][0], open_[-1][1:3], seen)
            or (not form and rank is None and open_[-1][0] and not open_[-1][1].above(look))
        ):
            open_.pop()
        open_.append((rank, look, depth, text))
        draft.kind, draft.level = BlockKind.HEADING, len(open_)


def _rank_here(text: str, open_: Sequence[tuple[int | None, str]]) -> int | None:
    """Return the rank of a heading where it stands; "Balance sheet:" in a discussion has none."""
    item = next((name for rank, name in open_ if rank == ITEM), "financial statements")
    in_notes = any(rank == STATEMENT and _PATTERNS["notes"].match(name) for rank, name in open_)
    rank = rank_of(text, in_notes=in_notes)
    return None if rank == STATEMENT and not _PATTERNS["accounts"].search(item) else rank


def _is_small(draft: BlockDraft, body: BodyStyle) -> bool:
    return draft.size < _SMALL * body.size


def _may_be_ranked(draft: BlockDraft) -> bool:
    """True for an item's or a note's heading that ends in a full stop, as some set them."""
    prose = draft.kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) and not draft.figure
    return prose and draft.bold and len(draft.text) <= _LONGEST_NAME


def _below_headline(drafts: Sequence[BlockDraft]) -> frozenset[int]:
    """Return the blocks between a headline and the place and day that a release begins with."""
    first = [draft for draft in drafts if draft.page == 1]
    begins = next(
        (i for i, draft in enumerate(first) if _PATTERNS["dateline"].match(draft.text)), 0
    )
    largest = max((draft.size for draft in first[:begins]), default=0.0)
    return frozenset(id(draft) for draft in first[:begins] if draft.size < _SMALL * largest)


def _names_what_follows(draft: BlockDraft) -> bool:
    """True for a bold line that says what the table below is of."""
    prose = draft.kind in (BlockKind.PARAGRAPH, BlockKind.HEADING) and not draft.figure
    short = len(draft.lines) <= _NAME_LINES and not draft.ends_sentence
    text = draft.text
    return (
        prose
        and draft.bold
        and short
        and text[:1].isalnum()
        and not _PATTERNS["signed"].search(text)
    )


def _shuts(
    rank: int | None,
    set_in: tuple[HeadingStyle, int],
    open_rank: int | None,
    open_set_in: tuple[HeadingStyle, int],
    seen: Mapping[HeadingStyle, int],
) -> bool:
    if rank is not None:
        return open_rank is None or open_rank >= rank
    return open_rank is None and closes(*set_in, *open_set_in, seen)


def _contents_pages(drafts: Sequence[BlockDraft]) -> frozenset[int]:
    """Return the pages that list items with the pages they begin on."""
    found: dict[int, int] = {}
    for draft in drafts:
        if draft.kind is not BlockKind.HEADING:
            entries = sum(
                _PATTERNS["entry"].match(line.text.strip()) is not None for line in draft.lines
            )
            found[draft.page] = found.get(draft.page, 0) + entries
    return frozenset(page for page, entries in found.items() if entries >= _ENTRIES)
