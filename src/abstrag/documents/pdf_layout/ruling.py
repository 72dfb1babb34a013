"""Tables by their rules: lines of cells that stand between rules of one width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from abstrag.documents.pdf_layout.lines import Line
from abstrag.documents.pdf_layout.page import Rule

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
    lines: Sequence[Sequence[Line]], rules: Sequence[Rule], is_text: Callable[[int], bool]
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


def _families(rules: Iterable[Rule]) -> list[tuple[float, float, list[float]]]:
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


def whole_rules(rules: Iterable[Rule]) -> list[Rule]:
    """Return the lying rules, with those that are drawn cell by cell joined; top to bottom."""
    made: list[Rule] = []
    for rule in sorted((r for r in rules if r.horizontal), key=lambda r: (r.y0, r.x0)):
        for i in range(len(made) - 1, -1, -1):
            other = made[i]
            if rule.y0 - other.y0 > _LEVEL:
                made.append(rule)
                break
            if rule.x0 <= other.x1 + _LEVEL and rule.x1 >= other.x0 - _LEVEL:
                x0, x1 = min(other.x0, rule.x0), max(other.x1, rule.x1)
                made[i] = Rule(x0, other.y0, x1, other.y1)
                break
        else:
            made.append(rule)
    return made


def _between(cells: Sequence[Line], above: float, below: float) -> bool:
    return above < cells[0].base - 0.2 * cells[0].size and cells[0].base <= below + 1


def _tabular(strip: Sequence[Sequence[Line]], x0: float, x1: float) -> bool:
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
