"""What a family says otherwise than the baseline under it, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from abstrag.llm.prompt import Program
from abstrag.model.record import record
from abstrag.policy.edit import example_line
from abstrag.policy.slots import SLOTS

SAME: Final = " "
ADDED: Final = "+"
REMOVED: Final = "-"


@record
class DiffLine:
    """A line of a slot: added, removed, or the same in both."""

    slot: str
    sign: str
    text: str


def diff(old: Program, new: Program) -> tuple[DiffLine, ...]:
    """Compare two programs slot by slot; a slot that is the same in both is left out."""
    made: list[DiffLine] = []
    for slot in SLOTS:
        before, after = _lines(old, slot), _lines(new, slot)
        if before != after:
            made += _compared(slot, before, after)
    return tuple(made)


def _lines(program: Program, slot: str) -> list[str]:
    if slot == "instruction":
        return program.instruction.splitlines()
    if slot == "output_schema":
        return json.dumps(program.output_schema, indent=2, ensure_ascii=False).splitlines()
    if slot == "rules":
        return list(program.rules)
    return [example_line(example) for example in program.few_shot]


def _compared(slot: str, before: list[str], after: list[str]) -> Iterator[DiffLine]:
    for op, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if op == "equal":
            yield from (DiffLine(slot, SAME, text) for text in before[a:b])
        else:
            yield from (DiffLine(slot, REMOVED, text) for text in before[a:b])
            yield from (DiffLine(slot, ADDED, text) for text in after[c:d])
