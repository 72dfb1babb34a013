"""Words put together: into pieces of a line, and pieces into rows."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from abstrag.documents.pdf_layout.page import DrawnLine, Word

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
