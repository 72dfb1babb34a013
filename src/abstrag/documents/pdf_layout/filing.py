"""Filings: parts, items, statements and notes are known by their names, however they are set.

Form 10-K and its kin print the same skeleton in every style there is: bold, in capitals, centred or
not, a statement's name between the filer's and the dates. What a form prints by law ranks above
what its author set; headings in between keep the order that their looks give them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from abstrag.documents.pdf_layout.headings import BodyStyle, Look, closes, look_of
from abstrag.documents.pdf_layout.lines import PdfLine, number_depth
from abstrag.documents.pdf_layout.manuscript import BlockDraft
from abstrag.model.document import BlockKind

PART, ITEM, STATEMENT, NOTE = 1, 2, 3, 4
_STATEMENT_WORDS: Final = (
    r"(?:(?:condensed|consolidated|interim|unaudited)\s+){0,3}(?:"
    r"statements?\s+of\s+(?:\w+\s+){0,3}(?:income|loss|operations|earnings|cash\s+flows?|equity|"
    r"shareholders|stockholders|financial\s+(?:position|condition))|balance\s+sheets?)"
)
_RANKS: Final[tuple[tuple[int, re.Pattern[str]], ...]] = tuple(
    (rank, re.compile(pattern, re.IGNORECASE))
    for rank, pattern in (
        (PART, r"part\s+(?:I{1,3}|IV)(?:\s*[.:—–-].{0,60})?$"),
        (PART, r"signature\s?s?$|exhibit\s+\d{1,3}(?:\.\d{1,3})?[A-Z]?$|exhibit\s+index$"),
        (ITEM, r"item\s+\d{1,2}[A-C]?\s*[.:—–-]"),
        (STATEMENT, _STATEMENT_WORDS),
        (STATEMENT, r"notes\s+to\s+(?:the\s+)?(?:\w+\s+){0,2}financial\s+statements"),
        (STATEMENT, r"report\s+of\s+independent\s+registered|index\s+to\s+.*financial\s+statement"),
        (STATEMENT, r"management['’]s\s+(?:annual\s+)?(?:report|responsibility)\b"),
        (NOTE, r"note\s+\d{1,2}\s*[.:—–-]"),
    )
)
_EXHIBIT: Final = re.compile(r"exhibit\s+\d{1,3}(?:\.\d{1,3})?[A-Z]?", re.IGNORECASE)
_NUMBERED_NOTE: Final = re.compile(r"\d{1,2}\.\s+[A-Z]")
_NOTES: Final = re.compile(r"notes\s+to\b", re.IGNORECASE)
_ENTRY: Final = re.compile(r"item\s+\d{1,2}[A-C]?\b.*\d$|note\s+\d{1,2}\..*\d$", re.IGNORECASE)
_ENTRIES: Final = 4  # lines with an item and a page number make a table of contents
_ACCOUNTS: Final = re.compile(r"financial\s+statement", re.IGNORECASE)
_FORM: Final = re.compile(r"\bform\s+\d", re.IGNORECASE)
_SIGNED: Final = re.compile(r"/s/")
_SMALL: Final = 0.97  # of the size of running text; what is smaller heads a table
_CONTENTS: Final = re.compile(r"\bcontents\b", re.IGNORECASE)
_ASIDE: Final = re.compile(  # what stands around the name of a statement
    r"\(?(?:\$|in\s+(?:millions|thousands)|(?:dollars|amounts)\s+in|(?:for\s+the\s+)?(?:fiscal\s+)?"
    r"years?\s+ended|(?:as\s+(?:of|at)|at)\s+[A-Z][a-z]+\s+\d|unaudited)|/s/|dated?:|"
    r"for\s+immediate\s+release",
    re.IGNORECASE,
)
_DATELINE: Final = re.compile(r"[A-Z][\w.' -]{2,40},\s?[^—–]{2,60}?\s?(?:--|—|–)\s?\S")
_NEAR: Final = 2  # blocks at the top of a page that nobody signed above
_LINES: Final = 2  # of a name under that of the filer
_LONGEST: Final = 250  # letters of the heading of an item, which may end in a full stop
_FURNITURE: Final = 3  # blocks at the top of a page among which a running head stands


def rank_of(text: str, *, in_notes: bool = False) -> int | None:
    """Return how high a heading that every filing has stands, None for one of the author's."""
    for rank, pattern in _RANKS:
        if pattern.match(text):
            return rank
    return NOTE if in_notes and _NUMBERED_NOTE.match(text) else None


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
        if apart or (rank_of(above) == STATEMENT and _ASIDE.match(line.text)):
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
    return _ASIDE.match(text) is not None or _is_company(text, company)


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
    open_: list[tuple[int | None, Look, int, str]] = []
    seen: dict[Look, int] = {}
    place = page = 0
    above = text = ""
    for draft in drafts:
        highest, above, text = above, text, draft.text
        place, page = (place + 1 if draft.page == page else 1), draft.page
        rank = _rank_here(text, [(above_rank, name) for above_rank, *_, name in open_])
        small = _is_small(draft, body)
        exhibit = _EXHIBIT.fullmatch(text) is not None
        if small and place > _FURNITURE and not (exhibit or _is_company(above, company)):
            rank = None
        in_exhibit = _EXHIBIT.fullmatch(highest) is not None and _is_company(above, company)
        if rank is None and in_exhibit and _names_what_follows(draft):
            rank = STATEMENT
        if draft.kind is not BlockKind.HEADING and not (
            rank and (exhibit or _may_be_ranked(draft))
        ):
            continue
        again = place <= _FURNITURE and any(_packed(name) == _packed(text) for *_, name in open_)
        listed = page in contents and (rank is not None or _FORM.search(text) is not None)
        listed = listed and not _CONTENTS.search(text)
        near = (above,) if place <= _NEAR else (above, highest)  # who signed, and as what
        signed = any(_SIGNED.search(each) for each in near)
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
    in_notes = any(rank == STATEMENT and _NOTES.match(name) for rank, name in open_)
    rank = rank_of(text, in_notes=in_notes)
    return None if rank == STATEMENT and not _ACCOUNTS.search(item) else rank


def _is_small(draft: BlockDraft, body: BodyStyle) -> bool:
    return draft.size < _SMALL * body.size


def _may_be_ranked(draft: BlockDraft) -> bool:
    """True for an item's or a note's heading that ends in a full stop, as some set them."""
    prose = draft.kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) and not draft.figure
    return prose and draft.bold and len(draft.text) <= _LONGEST


def _below_headline(drafts: Sequence[BlockDraft]) -> frozenset[int]:
    """Return the blocks between a headline and the place and day that a release begins with."""
    first = [draft for draft in drafts if draft.page == 1]
    begins = next((i for i, draft in enumerate(first) if _DATELINE.match(draft.text)), 0)
    largest = max((draft.size for draft in first[:begins]), default=0.0)
    return frozenset(id(draft) for draft in first[:begins] if draft.size < _SMALL * largest)


def _names_what_follows(draft: BlockDraft) -> bool:
    """True for a bold line that says what the table below is of."""
    prose = draft.kind in (BlockKind.PARAGRAPH, BlockKind.HEADING) and not draft.figure
    short = len(draft.lines) <= _LINES and not draft.ends_sentence
    text = draft.text
    return prose and draft.bold and short and text[:1].isalnum() and not _SIGNED.search(text)


def _shuts(
    rank: int | None,
    set_in: tuple[Look, int],
    open_rank: int | None,
    open_set_in: tuple[Look, int],
    seen: Mapping[Look, int],
) -> bool:
    if rank is not None:
        return open_rank is None or open_rank >= rank
    return open_rank is None and closes(*set_in, *open_set_in, seen)


def _contents_pages(drafts: Sequence[BlockDraft]) -> frozenset[int]:
    """Return the pages that list items with the pages they begin on."""
    found: dict[int, int] = {}
    for draft in drafts:
        if draft.kind is not BlockKind.HEADING:
            entries = sum(_ENTRY.match(line.text.strip()) is not None for line in draft.lines)
            found[draft.page] = found.get(draft.page, 0) + entries
    return frozenset(page for page, entries in found.items() if entries >= _ENTRIES)
