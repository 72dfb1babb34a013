"""Where in a region there are tables, judged with caution: text must never become one.

A table shows itself by rows of values under each other, or by rules with several cells between
them. What cannot be resolved into columns stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from abstrag.documents.pdf_layout.lattice import (
    CellDraft,
    Lattice,
    LatticeRow,
    Stretch,
    cells_of,
    column_at,
    columns_of,
    head_rows,
    is_value,
    is_year,
)
from abstrag.documents.pdf_layout.lines import DrawnLine, PdfLine, runs_of

# The bodies of tables: which lines are one row to a reader.
#
# A label may be wrapped, a value may stand beside the middle of its label, and where rules part
# the rows everything between two of them may be one.

_TIGHT: Final = 0.85  # of the usual distance between rows: these lines belong together
_WRAP: Final = 1.3  # ems between the lines of a wrapped label
_NEXT: Final = 1.25  # of the usual distance: the next row, no empty one between
_LEADING: Final = 1.5  # ems between lines, where nothing tells the usual distance
_HALF: Final = 0.9  # ems between base lines: one stands beside the middle of two others
_RULE_ACROSS: Final = 0.8  # of the table's width: a rule that parts rows


def body_rows(
    lines: Sequence[Sequence[PdfLine]], columns: Sequence[Stretch], rules: Sequence[DrawnLine]
) -> list[LatticeRow]:
    """Make the rows of a body."""
    rows = []
    for cells in lines:
        row = LatticeRow([], max(c.base for c in cells), max(c.size for c in cells))
        for cell in cells:
            at = column_at(cell, columns)
            row.take([CellDraft([cell], at, at)])
        rows.append(row)
    return _unwrapped(_centred(_between_rules(rows, rules, columns)))


def _centred(rows: Sequence[LatticeRow]) -> list[LatticeRow]:
    """Resolve lines that stand between two others: a cell over two rows, or a value centred."""
    made: list[LatticeRow] = []
    i = 0
    while i < len(rows):
        row = rows[i]
        after = rows[i + 1] if i + 1 < len(rows) else None
        close = bool(made) and row.base - made[-1].base < _HALF * row.size
        if not close:
            made.append(row)
        elif after and after.base - row.base < _HALF * row.size:
            above, free = made[-1], not row.columns & (made[-1].columns | after.columns)
            if free and (above.columns & after.columns) - {0}:
                for entry in row.entries:
                    entry.rows = 2
                above.take(row.entries)
            else:
                above.take(row.entries)
                above.take(after.entries)
                above.base = after.base
                i += 1
        else:
            made[-1].take(row.entries)
            made[-1].base = row.base
        i += 1
    return made


def _between_rules(
    rows: Sequence[LatticeRow], rules: Sequence[DrawnLine], columns: Sequence[Stretch]
) -> list[LatticeRow]:
    """Where rules part every row from the next, make one row of the lines between two rules."""
    width = columns[-1][1] - columns[0][0]
    walls = [
        r.y0
        for r in rules
        if min(r.x1, columns[-1][1]) - max(r.x0, columns[0][0]) > _RULE_ACROSS * width
    ]
    bands = runs_of(rows, lambda last, row: not any(last.base < y < row.base for y in walls))
    labels = sum(any(e.first == 0 for e in row.entries) for row in rows)
    if len(bands) < 2 or len(bands) < labels:
        return list(rows)
    made: list[LatticeRow] = []
    for band in bands:
        filled = [c for row in band for c in row.columns]
        repeated = {c for c in filled if filled.count(c) > 1}
        if 2 * len(repeated) <= len(set(filled)):
            for row in band[1:]:
                band[0].take(row.entries)
            made.append(band[0])
        else:
            made += band
    return made


def _unwrapped(rows: Sequence[LatticeRow]) -> list[LatticeRow]:
    """Put labels that take up several lines together with the row they name."""
    full = [b.base - a.base for a, b in pairwise(rows) if not (a.label_only or b.label_only)]
    usual = median(full) if full else 0.0
    made: list[LatticeRow] = []
    for i, row in enumerate(rows):
        after = rows[i + 1].base - row.base if i + 1 < len(rows) else float("inf")
        if made and _continues(made[-1], row, usual=usual, after=after):
            made[-1].take(row.entries)
            made[-1].base = row.base
        else:
            made.append(row)
    return made


def _continues(above: LatticeRow, row: LatticeRow, *, usual: float, after: float) -> bool:
    """True when a row goes on with the label of the one above it."""
    if not (above.label_only or row.label_only) or row.entries[0].first > 0:
        return False
    label = above.entries[0].text
    if above.entries[0].first > 0 or label.endswith(":"):
        return False
    step = row.base - above.base
    if row.entries[0].text[:1].islower():
        return step < max(_NEXT * usual, _LEADING * row.size)
    tight = step < min(_TIGHT * usual, _WRAP * row.size)
    return tight and (above.label_only or step < after)


# Tables by their rules: lines of cells that stand between rules of one width.

_SAME: Final = 4.0  # points by which rules of one table may differ
_LEVEL: Final = 1.5  # points between the pieces of one rule
_WIDE: Final = 60.0  # points a rule must be long


@dataclass(frozen=True, slots=True)
class RuledBlock:
    """Lines between rules: where they start, where the body begins, where they stop."""

    start: int
    body: int
    stop: int


def ruled_blocks(
    lines: Sequence[Sequence[PdfLine]], rules: Sequence[DrawnLine], is_text: Callable[[int], bool]
) -> list[RuledBlock]:
    """Find the blocks of lines that rules of one width enclose, top to bottom."""
    blocks: list[RuledBlock] = []
    for x0, x1, heights in _families(rules):
        strips = [
            [i for i, cells in enumerate(lines) if _between(cells, above, below)]
            for above, below in pairwise(heights)
        ]
        chain: list[list[int]] = []
        for strip in [*strips, []]:
            if _tabular([lines[i] for i in strip], x0, x1) and not any(map(is_text, strip)):
                chain.append(strip)
                continue
            if chain:
                start, stop = chain[0][0], chain[-1][-1] + 1
                body = chain[1][0] if len(chain) > 1 else start
                blocks.append(RuledBlock(start, body, stop))
            chain = []
    return _outermost(blocks)


def _families(rules: Iterable[DrawnLine]) -> list[tuple[float, float, list[float]]]:
    """Return rules of one width that lie under each other: left, right and heights."""
    families: list[tuple[float, float, list[float]]] = []
    for rule in whole_rules(rules):
        x0, x1, y = rule.x0, rule.x1, rule.y0
        if x1 - x0 < _WIDE:
            continue
        for a, b, heights in families:
            if abs(a - x0) <= _SAME and abs(b - x1) <= _SAME:
                if y - heights[-1] > _LEVEL:
                    heights.append(y)
                break
        else:
            families.append((x0, x1, [y]))
    return [family for family in families if len(family[2]) > 1]


def whole_rules(rules: Iterable[DrawnLine]) -> list[DrawnLine]:
    """Return the lying rules, with those that are drawn cell by cell joined; top to bottom."""
    made: list[DrawnLine] = []
    for rule in sorted((r for r in rules if r.horizontal), key=lambda r: (r.y0, r.x0)):
        for i in range(len(made) - 1, -1, -1):
            other = made[i]
            if rule.y0 - other.y0 > _LEVEL:
                made.append(rule)
                break
            if rule.x0 <= other.x1 + _LEVEL and rule.x1 >= other.x0 - _LEVEL:
                x0, x1 = min(other.x0, rule.x0), max(other.x1, rule.x1)
                made[i] = DrawnLine(x0, other.y0, x1, other.y1)
                break
        else:
            made.append(rule)
    return made


def _between(cells: Sequence[PdfLine], above: float, below: float) -> bool:
    return above < cells[0].base - 0.2 * cells[0].size and cells[0].base <= below + 1


def _tabular(strip: Sequence[Sequence[PdfLine]], x0: float, x1: float) -> bool:
    """True for lines that keep inside of their rules, with cells that stand side by side."""
    inside = all(c[0].x0 >= x0 - _SAME and c[-1].x1 <= x1 + _SAME for c in strip)
    several = any(len(cells) > 1 for cells in strip)
    if not several and strip:  # a label beside the middle of its text has a line of its own
        several = max(c[0].x0 for c in strip) > min(c[0].x1 for c in strip)
    return inside and several


def _outermost(blocks: Sequence[RuledBlock]) -> list[RuledBlock]:
    """Drop blocks that overlap a larger one."""
    kept: list[RuledBlock] = []
    for block in sorted(blocks, key=lambda b: (b.start - b.stop, b.start)):
        if all(block.stop <= b.start or block.start >= b.stop for b in kept):
            kept.append(block)
    return sorted(kept, key=lambda b: b.start)


_BRIDGE: Final = 3  # lines without values that may stand inside of a table one after the other
_GAP: Final = 3.6  # ems between lines of one table
_APART: Final = 1.6  # ems from the line above: what has a single cell there ends no table
_GAPS: Final = 2.3  # times the distance between rows: room for one empty row
_LABEL_REACH: Final = 6.0  # ems that labels may be indented
_HEAD: Final = 8  # lines a head may have
_HEAD_GAP: Final = 2.6  # ems between its lines
_PROSE: Final = 0.7  # of the region's width, taken up by one cell ...
_PROSE_LETTERS: Final = 50  # ... of so many letters
_LABELLED: Final = 0.6  # of the rows of values that must have a label
_ACROSS: Final = 0.25  # of the lines that may run across columns
_DENSE: Final = 0.5  # of the cells that must be filled where there is no head
_LARGER: Final = 1.2  # of the table's size: a heading
_NOTE_MARK: Final = re.compile(r"\(?(?:\d{1,2}|[a-z*†‡§])\)?[.:]?")
_LINE_NUMBER: Final = re.compile(r"\d+:")
_EQUATION_NUMBER: Final = re.compile(r"\([A-Z]?\d+[a-z]?(?:\.\d+)?\)")

Cells = list[PdfLine]


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that takes up the rows `start` to `stop` of its region."""

    start: int
    stop: int
    lattice: Lattice


def tables_in(
    rows: Sequence[Sequence[PdfLine]], rules: Sequence[DrawnLine], left: float, right: float
) -> list[FoundTable]:
    """Find the tables among the rows of a region, top to bottom."""
    lines = [cells_of(row) for row in rows]
    near = [r for r in rules if r.x0 > left - 12 and r.x1 < right + 12]
    search = _Search(lines, near, right - left)
    found: list[FoundTable] = []
    for start, first, stop in search.candidates():
        table = _resolved(lines[start:first], lines[first:stop], search.rules)
        if table is not None and _sound(table):
            found.append(FoundTable(start, stop, table))
    return found


def _resolved(
    head: Sequence[Cells], body: Sequence[Cells], rules: Sequence[DrawnLine]
) -> Lattice | None:
    """Give every cell its row and column; None where the body shows no columns."""
    columns = columns_of(body)
    if len(columns) < 2 or _runs_across(body, columns):
        return None
    rows = (*head_rows(head, columns, rules), *body_rows(body, columns, rules))
    return Lattice(rows, len(columns))


def _sound(table: Lattice) -> bool:
    """Refuse what only looks like a table: listings, numbered equations, labels of a drawing."""
    body = [row for row in table.rows if not row.header]
    first = [e.text for row in body for e in row.entries if e.first == 0]
    rest = [e.text for row in body for e in row.entries if e.first > 0]
    if not rest or all(_EQUATION_NUMBER.fullmatch(text) for text in rest):
        return False
    if 2 * sum(_LINE_NUMBER.match(text) is not None for text in first) > len(first):
        return False
    if len(body) < len(table.rows):
        return True
    if 2 * sum(len(row.entries) > 1 for row in body) < len(body):
        return False
    labels = sum(not is_value(text) for text in first)
    filled = len(first) + len(rest)
    return labels >= _LABELLED * len(body) and filled >= _DENSE * len(body) * table.columns


def _runs_across(body: Sequence[Cells], columns: Sequence[Stretch]) -> bool:
    """True when lines pay no heed to the columns: text in a frame, with a gap in one line."""
    across = sum(
        len(cells) == 1
        and cells[0].x1 > columns[1][0] + cells[0].size
        and cells[0].x0 < columns[0][1]
        for cells in body
    )
    return across > _ACROSS * len(body)


def has_values(cells: Cells) -> bool:
    """True for a line that gives values, after a label or several in a row."""
    values = [is_value(c.text) for c in cells]
    return any(values[1:]) and (not values[0] or sum(values) > 1)


class _Search:
    """The lines of a region and what each could be in a table."""

    def __init__(self, lines: list[Cells], rules: list[DrawnLine], width: float) -> None:
        self.lines = lines
        self.rules = whole_rules(rules)
        self.width = width
        self.data = [has_values(cells) for cells in lines]
        self.blocks = ruled_blocks(lines, rules, self._is_text)

    def candidates(self) -> Iterator[tuple[int, int, int]]:
        """Yield where a table begins, where its body begins, and where it stops."""
        at = floor = 0
        while at < len(self.lines):
            block = next((b for b in self.blocks if b.start == at), None)
            if block is None and not self.data[at]:
                at += 1
                continue
            start, stop = at, block.stop if block else at + 1
            values = [i for i in range(start, stop) if self._is_body(i)]
            if values or not block:
                stop = self._stop(values[0] if values else at, stop)
                values = [i for i in range(start, stop) if self._is_body(i)]
            first = self._body_of(block, values, stop)
            if first < stop and (first == start or not self._closed(start, stop)):
                start = self._head(start, stop, floor)
            first = self._first(first, start)
            stop = self._trimmed(first, stop)
            if self._enough(start, first, stop, ruled=block is not None):
                yield start, first, stop
                at = floor = stop
            else:
                at += 1

    def _body_of(self, block: RuledBlock | None, values: Sequence[int], stop: int) -> int:
        """Return the first line of a body: below the first rule, or where values begin."""
        if block is None:
            return values[0] if values else stop
        return block.start if values and values[0] < block.body else block.body

    def _is_body(self, i: int) -> bool:
        """True for a line of values; a head may hold a year or a number too."""
        rest = [c.text for c in self.lines[i][1:]]
        values = [text for text in rest if is_value(text)]
        return self.data[i] and 2 * len(values) >= len(rest) and not all(map(is_year, values))

    def _first(self, first: int, start: int) -> int:
        """Go up from the first line of a body over labels of its own: "Assets", "Revenues:"."""
        while first > start and first < len(self.lines) and self._names(first - 1, first):
            first -= 1
        return first

    def _names(self, i: int, body: int) -> bool:
        """True for a line that has nothing but a label, at the place of the body's labels."""
        cells = self.lines[i]
        label = self.lines[body][0]
        return len(cells) == 1 and cells[0].x0 < label.x0 + _LABEL_REACH * label.size

    def _trimmed(self, first: int, stop: int) -> int:
        """Leave out words at the end that stand apart and alone."""
        while stop - 1 > first:
            cells = self.lines[stop - 1]
            apart = self._step(stop - 1) > _APART * cells[0].size
            if len(cells) > 1 or not apart or is_value(cells[0].text):
                break
            stop -= 1
        return stop

    def _is_text(self, i: int) -> bool:
        """True for a line of running text, also after a mark: "(1) Refer to Note 20"."""
        cells = self.lines[i]
        if self.data[i] or len(cells) > 2:
            return False
        note = len(cells) == 2 and _NOTE_MARK.fullmatch(cells[0].text) is not None
        widest = max(cells, key=lambda c: c.width)
        return widest.letters >= _PROSE_LETTERS and (note or widest.width >= _PROSE * self.width)

    def _stop(self, start: int, stop: int) -> int:
        """Go down from a line of values, and on to `stop` unless another head comes first."""
        values = [(c.x0, c.x1) for c in self.lines[start] if is_value(c.text)]
        size = max(c.size for c in self.lines[start])
        last, gap = start, _GAP * size
        for i in range(start + 1, len(self.lines)):
            cells = self.lines[i]
            if self._step(i) > gap or cells[0].size > _LARGER * size:
                break
            mine = [(c.x0, c.x1) for c in cells if is_value(c.text)]
            if self.data[i] or (len(cells) == 1 and mine):
                fitting = sum(any(x0 < b and a < x1 for a, b in values) for x0, x1 in mine)
                if 2 * fitting < len(mine) and i >= stop:
                    break
                values += mine
                gap = max(gap, _GAPS * self._step(i))
                last = i
            elif self._ends(i, values, stop) or (i >= stop and i - last > _BRIDGE):
                break
            elif i < stop:
                last = i
        return self._with_rest_of_label(last) + 1

    def _ends(self, i: int, values: Sequence[Stretch], stop: int) -> bool:
        """True for a line that cannot stand inside of a table; between rules it must stand off."""
        near = i < stop and self._step(i) < _APART * self.lines[i][0].size
        return self._is_text(i) or (not near and self._heads_anew(i, values))

    def _heads_anew(self, i: int, values: Sequence[Stretch]) -> bool:
        """True for a line that has nothing at the labels' place: the head of another table."""
        cells = self.lines[i]
        goes_on = cells[0].text[:1].islower() and self._step(i) < 1.4 * cells[0].size
        return not goes_on and cells[0].x0 >= min(a for a, _ in values) - cells[0].size

    def _with_rest_of_label(self, last: int) -> int:
        """Take in the line that ends a label begun in the last one."""
        after = last + 1
        if after < len(self.lines) and len(self.lines[after]) == 1 < len(self.lines[last]):
            label, rest = self.lines[last][0], self.lines[after][0]
            near = self._step(after) < 1.3 * rest.size and abs(rest.size - label.size) < 0.5
            if near and rest.text[:1].islower() and rest.x1 < self.lines[last][1].x1:
                return after
        return last

    def _step(self, i: int) -> float:
        return self.lines[i][0].base - self.lines[i - 1][0].base

    def _closed(self, start: int, stop: int) -> bool:
        """True when a rule as wide as the table runs right above a line."""
        cells = [c for i in range(start, stop) for c in self.lines[i]]
        left, right = min(c.x0 for c in cells), max(c.x1 for c in cells)
        top = self.lines[start][0].base
        return any(
            0 < top - r.y0 < 2 * cells[0].size and r.x0 < left + 6 and r.x1 > right - 6
            for r in self.rules
        )

    def _head(self, first: int, stop: int, floor: int) -> int:
        """Go up from where a table was noticed and return where its head begins."""
        inner = [self.lines[i] for i in range(first, stop) if self._is_body(i)]
        if not inner:
            return first
        values = [c for cells in inner for c in cells[1:] if is_value(c.text)]
        labels = [cells[0] for cells in inner if not is_value(cells[0].text)]
        edge, size = min(c.x0 for c in values), max(c.size for c in values)
        left = min((c.x0 for c in labels), default=edge)
        right = max((c.x1 for c in labels), default=edge)
        middle = (left + max(c.x1 for c in values)) / 2
        top = first
        for i in range(first - 1, max(floor, first - _HEAD) - 1, -1):
            cells = self.lines[i]
            if self._step(i + 1) > _HEAD_GAP * size or cells[0].size > _LARGER * size:
                break
            wide = any(c.x0 < right and c.x1 > edge + 2 * size for c in cells)
            if wide or self._is_body(i) or self._is_text(i):
                break
            titled = abs(cells[0].x0 + cells[0].x1 - 2 * middle) < 3 * size and cells[0].x0 < edge
            beside = cells[0].x0 > right - size and not titled
            over = cells[-1].x1 > edge and (len(cells) > 1 or cells[0].x0 > edge - size or beside)
            if over:
                top = i
            elif len(cells) > 1 or cells[0].x0 > left + _LABEL_REACH * size or top - i > _BRIDGE:
                break
        return top

    def _enough(self, top: int, first: int, stop: int, *, ruled: bool) -> bool:
        """True when a range shows enough of a table."""
        body = [self.lines[i] for i in range(first, stop) if self._is_body(i)]
        several = sum(len(cells) > 1 for cells in self.lines[first:stop])
        labelled = sum(not is_value(cells[0].text) for cells in body)
        values = sum(is_value(c.text) for cells in body for c in cells[1:])
        if ruled:
            return several > 0 and stop - top > 1
        if not body or labelled < _LABELLED * len(body):
            return False
        headed = any(len(cells) > 1 for cells in self.lines[top:first])
        return (len(body) > 1 and values > 2) or (headed and values > 1)
