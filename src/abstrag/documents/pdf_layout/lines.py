"""Words of a page put together: into pieces of a line, pieces into rows; and how lines begin."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

# What a page holds, in the coordinates of somebody who reads it.
#
# x grows to the right, y grows downwards, and the text of the page stands upright, however the
# file turns it.

View = Callable[[float, float, float, float], tuple[float, float, float, float]]


@dataclass(frozen=True, slots=True)
class CharacterStyle:
    """How a run of characters is set; `size` is what the reader sees, in points."""

    font: str
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False


@dataclass(slots=True)
class Word:
    """Characters of one style without a space in them.

    `glued` says that no space parts it from the word before: an exponent, a footnote mark, a bold
    stem.
    """

    text: str
    x0: float
    x1: float
    base: float
    style: CharacterStyle
    glued: bool = False


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A thin drawn line, or the edge of a filled bar, from one corner to the other."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def horizontal(self) -> bool:
        """True for a line that lies."""
        return self.x1 - self.x0 >= self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its upright words in the file's order, those turned on their side, and drawings.

    Of the drawings only those matter that tell something about the text: rules, the middles of
    small dots, which may be bullets, and whether there are any at all.
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    turned: tuple[Word, ...] = ()
    rules: tuple[DrawnLine, ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    drawn: bool = False


SPACE: Final = 0.8  # ems; a wider gap may part columns or cells, a narrower one parts words
_BESIDE: Final = 100  # pieces of a band that the next one may go on with: the last ones
_OVERLAP: Final = 0.5  # ems a word may reach back into the one before (kerning, accents)
_RAISED: Final = 0.5  # ems an exponent or index may leave the base line
_BAND: Final = 4.0  # points; base lines of neighbours lie in bands not far apart
_MAIN_SHARE: Final = 0.3  # of the letters; small capitals outnumber the large ones
_BOLD_SHARE: Final = 0.9  # of the letters, to call a line bold or italic
_LEVEL: Final = 0.5  # points by which the strokes of one line may differ in height
_MEET: Final = 2.0  # points between the end of a stroke and the next one


class PdfLine:
    """Words on one base line, left to right; a piece of a line or all of it."""

    __slots__ = ("base", "bold", "bottom", "italic", "letters", "mono", "size", "text", "top",
                 "underlined", "words", "x0", "x1")  # fmt: skip

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = tuple(words)
        self.x0 = min(w.x0 for w in words)
        self.x1 = max(w.x1 for w in words)
        self.underlined = False
        sizes: dict[tuple[float, float], int] = defaultdict(int)
        for word in words:
            sizes[word.style.size, word.base] += len(word.text)
        self.letters = sum(sizes.values())
        main = [key for key in sizes if sizes[key] >= _MAIN_SHARE * self.letters]
        self.size, self.base = max(main or sizes, key=lambda key: (key[0], sizes[key]))
        on_line = [w for w in words if w.base == self.base]  # an exponent does not count
        share = _BOLD_SHARE * sum(len(w.text) for w in on_line)
        self.bold = sum(len(w.text) for w in on_line if w.style.bold) >= share
        self.italic = sum(len(w.text) for w in on_line if w.style.italic) >= share
        self.mono = sum(len(w.text) for w in on_line if w.style.mono) >= share
        self.top = self.base - 0.75 * self.size
        self.bottom = self.base + 0.22 * self.size
        self.text = "".join(
            w.text if w.glued or not i else f" {w.text}" for i, w in enumerate(words)
        )

    def __repr__(self) -> str:
        return f"Line({self.x0:.0f}-{self.x1:.0f} @{self.base:.0f} {self.size:g} {self.text!r})"

    @property
    def width(self) -> float:
        """How far it reaches."""
        return self.x1 - self.x0


T = TypeVar("T")


def runs_of(items: Iterable[T], together: Callable[[T, T], bool]) -> list[list[T]]:
    """Cut a sequence where two neighbours do not go together."""
    runs: list[list[T]] = []
    for item in items:
        if runs and together(runs[-1][-1], item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def joined(pieces: Iterable[PdfLine]) -> PdfLine:
    """Make one line of pieces, left to right, with a space between."""
    ordered = sorted(pieces, key=lambda p: p.x0)
    if len(ordered) == 1:
        return ordered[0]
    words: list[Word] = []
    for piece in ordered:
        first, *rest = piece.words
        if words and first.glued:
            first = Word(first.text, first.x0, first.x1, first.base, first.style)
        words += [first, *rest]
    line = PdfLine(words)
    line.underlined = all(p.underlined for p in ordered)
    return line


def pieces_of(words: Iterable[Word]) -> list[PdfLine]:
    """Put words together as long as no gap wider than a space parts them.

    The file's order does most of the work; what it draws out of order is put in its place after.
    """
    runs: list[list[Word]] = []
    size = base = 0.0
    for word in words:
        if runs and _continues(runs[-1][-1], word, size, base):
            runs[-1].append(word)
            if word.style.size > size:
                size, base = word.style.size, word.base
        else:
            runs.append([word])
            size, base = word.style.size, word.base
    return _mended([PdfLine(run) for run in runs])


def _continues(last: Word, word: Word, size: float, base: float) -> bool:
    em = max(size, word.style.size)
    if abs(word.base - base) > _RAISED * em:
        return False
    gap = word.x0 - last.x1
    return -_OVERLAP * em < gap < SPACE * em and word.x1 > last.x0


def _mended(pieces: list[PdfLine]) -> list[PdfLine]:
    """Join neighbours that the file draws at different times."""
    made: list[PdfLine] = []
    at_height: dict[int, list[int]] = defaultdict(list)  # base line in bands → pieces made there
    for piece in sorted(pieces, key=lambda p: (p.x0, p.base)):
        band = round(piece.base / _BAND)
        left = [
            i
            for near in range(band - 2, band + 3)
            for i in at_height[near][-_BESIDE:]
            if _touches(made[i], piece)
        ]
        if left:
            nearest = max(left, key=lambda i: made[i].x1)
            made[nearest] = PdfLine((*made[nearest].words, *_following(made[nearest], piece)))
        else:
            at_height[band].append(len(made))
            made.append(piece)
    return sorted(made, key=lambda p: (p.base, p.x0))


def _touches(left: PdfLine, right: PdfLine) -> bool:
    em = max(left.size, right.size)
    if abs(left.base - right.base) > (_RAISED if left.size != right.size else 0.2) * em:
        return False
    return -0.15 * em < right.x0 - left.x1 < SPACE * em


def _following(left: PdfLine, right: PdfLine) -> tuple[Word, ...]:
    """Return the words to append; a gap you could read as a space is one."""
    first = right.words[0]
    gap = first.x0 - left.x1
    glued = gap < 0.12 * max(left.size, right.size)
    return (Word(first.text, first.x0, first.x1, first.base, first.style, glued), *right.words[1:])


def rows_of(pieces: Iterable[PdfLine]) -> list[list[PdfLine]]:
    """Put pieces that stand beside each other into rows, top to bottom, left to right."""
    rows: list[list[PdfLine]] = []
    marks: list[tuple[float, float]] = []  # base line of the first piece, largest size
    for piece in sorted(pieces, key=lambda p: (p.base, p.x0)):
        for i in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            base, size = marks[i]
            size = max(size, piece.size)
            off = abs(piece.base - base) / size
            if off < 0.05 or (off < 0.4 and not any(_collide(p, piece) for p in rows[i])):
                rows[i].append(piece)
                marks[i] = (base, size)
                break
        else:
            rows.append([piece])
            marks.append((piece.base, piece.size))
    for row in rows:
        row.sort(key=lambda p: p.x0)
    rows.sort(key=lambda row: (max(p.base for p in row), row[0].x0))
    return rows


def _collide(a: PdfLine, b: PdfLine) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.3 * min(a.size, b.size)


def underline(pieces: Iterable[PdfLine], rules: Iterable[DrawnLine]) -> None:
    """Mark the pieces that a rule of their own width runs under, drawn in one stroke or several."""
    lying = sorted((r for r in rules if r.horizontal), key=lambda r: r.y0)
    heights = [r.y0 for r in lying]
    for piece in pieces:
        em = piece.size
        below = bisect_left(heights, piece.base - 0.05 * em)
        under = lying[below : bisect_left(heights, piece.base + 0.3 * em)]
        piece.underlined = any(
            abs(x0 - piece.x0) < 0.5 * em and abs(x1 - piece.x1) < 0.5 * em
            for x0, x1 in _strokes(under)
        )


def _strokes(rules: Sequence[DrawnLine]) -> list[tuple[float, float]]:
    """Return where rules begin and end; those that touch at one height are one."""
    found: list[tuple[float, float, float]] = []  # height, begin, end
    for rule in sorted(rules, key=lambda r: (r.y0, r.x0)):
        if found and rule.y0 - found[-1][0] < _LEVEL and abs(rule.x0 - found[-1][2]) <= _MEET:
            found[-1] = (found[-1][0], found[-1][1], max(found[-1][2], rule.x1))
        else:
            found.append((rule.y0, rule.x0, rule.x1))
    return [(x0, x1) for _, x0, x1 in found]


_BULLET: Final = re.compile(r"[•◦▪▫‣⁃·∙●○■□◆◇►▶➢➤✓✔❖\uf000-\uf0ff](?:\s|$)|[–—*-]\s(?=\S)")
_ENUMERATOR: Final = re.compile(
    r"(?:\d{1,3}[.)]|\(\d{1,3}\)|\[\d{1,3}\]|[a-z][.)]|\([a-z]{1,4}\)|[ivx]{1,5}[.)]|[A-Z]\))\s+[^\s\d]"
)
_NUMBERED: Final = re.compile(
    r"(?:(?P<part>(?i:part|chapter|section|item|article|appendix|annex|schedule|exhibit|note))\s+)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4}|[IVX]{1,5}|[A-Z]|\d{1,2}[A-Z])"
    r"(?P<end>[.:)]|\s*[—–-])?\s+(?=\S)"
)
_CAPTION: Final = re.compile(
    r"(?i:(?P<what>table|tab\.|figure|fig\.|scheme|listing|algorithm|chart|plate|box))\s*"
    r"(?P<number>[A-Z]?\d{1,3}(?:[.-]\d{1,3})*[a-z]?|[IVX]{1,5})(?P<end>\s*[.:|—–]|\s|$)"
)
OPEN_WORDS: Final = frozenset(  # a line that ends in one of them goes on
    "a an and are as at be by for from in into is its of on or our than that the their this to was"
    " were which whose with".split()
)
SMALL_PRINT: Final = 0.95  # of the body's size
_NOTE: Final = re.compile(r"\(\d{1,2}\)|\d{1,2}|[*∗†‡§¶]+|\([a-z*]\)")


def is_bullet(line: PdfLine) -> bool:
    """True for a line that begins with a bullet or a dash set off from the text."""
    return _BULLET.match(line.text) is not None


def is_enumerated(line: PdfLine) -> bool:
    """True for a line that begins like an item of a numbered list or of a bibliography."""
    return _ENUMERATOR.match(line.text) is not None


def caption_of(line: PdfLine) -> str | None:
    """Return what a caption is for, "table" or "figure", or None for a line that begins none.

    "Table 2: Results" and "Table 2. Results" are captions; "Table 2 shows" is not, unless its label
    is set in a style of its own.
    """
    match = _CAPTION.match(line.text)
    if match is None:
        return None
    if not match["end"].strip() and match.end() < len(line.text) and not _set_off(line):
        return None
    return "table" if match["what"].casefold().startswith("tab") else "figure"


def _set_off(line: PdfLine) -> bool:
    """True when the label of a caption is bold, or the number is, and what follows is not."""
    first, number = line.words[0], line.words[min(1, len(line.words) - 1)]
    rest = line.words[2:]
    return first.style.bold and number.style.bold and not (rest and rest[-1].style.bold)


def note_mark(line: PdfLine, body: float) -> bool:
    """True for a line that begins with the mark of a footnote.

    A raised mark is one by itself; a symbol or "(1)" on the base line only in small print.
    """
    first = line.words[0]
    if _NOTE.match(first.text) is None:
        return False
    raised = first.base < line.base - 0.1 * line.size and first.style.size < 0.9 * line.size
    return raised or (line.size < SMALL_PRINT * body and not first.text[0].isdigit())


def number_depth(text: str) -> int:
    """Return how deep a heading's number is, 2 for "3.1 Method", or 0 when it has none.

    A lone letter or Roman number needs what a sentence would not put there: a full stop, or a word
    like "Appendix" in front.
    """
    match = _NUMBERED.match(text)
    if match is None:
        return 0
    number = match["number"]
    if not number[0].isdigit() and "." not in number and not (match["part"] or match["end"]):
        rest = text[match.end() :]
        if number == "I" or (number == "A" and rest[:1].islower()) or len(number) > 1:
            return 0
    return number.count(".") + 1
