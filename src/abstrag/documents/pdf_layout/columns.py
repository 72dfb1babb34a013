"""What is read of a page, and in which order: columns, and the running text without furniture.

A gutter is an upright line that runs between pieces standing side by side. What crosses it (a
title, a wide table, a rule) cuts the page into bands; a band is read column by column when there is
running text beside the gutter, and row by row otherwise, as in a table or a block of addresses.

Running headers, footers and page numbers are what a page repeats at its edges. Rows are taken off
from the outside in, so that a repeated row counts only where everything beyond it is furniture too.
A row goes when it returns on other pages and each number in it either stays the same or counts with
the pages.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Final

from abstrag.documents.pdf_layout.lines import DrawnLine, Page, PdfLine, Word, rows_of, runs_of

_BESIDE: Final = 250  # pieces before and behind one that may stand at its height
_TRIES: Final = 3  # gutters looked at before a region counts as one column
_NARROWEST: Final = 0.9  # ems between columns
_FULL: Final = 0.7  # of the column's width that a full row takes up
_UNBROKEN: Final = 0.5  # of the column's width without a gap: running text, not cells
_LETTERS: Final = 20  # in a full row at least
_ROWS: Final = 4  # full rows on both sides that make a gutter sure by itself
_HINTED_ROWS: Final = 2  # on one side, where other pages have the gutter too
_NEAR: Final = 12.0  # points between gutters of two pages that count as the same
_SLACK: Final = 1.0  # points that a piece may lean into the gutter
Row = list[PdfLine]
_DEPTH: Final = 3  # rows at an edge that may be furniture
_REPEATS: Final = 3  # pages that must agree; all of them in a shorter document
_LARGE: Final = 1.15  # of the body's size; running headers are not set larger than this
_PARTS: Final = 3  # left, middle and right; what has more is the head of a table
_LONG: Final = 150  # letters; what is longer is text
_EDGE: Final = 0.15  # of the page's height, where a lone page's number stands
_APART: Final = 1.6  # ems that separate it from the text
_NUMBER: Final = re.compile(r"\d+|(?<![\w.])(?:[ivxlc]+|[IVXLC]+)(?![\w.])")
_PAGE_NUMBER: Final = re.compile(
    r"[\s|\[(–—-]*(?:page|p\.|seite)?\s*(?:[A-Z]{1,2}[-.]?|\d{1,3}[-.])?(?:\d{1,4}|[ivxlc]+)"
    r"(?:\s*(?:of|/|von)\s*\d{1,4})?[\s|\])–—-]*",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that is read top to bottom, and the margins of its column."""

    pieces: tuple[PdfLine, ...]
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class _Side:
    """What stands on one side of a gutter."""

    left: float
    right: float

    def full_rows(self, pieces: Iterable[PdfLine]) -> tuple[int, int]:
        """Count the rows that look like running text, and all rows."""
        rows = rows_of(pieces)
        width = self.right - self.left
        full = sum(
            row[-1].x1 - row[0].x0 >= _FULL * width
            and max(p.width for p in row) >= _UNBROKEN * width
            and sum(p.letters for p in row) >= _LETTERS
            for row in rows
        )
        return full, len(rows)

    def prose(self, pieces: Sequence[PdfLine]) -> bool:
        """True when pieces read like running text rather than like cells or labels."""
        full, rows = self.full_rows(pieces)
        return full > 0 and full >= 0.4 * rows


def gutter_of(
    pieces: Sequence[PdfLine], rules: Sequence[DrawnLine], hints: Sequence[float] = ()
) -> float | None:
    """Return where a page parts into columns, or None when it is a single one.

    `hints` are the gutters of other pages: where they agree, less text is proof enough.
    """
    for x in (*_candidates(pieces), *hints):
        cut = _cut(pieces, x)
        if cut is None:
            continue
        hinted = any(abs(x - hint) <= _NEAR for hint in hints)
        hinted = hinted and 2 * sum(_crosses(p, x) for p in pieces) < len(pieces)
        full = [0, 0]
        for crossing, band in cut.bands(pieces, rules):
            if not crossing:
                for i, part in enumerate(cut.apart(band)):
                    full[i] += cut.sides[i].full_rows(part)[0]
        if min(full) >= _ROWS or (hinted and max(full) >= _HINTED_ROWS):
            return x
    return None


def common_gutters(gutters: Iterable[float | None]) -> tuple[float, ...]:
    """Return the gutters that two pages or more agree on, left to right."""
    found = sorted(x for x in gutters if x is not None)
    groups = runs_of(found, lambda last, x: x - last <= _NEAR)
    return tuple(median(group) for group in groups if len(group) > 1)


def regions_of(
    pieces: Sequence[PdfLine], rules: Sequence[DrawnLine], gutter: float | None
) -> list[Region]:
    """Cut a page with a known gutter into regions, in the order they are read."""
    if not pieces:
        return []
    left, right = _margins(pieces)
    cut = _cut(pieces, gutter) if gutter is not None else None
    if cut is None:
        return [Region(tuple(pieces), left, right)]
    bands = cut.bands(pieces, rules)
    columns: list[tuple[list[PdfLine], list[PdfLine]] | None] = []
    for crossing, band in bands:
        sides = cut.apart(band)
        running = any(s.prose(p) for s, p in zip(cut.sides, sides, strict=True))
        columns.append(sides if running and not crossing else None)
    margins = [_margins([p for c in columns if c for p in c[i]]) for i in (0, 1)]
    regions: list[Region] = []
    for (_, band), parts in zip(bands, columns, strict=True):
        if parts is None:
            regions.append(Region(tuple(band), left, right))
            continue
        for part, margin in zip(parts, margins, strict=True):
            inner = regions_of(part, rules, gutter_of(part, rules))
            regions += inner if len(inner) > 1 else [Region(tuple(part), *margin)] if part else []
    return _united(regions)


def _margins(pieces: Sequence[PdfLine]) -> tuple[float, float]:
    return min((p.x0 for p in pieces), default=0.0), max((p.x1 for p in pieces), default=0.0)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A gutter at `x` and what lies left and right of it."""

    x: float
    sides: tuple[_Side, _Side]

    def apart(self, band: Iterable[PdfLine]) -> tuple[list[PdfLine], list[PdfLine]]:
        """Return what stands left of the gutter and what stands right of it."""
        band = list(band)
        middle = [(p, (p.x0 + p.x1) / 2) for p in band]
        return [p for p, m in middle if m < self.x], [p for p, m in middle if m >= self.x]

    def bands(
        self, pieces: Sequence[PdfLine], rules: Sequence[DrawnLine]
    ) -> list[tuple[bool, list[PdfLine]]]:
        """Return the page in bands, top to bottom: what crosses the gutter, what does not."""
        walls = sorted(r.y0 for r in rules if _rule_crosses(r, self.x))
        marked: list[tuple[int, bool, list[PdfLine]]] = []
        for row in rows_of(pieces):
            above = bisect_left(walls, row[0].base - 0.3 * row[0].size)
            crossing = any(_crosses(p, self.x) for p in row)
            if marked and not crossing:
                crossing = marked[-1][:2] == (above, True) and _ends_paragraph(marked[-1][2], row)
            marked.append((above, crossing, row))
        return [
            (crossing, [piece for *_, row in group for piece in row])
            for (_, crossing), group in groupby(marked, key=lambda m: m[:2])
        ]


def _cut(pieces: Sequence[PdfLine], x: float) -> _Cut | None:
    left = [p for p in pieces if p.x1 <= x + _SLACK]
    right = [p for p in pieces if p.x0 >= x - _SLACK]
    if not left or not right:
        return None
    return _Cut(
        x,
        (
            _Side(min(p.x0 for p in left), max(p.x1 for p in left)),
            _Side(min(p.x0 for p in right), max(p.x1 for p in right)),
        ),
    )


def _candidates(pieces: Sequence[PdfLine]) -> list[float]:
    """Return the places where most pieces stand apart side by side, best first."""
    gaps = _gaps(pieces)
    found: list[float] = []
    while gaps and len(found) < _TRIES:
        edges = sorted([(a, 1) for a, _ in gaps] + [(b, -1) for _, b in gaps])
        depth = best = 0
        start = stop = 0.0
        for i, (x, step) in enumerate(edges):
            depth += step
            if depth > best:
                best, start, stop = depth, x, edges[i + 1][0]
        if best < _HINTED_ROWS:
            break
        middle = (start + stop) / 2
        found.append(middle)
        gaps = [(a, b) for a, b in gaps if not a <= middle <= b]
    return found


def _gaps(pieces: Sequence[PdfLine]) -> list[tuple[float, float]]:
    """Return the gap between each piece and its neighbour to the right, where it is wide."""
    ordered = sorted(pieces, key=lambda p: p.top)
    gaps = []
    for i, piece in enumerate(ordered):
        nearest: float | None = None
        for other in _beside(ordered, i):
            if other.x0 >= piece.x1 and (nearest is None or other.x0 < nearest):
                nearest = other.x0
        if nearest is not None and nearest - piece.x1 >= _NARROWEST * piece.size:
            gaps.append((piece.x1, nearest))
    return gaps


def _beside(ordered: Sequence[PdfLine], i: int) -> Iterable[PdfLine]:
    """Go through the pieces that stand at the height of one, in a list sorted by top."""
    piece = ordered[i]
    middle = (piece.top + piece.bottom) / 2
    for near in (range(i - 1, max(-1, i - 1 - _BESIDE), -1), range(i + 1, i + 1 + _BESIDE)):
        for j in near:
            if j >= len(ordered) or abs(ordered[j].top - piece.top) >= 2 * piece.size:
                break
            if ordered[j].top < middle < ordered[j].bottom:
                yield ordered[j]


def _ends_paragraph(above: Sequence[PdfLine], row: Sequence[PdfLine]) -> bool:
    """True for a row that is too short to cross, but goes on with one that does."""
    line, last = row[0], above[0]
    return (
        len(row) == 1
        and abs(line.size - last.size) < 0.05 * last.size
        and abs(line.x0 - last.x0) < 0.5 * last.size
        and 0 < line.base - last.base < 1.4 * last.size
    )


def _crosses(piece: PdfLine, x: float) -> bool:
    return piece.x0 < x - _SLACK and piece.x1 > x + _SLACK


def _rule_crosses(rule: DrawnLine, x: float) -> bool:
    reach = 4 * _NEAR
    return rule.horizontal and rule.x0 < x - reach and rule.x1 > x + reach


def _united(regions: Sequence[Region]) -> list[Region]:
    """Put regions of the same margins that follow each other together again."""
    united: list[Region] = []
    for region in regions:
        last = united[-1] if united else None
        if last and (last.left, last.right) == (region.left, region.right):
            united[-1] = Region(last.pieces + region.pieces, last.left, last.right)
        else:
            united.append(region)
    return united


def without_furniture(pages: Sequence[Page], rows: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Return the rows of each page less its running headers, footers and page numbers."""
    body = body_size(rows)
    kept = [list(r) for r in rows]
    for edge in (0, -1):
        for _ in range(_DEPTH):
            outermost = {i: r[edge] for i, r in enumerate(kept) if len(r) > 1}
            apart = {i for i in outermost if _apart(kept[i], edge)}
            gone = _repeated(outermost, apart, len(pages), body)
            if len(pages) < _REPEATS:
                gone |= {i for i in apart if _lone_number(outermost[i], pages[i], edge)}
            if not gone:
                break
            for i in gone:
                del kept[i][edge]
    return kept


def running_head(rows: Sequence[Row], kept: Sequence[Row]) -> str:
    """Return what a page has over its text besides a page number."""
    over = [row for row in rows if not kept or row[0].base < kept[0][0].base]
    parts = (line.text for row in over for line in row)
    return " ".join(part for part in parts if not _PAGE_NUMBER.fullmatch(part))


def body_size(rows: Sequence[Sequence[Row]]) -> float:
    """Return the size most of a document's letters have."""
    letters: Counter[float] = Counter()
    for page in rows:
        for row in page:
            for line in row:
                letters[line.size] += line.letters
    return max(sorted(letters), key=lambda size: letters[size], default=10.0)


def _apart(rows: list[Row], edge: int) -> bool:
    """True when the outermost row keeps its distance from the next."""
    row, inner = (rows[0], rows[1]) if edge == 0 else (rows[-1], rows[-2])
    return abs(row[0].base - inner[0].base) > _APART * max(line.size for line in row)


def _repeated(outermost: dict[int, Row], apart: set[int], pages: int, body: float) -> set[int]:
    """Return the pages whose outermost row returns on enough other pages.

    On most pages it may be anything; on fewer it must stand apart and be no sentence, or a heading
    that three chapters share would go.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for i, row in outermost.items():
        text = _text(row)
        small = max(line.size for line in row) <= _LARGE * body
        if small and len(text) <= _LONG and len(row) <= _PARTS:
            alike[_NUMBER.sub("#", text)].append(i)
    enough = _REPEATS if pages > _REPEATS else max(2, pages)
    gone: set[int] = set()
    for text, where in alike.items():
        if 2 * len(where) < pages:
            where = [i for i in where if i in apart and not text.endswith(".")]
        if len(where) < enough:
            continue
        numbers = {i: [_value(n) for n in _NUMBER.findall(_text(outermost[i]))] for i in where}
        columns = zip(*(numbers[i] for i in where), strict=True)
        regular = [_regular(column, where, enough) for column in columns]
        gone |= {i for at, i in enumerate(where) if all(fits[at] for fits in regular)}
    return gone


def _regular(column: Sequence[int], where: Sequence[int], enough: int) -> list[bool]:
    """Say for each page whether a number stays, or grows by one a page, on enough pages."""
    same = Counter(column)
    steps = Counter(v - i for v, i in zip(column, where, strict=True))
    return [same[v] >= enough or steps[v - i] >= enough for v, i in zip(column, where, strict=True)]


def _lone_number(row: Row, page: Page, edge: int) -> bool:
    """True for a page number that no other page confirms, but whose place speaks for it."""
    y = row[0].base / page.height
    if not (y < _EDGE if edge == 0 else y > 1 - _EDGE) or len(row) > 2:
        return False
    return any(_PAGE_NUMBER.fullmatch(p.text) and not _YEAR.fullmatch(p.text) for p in row)


def _text(row: Row) -> str:
    return " ".join(line.text for line in row)


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    digits = [_ROMAN[c] for c in number.lower()]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-d if d < after else d for d, after in pairs)


def sideways(page: Page, rows: Sequence[Row]) -> tuple[list[list[Word]], str]:
    """Tell turned text inside of the page's text from stamps in its margins.

    Returns the runs of turned words to keep, and what the stamps say.
    """
    left = min((line.x0 for row in rows for line in row), default=0.0)
    right = max((line.x1 for row in rows for line in row), default=page.width)
    kept: list[list[Word]] = []
    stamps: list[str] = []
    for run in _runs(page.turned):
        outside = max(w.x1 for w in run) <= left or min(w.x0 for w in run) >= right
        if outside:
            stamps.append(" ".join(w.text for w in run))
        else:
            kept.append(run)
    return kept, " ".join(stamps)


def _runs(words: Sequence[Word]) -> list[list[Word]]:
    """Put turned words that stand in one line together."""
    return runs_of(words, lambda last, word: abs(word.x0 - last.x0) < 0.5 * word.style.size)
