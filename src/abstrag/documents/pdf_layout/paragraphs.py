"""Lines put together into paragraphs, items, captions and notes.

Nothing in the file says where a paragraph ends. What tells is what tells a reader: a wider gap, an
indent, a line that stops although the next word would have fitted, a bullet, another style.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

from abstrag.documents.pdf_layout.document_writer import BlockDraft, ends_sentence
from abstrag.documents.pdf_layout.lattice import Lattice
from abstrag.documents.pdf_layout.lines import (
    OPEN_WORDS,
    SMALL_PRINT,
    SPACE,
    PdfLine,
    Word,
    caption_of,
    is_bullet,
    is_enumerated,
    note_mark,
    number_depth,
    runs_of,
)
from abstrag.model.document import BlockKind

# Words of headings that are torn: "Balance Shee t", where a link's target was set into the word.
#
# The gap is as wide as a space, so only the document's own words can tell: "sheet" stands
# elsewhere, "shee" does not.

_ONLY_LETTERS: Final = re.compile(r"[^\W\d_]+")
_END: Final = ".,:;"
_WORDS: Final = frozenset({"a", "i", "o"})  # that have one letter
_PIECE: Final = 4  # letters that a link's target parts from the end of a word
_ROMAN: Final = frozenset({"II", "III", "IV", "VI"})


def mend_torn_words(drafts: Sequence[BlockDraft]) -> None:
    """Put together what stands in two pieces in the bold lines of a document."""
    bold = [d for d in drafts if d.table is None and d.bold and not d.figure and len(d.lines) <= 6]
    known = Counter(
        word.casefold()
        for d in drafts
        for line in d.lines
        for word in _ONLY_LETTERS.findall(line.text)
    )
    for draft in bold:
        draft.lines = [_mended(line, known) for line in draft.lines]


def _mended(line: PdfLine, known: Counter[str]) -> PdfLine:
    torn = [i for i in range(1, len(line.words)) if _torn(line.words, i, known)]
    if not torn:
        return line
    words = [replace(word, glued=word.glued or i in torn) for i, word in enumerate(line.words)]
    made = PdfLine(words)
    made.underlined = line.underlined
    return made


def _torn(words: Sequence[Word], i: int, known: Counter[str]) -> bool:
    """True when the words before and at a place are one word that the document uses elsewhere."""
    first, second = words[i - 1].text, words[i].text.rstrip(_END)
    if words[i].glued or not _all_letters((first, second)):
        return False
    if i > 1 and words[i - 2].text.casefold() == "part" and first + second in _ROMAN:
        return True
    whole = (first + second).casefold()
    if len(whole) < 4 or len(second) > _PIECE or not known[whole]:
        return False
    if len(second) == 1 and second.casefold() not in _WORDS:
        return True
    return known[first.casefold()] <= known[whole] and known[second.casefold()] <= known[whole]


def _all_letters(texts: Iterable[str]) -> bool:
    return all(_ONLY_LETTERS.fullmatch(text) for text in texts)


_FLOWING: Final = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
_SAME_SIZE: Final = 0.1
_LETTERS: Final = 15  # in the rest of a paragraph, unless it ends one
_WORD: Final = re.compile(r"[\"'“‘(\[]*[^\W\d_]{2,}(?:[^\W_]|[-'’./])*[^\w\s]*|a|I|\d+")
_OPEN_ENDS: Final = frozenset(",-–—(&/")


def flowing(drafts: Sequence[BlockDraft]) -> list[BlockDraft]:
    """Join paragraphs that a column, a page or a float tears apart.

    What stood between the parts follows the whole, so that a paragraph is one stretch of text.
    """
    made: list[BlockDraft] = []
    tail: BlockDraft | None = None
    torn = False  # something lies between the tail and where we are
    for draft in drafts:
        if draft.floating:
            made.append(draft)
            torn = True
            continue
        if tail is not None and (torn or _elsewhere(made[-1], draft)) and _goes_on(tail, draft):
            tail.lines += draft.lines
            tail.left, tail.right = draft.left, draft.right
            torn = True  # a second column may hold nothing but the middle of a paragraph
            continue
        made.append(draft)
        tail, torn = draft, False
    return made


def _elsewhere(last: BlockDraft, draft: BlockDraft) -> bool:
    return (last.page, last.left, last.right) != (draft.page, draft.left, draft.right)


def _goes_on(tail: BlockDraft, draft: BlockDraft) -> bool:
    """True when a block is the rest of another: the sentence is open and goes on."""
    if tail.kind not in _FLOWING or draft.kind is not BlockKind.PARAGRAPH or tail.ends_sentence:
        return False
    if abs(tail.size - draft.size) > _SAME_SIZE * tail.size:
        return False
    if sum(line.letters for line in draft.lines) < _LETTERS and not draft.ends_sentence:
        return False
    end, start = tail.lines[-1], draft.lines[0]
    if draft.bold and not tail.bold:  # a heading at the top of a column
        return False
    if not _is_language(end.text):
        return False
    if start.text[:1].islower() or end.words[-1].text.lower() in OPEN_WORDS:
        return True
    word = start.words[0]
    full = end.x1 + word.x1 - word.x0 > tail.right - end.size  # the next word found no room
    indented = start.x0 > draft.left + 0.7 * start.size
    last = end.text[-1]
    return full and not indented and (last.isalnum() or last in _OPEN_ENDS)


def _is_language(text: str) -> bool:
    """True unless most of a line is symbols, as in a formula."""
    words = text.split()
    return 2 * sum(_WORD.fullmatch(word) is not None for word in words) >= len(words)


# The words of drawings: told from the text by their captions, and kept together.
#
# Axis labels and the boxes of a diagram are text to the file. They are read after what they stand
# in, as one block per figure, and nothing of them may become a heading or tear a paragraph apart.

_SMALL: Final = 0.93  # of the body's size
_FEW: Final = 26  # letters a line, at most, where labels are as large as the text
_TERSE: Final = 5  # characters in the cell of a diagram
_SHORT: Final = 0.6  # of the column's width


def gathered(drafts: Sequence[BlockDraft], body: float) -> list[BlockDraft]:
    """Make one block of the words above each caption of a figure."""
    made: list[BlockDraft] = []
    for draft in drafts:
        if draft.caption_for == "figure":
            words: list[BlockDraft] = []
            while made and made[-1].page == draft.page and _sketched(made[-1], body):
                words.insert(0, made.pop())
            if words:
                lines = [line for word in words for line in word.lines]
                first = words[0]
                made.append(
                    BlockDraft(
                        BlockKind.PARAGRAPH, lines, first.page, first.left, first.right, figure=True
                    )
                )
        made.append(draft)
    return made


def _sketched(draft: BlockDraft, body: float) -> bool:
    """True for words that are no running text: small, or few in a line."""
    if draft.table is not None:
        return _drawn(draft.table)
    if draft.kind in (BlockKind.CAPTION, BlockKind.FOOTNOTE) or draft.bullet:
        return False
    if draft.bold and draft.size > 1.05 * body and number_depth(draft.text):
        return False
    width = draft.right - draft.left
    runs = [run for line in draft.lines for run in _runs(line)]
    full = sum(run[-1].x1 - run[0].x0 > _SHORT * width and len(run) > 5 for run in runs)
    if draft.size < _SMALL * body:
        return 3 * full <= len(draft.lines)
    letters = sum(len(word.text) for run in runs for word in run) / len(runs)
    return letters <= _FEW and not full and not draft.ends_sentence


def _drawn(table: Lattice) -> bool:
    """True for what looks like a table, but has no head and next to no words: a diagram."""
    texts = [entry.text for row in table.rows for entry in row.entries]
    headed = any(row.header for row in table.rows)
    return not headed and sum(map(len, texts)) <= _TERSE * len(texts)


def _runs(line: PdfLine) -> list[list[Word]]:
    """Cut a line at its wide gaps."""
    return runs_of(line.words, lambda last, word: word.x0 - last.x1 < SPACE * line.size)


_GAP: Final = 1.28  # of the usual distance between lines: a new paragraph
_SIZE: Final = 0.1  # by which sizes may differ within a paragraph
_HEADLINE: Final = 1.15  # of the body's size: no running text
_HEAD_SIZE: Final = 0.05  # by which sizes may differ there
_WIDE: Final = 0.6  # of the column that a line of running text takes up
_INDENT: Final = 0.7  # ems: the indent of a first line, at least
_DEEP: Final = 6.0  # ems: what is indented further is centred
_SURE: Final = 3  # lines of a column that tell how far apart lines are
_FAR: Final = 1.6  # ems from line to line


@dataclass(frozen=True, slots=True)
class Column:
    """Lines of one region, top to bottom, and what is around them."""

    lines: Sequence[PdfLine]
    left: float
    right: float
    page: int
    body: float
    middle: float = 0.0  # of the page's height
    dots: Sequence[tuple[float, float]] = ()  # sorted by height


def paragraphs_of(column: Column) -> list[BlockDraft]:
    """Cut the lines of a column into blocks."""
    if not column.lines:
        return []
    cutter = _Cutter(column)
    drafts: list[BlockDraft] = []
    group: list[PdfLine] = []
    for i, line in enumerate(column.lines):
        if group and cutter.parts(i, group):
            drafts.append(cutter.draft(group))
            group = []
        group.append(line)
    drafts.append(cutter.draft(group))
    _only_at_the_foot(drafts, column)
    return drafts


def _only_at_the_foot(drafts: Sequence[BlockDraft], column: Column) -> None:
    """Keep notes that are as large as the text only where nothing but notes follows."""
    at_foot = True
    for draft in reversed(drafts):
        is_note = draft.kind is BlockKind.FOOTNOTE
        at_foot = at_foot and is_note and draft.lines[0].base > column.middle
        if is_note and not at_foot and draft.size >= SMALL_PRINT * column.body:
            draft.kind = BlockKind.PARAGRAPH


class _Cutter:
    """The lines of a column and what each tells about the one above it."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.lines = column.lines
        self.leading = _leading(column)
        self.bullets = {i for i, line in enumerate(column.lines) if self._has_bullet(line)}
        self.index = {id(line): i for i, line in enumerate(column.lines)}

    def parts(self, i: int, group: Sequence[PdfLine]) -> bool:
        """True when a new block begins with line `i`, after the lines of `group`."""
        line, above = self.lines[i], self.lines[i - 1]
        if _of_one_formula(above, line, self.column.body):
            return False
        return (
            i in self.bullets
            or self._other_style(line, above, group)
            or line.base - above.base > _GAP * self._usual(group)
            or self._begins_anew(i, group)
            or self._indented(i, group)
            or self._stopped_short(i)
        )

    def draft(self, group: Sequence[PdfLine]) -> BlockDraft:
        """Make a block of lines and say what it is."""
        first = group[0]
        kind = BlockKind.PARAGRAPH
        bullet = self.index[id(first)] in self.bullets
        caption = caption_of(first)
        if caption:
            kind = BlockKind.CAPTION
        elif note_mark(first, self.column.body):
            kind = BlockKind.FOOTNOTE
        elif bullet or is_enumerated(first):
            kind = BlockKind.LIST_ITEM
        elif len(group) > 2 and all(line.mono for line in group):
            kind = BlockKind.CODE
        column = self.column
        return BlockDraft(
            kind, list(group), column.page, column.left, column.right,
            caption_for=caption, bullet=bullet,
        )  # fmt: skip

    def _has_bullet(self, line: PdfLine) -> bool:
        """True for a bullet, be it a character or drawn."""
        if is_bullet(line):
            return True
        dots = self.column.dots
        for x, y in dots[bisect_left(dots, line.base - line.size, key=lambda dot: dot[1]) :]:
            if y > line.base:
                break
            if 0.2 * line.size < line.x0 - x < 2.5 * line.size:
                return True
        return False

    def _usual(self, group: Sequence[PdfLine]) -> float:
        """Return the distance of lines in a block: its own once that is sure, else the column's."""
        usual = max(self.leading, 1.05) * group[-1].size
        steps = [b.base - a.base for a, b in pairwise(group[-3:])]
        sure = len(steps) == 2 and abs(steps[0] - steps[1]) < 0.1 * group[-1].size
        own = steps[-1] if steps else usual
        return own if sure or own > usual else usual

    def _other_style(self, line: PdfLine, above: PdfLine, group: Sequence[PdfLine]) -> bool:
        """True when a line is set otherwise than the block above it."""
        size = max(line.size, above.size)
        large = size > _HEADLINE * self.column.body
        if abs(line.size - above.size) > (_HEAD_SIZE if large else _SIZE) * size:
            return min(line.letters, above.letters) > 1 or line.size > above.size
        if line.bold != above.bold:
            # A bold line is a heading unless it is the middle of a sentence.
            left = group[0].x0 - line.x0 > 0.4 * line.size  # of the item that it stands under
            apart = line.bold and (line.underlined or (left and self._marked(group[0])))
            return all(n.bold for n in group) or apart or not self._running(above)
        if line.bold and line.italic and not above.italic and not self._running(above):
            return all(not n.italic for n in group)
        if above.italic and not line.italic and not self._running(above):
            return all(n.italic for n in group)
        return line.underlined != above.underlined and all(
            n.underlined for n in (group if above.underlined else [line])
        )

    def _running(self, line: PdfLine) -> bool:
        """True for a full line of running text."""
        wide = line.width > _WIDE * (self.column.right - self.column.left)
        return wide and self._full(line) and not ends_sentence(line.text)

    def _begins_anew(self, i: int, group: Sequence[PdfLine]) -> bool:
        """True for a caption, a note, the next number of a list or of a heading."""
        line, above, first = self.lines[i], self.lines[i - 1], group[0]
        closed = ends_sentence(above.text) or not self._full(above)
        if caption_of(line):
            return closed
        if note_mark(line, self.column.body):
            return True
        if is_enumerated(line):
            same_place = abs(line.x0 - first.x0) < 0.4 * line.size and is_enumerated(first)
            return same_place or closed
        goes_on = above.words[-1].text.lower() in OPEN_WORDS
        return line.bold and number_depth(line.text) > 0 and closed and not goes_on

    def _indented(self, i: int, group: Sequence[PdfLine]) -> bool:
        """True for the indented first line of a paragraph, or one that ends a hanging indent."""
        line, first = self.lines[i], group[0]
        above = next((n for n in reversed(group) if n.letters > 3), group[-1])  # no stray symbol
        step = (line.x0 - above.x0) / line.size
        if _INDENT < step < _DEEP and not self._marked(first):
            after = self.lines[i + 1] if i + 1 < len(self.lines) else None
            returns = (
                after is not None
                and after.base - line.base < 1.6 * max(self.leading, 1.05) * line.size
                and line.x0 - after.x0 > _INDENT * line.size
            )
            return (returns or ends_sentence(above.text)) and not _centred(above, line)
        hanging = len(group) > 1 and above.x0 - first.x0 > _INDENT * line.size
        return hanging and line.x0 - first.x0 < 0.4 * line.size and step < -_INDENT

    def _marked(self, line: PdfLine) -> bool:
        bullet = self.index[id(line)] in self.bullets
        return bullet or is_enumerated(line) or note_mark(line, self.column.body)

    def _stopped_short(self, i: int) -> bool:
        """True when the line above ends a sentence where the next word would have fitted."""
        line, above = self.lines[i], self.lines[i - 1]
        if above.size > _HEADLINE * self.column.body or _centred(above, line):
            return False
        return ends_sentence(above.text) and not self._full(above, line)

    def _full(self, above: PdfLine, line: PdfLine | None = None) -> bool:
        """True for a line that had to be broken: no room for the next word."""
        i = self.index[id(above)]
        near = [
            n
            for n in self.lines[max(0, i - 3) : i + 4]
            if abs(n.size - above.size) <= _SIZE * above.size
        ]
        right = max(n.x1 for n in near)
        after = line or (self.lines[i + 1] if i + 1 < len(self.lines) else None)
        word = after.words[0] if after else None
        need = (word.x1 - word.x0 if word else 0.0) + 0.25 * above.size
        return above.x1 + need > right - 0.3 * above.size


def _of_one_formula(above: PdfLine, line: PdfLine, body: float) -> bool:
    """True for lines that overlap, or nearly so where one is a limit or an index."""
    if line.base - above.base < 0.6 * min(line.size, above.size):
        return True
    small, large = sorted((above, line), key=lambda n: n.size)
    tiny = small.size < 0.85 * min(large.size, body) and small.letters <= 10
    return tiny and line.top - above.bottom < 0.8 * large.size


def _centred(above: PdfLine, line: PdfLine) -> bool:
    """True for two lines around one middle, as titles are set."""
    off = abs((above.x0 + above.x1) - (line.x0 + line.x1)) / 2
    return off < 0.6 * line.size and abs(above.x0 - line.x0) > 0.3 * line.size


def _leading(column: Column) -> float:
    """Return the distance that lines usually have, in ems.

    Lines that run across the column tell, where there are some: what follows a short one may be
    another paragraph. Of a few lines it is not believed that they are set very far apart.
    """
    steps = [
        ((b.base - a.base) / a.size, a.width > _WIDE * (column.right - column.left))
        for a, b in pairwise(column.lines)
        if abs(a.size - b.size) < 0.5 and 0.9 * a.size < b.base - a.base < 2.6 * a.size
    ]
    inside = [step for step, wide in steps if wide]
    told = inside if len(inside) >= _SURE else [step for step, _ in steps]
    if not told:
        return 0.0
    return median(told) if len(told) >= _SURE else min(median(told), _FAR)
