"""A table as rows and columns: its cells, where its columns run, and the cells of its head."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from abstrag.documents.pdf_layout.lines import SPACE, DrawnLine, PdfLine, Word

# Cells: what stands together in one row of a table, told by gaps and by how amounts are set.
#
# Financial tables put the currency sign and the percent sign into columns of their own, often
# closer to a neighbour's number than to their own, so signs are tied to numbers before gaps are
# looked at.

_CURRENCY: Final = re.compile(r"[(−–-]?(?:US|C|A|HK)?[$€£¥]|USD|EUR|GBP|CHF|Rs\.?")
_UNIT: Final = re.compile(r"[%)]{1,2}|bps|pp|x")
_AMOUNT: Final = r"(?:US|C|A|HK)?[$€£¥]?[(−–-]?[$€£¥]?(?:\d(?:[\d,.'’]*\d)?|\.\d+)(?:[eE][−-]?\d+)?"
_SCALE: Final = r"(?:%|bps|pp|x|×|[KMB]|bn|m?s|m|thousand|million|billion|trillion)?"
_VALUE: Final = re.compile(
    rf"[+<>~±≈]?\(?{_AMOUNT}{_SCALE}\)?%?"
    rf"(?:(?:[±–−-]|to)\(?{_AMOUNT}{_SCALE}\)?%?)?(?:\(\d\)|\[\d+\]|[*†‡]+)?"
    r"|[$€£¥]?[-–—−]+%?|n/?[am]\.?|nil|NM|N/?A"
)
_YEAR: Final = re.compile(
    r"(?:(?:FY|Fiscal(?:Year)?|CY|[1-4]Q|Q[1-4])'?\d\d(?:\d\d)?|(?:19|20)\d\d(?:[-–](?:19|20)?\d\d)?)[EA*]?",
    re.IGNORECASE,
)
_STARTS_NUMBER: Final = re.compile(r"[(−–-]?[$€£¥]?[\d.]|[-–—−]+$")
_NARROW: Final = 0.5  # ems that part two numbers; words need a wider gap
_UNIT_REACH: Final = 3.0  # ems between a number and its percent sign


def is_value(text: str) -> bool:
    """True for an amount, a share, a dash that stands for nothing, and the like."""
    return _VALUE.fullmatch(re.sub(r"\s", "", text)) is not None


def is_year(text: str) -> bool:
    """True for what heads a column of values although it is a number itself."""
    return _YEAR.fullmatch(re.sub(r"\s", "", text)) is not None


def cells_of(row: Sequence[PdfLine]) -> list[PdfLine]:
    """Cut a row into cells, left to right."""
    if len(row) == 1:
        return list(row)
    words = [word for piece in sorted(row, key=lambda p: p.x0) for word in _loose(piece)]
    groups: list[list[Word]] = []
    for i, word in enumerate(words):
        after = words[i + 1] if i + 1 < len(words) else None
        if groups and _together(groups[-1], word, after):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [PdfLine(group) for group in groups]


def _loose(piece: PdfLine) -> list[Word]:
    """Return a piece's words; its first is glued to nothing."""
    first, *rest = piece.words
    if first.glued:
        first = Word(first.text, first.x0, first.x1, first.base, first.style)
    return [first, *rest]


def _together(group: list[Word], word: Word, after: Word | None) -> bool:
    """True when a word belongs to the cell on its left."""
    last = group[-1]
    if word.glued:
        return True
    gap = (word.x0 - last.x1) / max(word.style.size, last.style.size)
    if _CURRENCY.fullmatch(last.text) and _STARTS_NUMBER.match(word.text):
        return True
    if _CURRENCY.fullmatch(word.text) and after and _STARTS_NUMBER.match(after.text):
        return False
    if _UNIT.fullmatch(word.text) and is_value(_text(group)) and not _near(word, after):
        return gap < _UNIT_REACH
    if _STARTS_NUMBER.match(word.text) and is_value(_text(group)):
        return gap < _NARROW
    return gap < SPACE


def _near(word: Word, after: Word | None) -> bool:
    """True when what follows a word is nearer than a gap between cells: "% change"."""
    return (
        after is not None
        and after.x0 - word.x1 < _NARROW * word.style.size
        and _CURRENCY.fullmatch(after.text) is None
    )


def _text(group: Sequence[Word]) -> str:
    return " ".join(word.text for word in group)


Stretch = tuple[float, float]


@dataclass(slots=True)
class CellDraft:
    """A cell on its way: its lines, the columns it takes up and how many rows."""

    lines: list[PdfLine]
    first: int
    last: int
    rows: int = 1

    @property
    def text(self) -> str:
        """What it says, lines joined."""
        return " ".join(line.text for line in self.lines)


@dataclass(slots=True)
class LatticeRow:
    """A row of entries, left to right, at the height of its lowest line."""

    entries: list[CellDraft]
    base: float
    size: float
    header: bool = False

    @property
    def columns(self) -> set[int]:
        """The columns that are filled."""
        return {c for e in self.entries for c in range(e.first, e.last + 1)}

    @property
    def label_only(self) -> bool:
        """True when there is nothing but a label."""
        return len(self.entries) == 1 and self.entries[0].last == 0

    def take(self, entries: Iterable[CellDraft]) -> None:
        """Put cells into the row; one whose columns are taken goes below what is there."""
        for entry in entries:
            mine = next(
                (e for e in self.entries if e.first <= entry.last and entry.first <= e.last), None
            )
            if mine is None:
                self.entries.append(entry)
            else:
                mine.lines += entry.lines
                mine.first, mine.last = min(mine.first, entry.first), max(mine.last, entry.last)
        self.entries.sort(key=lambda e: e.first)


@dataclass(frozen=True, slots=True)
class Lattice:
    """A table whose every cell has a row and a column."""

    rows: tuple[LatticeRow, ...]
    columns: int


def columns_of(body: Sequence[Sequence[PdfLine]]) -> list[Stretch]:
    """Return the stretches that the cells of the body cover, left to right.

    A cell that is alone in its line adds a column only where none is: it may be a label that runs
    on below the values.
    """
    wide = [cells for cells in body if len(cells) > 1]
    values = [
        c.x0 for cells in wide for c in cells[not is_value(cells[0].text) :] if is_value(c.text)
    ]
    edge = min(values, default=float("inf"))
    stretches: list[Stretch] = []
    for cells in wide:
        for i, cell in enumerate(cells):
            label = i == 0 and cell.x0 < edge
            stretches.append((cell.x0, min(cell.x1, edge - 0.1) if label else cell.x1))
    columns = _united(stretches)
    alone = [(cells[0].x0, cells[0].x1) for cells in body if len(cells) == 1]
    apart = [(x0, x1) for x0, x1 in alone if all(x1 < a or b < x0 for a, b in columns)]
    return _united([*columns, *apart])


def _united(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Put stretches that overlap together."""
    united: list[Stretch] = []
    for x0, x1 in sorted(stretches):
        if united and x0 <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], x1))
        else:
            united.append((x0, x1))
    return united


def column_at(cell: PdfLine, columns: Sequence[Stretch]) -> int:
    """Return the column of a cell of the body: where a label starts, where a value is centred."""
    label = cell.x0 <= columns[0][1] and not is_value(cell.text)
    x = cell.x0 if label else (cell.x0 + cell.x1) / 2
    return min(range(len(columns)), key=lambda i: max(columns[i][0] - x, x - columns[i][1], 0.0))


_LEADING: Final = 1.5  # ems between the lines of one header cell
_CLOSE: Final = 0.38  # ems; more than a space between words
_REACH: Final = 0.7  # ems between the gap of two headers and that of their columns
_COVERED: Final = 0.25  # of a column that a header must lie over to head it

_Stack = tuple[int, list[PdfLine]]  # lines of one header cell, and the row its last line is in


def head_rows(
    lines: Sequence[Sequence[PdfLine]], columns: Sequence[Stretch], rules: Sequence[DrawnLine]
) -> list[LatticeRow]:
    """Make the rows of a head: each cell over the columns it heads, as low as it can stand."""
    lines = [_split(cells, columns) for cells in lines]
    rows = [LatticeRow([], cells[0].base, cells[0].size, header=True) for cells in lines]
    for at, stack in _stacks(lines, rules):
        first, last = _headed(stack, lines[at], columns, rules)
        if at + 1 < len(lines):
            first, last = _balanced(stack, first, last, columns)
        rows[at].take([CellDraft(stack, first, last)])
    _settle(rows)
    return [row for row in rows if row.entries]


def _settle(rows: Sequence[LatticeRow]) -> None:
    """Let each cell sink as far as nothing stands below it."""
    for i in range(len(rows) - 2, -1, -1):
        for entry in list(rows[i].entries):
            low = i
            span = set(range(entry.first, entry.last + 1))
            while low + 1 < len(rows) and not rows[low + 1].columns & span:
                low += 1
            if low > i:
                rows[i].entries.remove(entry)
                rows[low].take([entry])


def _split(cells: Sequence[PdfLine], columns: Sequence[Stretch]) -> list[PdfLine]:
    """Part headers that nearly touch where their columns part."""
    walls = [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
    parts: list[list[Word]] = []
    for cell in cells:
        for i, word in enumerate(cell.words):
            last = cell.words[i - 1].x1 if i else 0.0
            reach = _REACH * cell.size
            apart = word.x0 - last > _CLOSE * cell.size and any(
                last - reach < wall < word.x0 + reach for wall in walls
            )
            if not i or (apart and not word.glued):
                parts.append([word])
            else:
                parts[-1].append(word)
    return [PdfLine(part) for part in parts]


def _stacks(lines: Sequence[Sequence[PdfLine]], rules: Sequence[DrawnLine]) -> list[_Stack]:
    """Put lines that stand close under each other together; each with the row of its last line."""
    done: list[_Stack] = []
    open_: list[_Stack] = []
    for i, cells in enumerate(lines):
        taken: list[_Stack] = []
        for cell in cells:
            over = [s for s in open_ if _overlap(s[1][-1], cell)]
            alone = len(over) == 1 and sum(_overlap(over[0][1][-1], c) for c in cells) == 1
            if alone and _adjoin(over[0][1][-1], cell, rules):
                open_.remove(over[0])
                taken.append((i, [*over[0][1], cell]))
            else:
                taken.append((i, [cell]))
        # A cell beside the middle of others leaves a row between lines that belong together.
        done += [s for s in open_ if s[0] < i - 1 or any(_overlap(s[1][-1], c) for c in cells)]
        open_ = taken + [s for s in open_ if s not in done]
    return done + open_


def _overlap(a: PdfLine, b: PdfLine) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0


def _adjoin(upper: PdfLine, lower: PdfLine, rules: Iterable[DrawnLine]) -> bool:
    """True when no gap and no rule parts two lines of a head."""
    if lower.base - upper.base > _LEADING * max(upper.size, lower.size):
        return False
    x0, x1 = min(upper.x0, lower.x0), max(upper.x1, lower.x1)
    return not any(upper.base < r.y0 < lower.base - 1 and r.x0 < x1 and r.x1 > x0 for r in rules)


def _headed(
    stack: Sequence[PdfLine],
    cells: Sequence[PdfLine],
    columns: Sequence[Stretch],
    rules: Sequence[DrawnLine],
) -> tuple[int, int]:
    """Return the columns below a header: as far as the rule under it alone, or its own words."""
    cell = stack[-1]
    x0, x1 = min(n.x0 for n in stack), max(n.x1 for n in stack)
    for rule in rules:
        over = [c for c in cells if c.x0 < rule.x1 and c.x1 > rule.x0]
        under = 0 < rule.y0 - cell.base < cell.size and rule.x1 - rule.x0 > x1 - x0
        below_labels = rule.x0 < columns[0][1] < cell.x0  # it parts the head from the body
        if under and over == [cell] and not below_labels:
            x0, x1 = rule.x0, rule.x1
    below = [
        i
        for i, (a, b) in enumerate(columns)
        if min(x1, b) - max(x0, a) > _COVERED * min(b - a, x1 - x0)
    ]
    if below:
        return below[0], below[-1]
    nearest = column_at(cell, columns)
    return nearest, nearest


def _balanced(
    stack: Sequence[PdfLine], first: int, last: int, columns: Sequence[Stretch]
) -> tuple[int, int]:
    """Widen a header that stands over the middle of several columns to all of them."""
    middle = (min(n.x0 for n in stack) + max(n.x1 for n in stack)) / 2

    def off(a: int, b: int) -> float:
        return abs((columns[a][0] + columns[b][1]) / 2 - middle)

    while last > first:
        wider = [
            (a, b) for a, b in ((first - 1, last), (first, last + 1)) if a > 0 and b < len(columns)
        ]
        better = min(wider, key=lambda span: off(*span), default=(first, last))
        if off(*better) >= off(first, last) - 1:
            break
        first, last = better
    return first, last
