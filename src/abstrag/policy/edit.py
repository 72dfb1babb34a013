"""Edits of a program's rules and examples: whether one may be made, and what it makes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, TypeVar

from abstrag.errors import InputError, PolicyError
from abstrag.llm.prompt import Example, Program
from abstrag.llm.shape import misfit
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.model.record import from_json, to_data
from abstrag.policy.deny import denied
from abstrag.policy.hashes import canonical
from abstrag.policy.leak import CaseText, leak
from abstrag.policy.stages import MUTABLE

MAX_RULE: Final = 300  # characters
MAX_EXAMPLE: Final = 2000
MAX_RULES: Final = 24  # of one program; more do not fit in front of a small model
MAX_EXAMPLES: Final = 6

SLOT: Final[Mapping[EditOp, str]] = {
    EditOp.ADD_RULE: "rules",
    EditOp.REMOVE_RULE: "rules",
    EditOp.ADD_FEW_SHOT: "few_shot",
    EditOp.REMOVE_FEW_SHOT: "few_shot",
}
_ADDS: Final = (EditOp.ADD_RULE, EditOp.ADD_FEW_SHOT)

T = TypeVar("T")
Mine = Callable[[str, str], bool]  # slot, line → whether a person wrote it


def candidate_id(family: str, edit: PromptEdit) -> str:
    """Name what an edit wants; equal wishes have equal names, whatever file they started from."""
    wish = [family, edit.program, edit.op.value, line(edit)]
    return sha256(canonical(wish)).hexdigest()[:16]


def line(edit: PromptEdit) -> str:
    """Return the rule or example in the one spelling that it is compared by."""
    if SLOT[edit.op] == "rules":
        return " ".join(edit.text.split())
    try:
        return example_line(from_json(Example, edit.text))
    except InputError:
        return edit.text


def example_line(example: Example) -> str:
    """Return an example in one line."""
    return canonical(to_data(example)).decode()


def lines(program: Program, slot: str) -> tuple[str, ...]:
    """Return the rules or the examples of a program, in the spelling they are compared by."""
    if slot == "rules":
        return tuple(" ".join(rule.split()) for rule in program.rules)
    return tuple(example_line(example) for example in program.few_shot)


def objection(
    edit: PromptEdit,
    program: Program,
    case: CaseText,
    *,
    by_hand: Mine = lambda _slot, _line: False,
) -> str | None:
    """Say why an edit may not be made; None when nothing speaks against it.

    Args:
        edit: what is proposed.
        program: what it would edit.
        case: the case it comes from, whose words may not get into a rule.
        by_hand: tells whether a person wrote a line; those are not ours to remove.
    """
    if edit.program not in MUTABLE:
        return f"program {edit.program!r} is fixed, so that what judges is never what is judged"
    slot, wanted = SLOT[edit.op], line(edit)
    present = wanted in lines(program, slot)
    if edit.op in _ADDS:
        if present:
            return "it is there already"
        return _ill_formed(edit, program) or _unfit(edit, program, case)
    if not present:
        return "there is no such line to remove"
    return "a person wrote this line" if by_hand(slot, wanted) else None


def apply(edit: PromptEdit, program: Program) -> Program:
    """Return the program with the edit made."""
    slot, wanted = SLOT[edit.op], line(edit)
    if edit.op is EditOp.ADD_RULE:
        return replace(program, rules=(*program.rules, wanted))
    if edit.op is EditOp.ADD_FEW_SHOT:
        return replace(program, few_shot=(*program.few_shot, from_json(Example, edit.text)))
    had = lines(program, slot)
    if wanted not in had:
        raise PolicyError(f"program {program.stage!r} has no such line: {wanted[:80]!r}")
    if slot == "rules":
        return replace(program, rules=_without(program.rules, had, wanted))
    return replace(program, few_shot=_without(program.few_shot, had, wanted))


def _without(values: tuple[T, ...], had: tuple[str, ...], wanted: str) -> tuple[T, ...]:
    return tuple(value for value, one in zip(values, had, strict=True) if one != wanted)


def _ill_formed(edit: PromptEdit, program: Program) -> str | None:
    if edit.op is EditOp.ADD_RULE:
        if not edit.text.strip():
            return "it is empty"
        if len(edit.text) > MAX_RULE:
            return f"a rule has at most {MAX_RULE} characters"
        full = len(program.rules) >= MAX_RULES
        return f"there are {MAX_RULES} rules already; remove one first" if full else None
    if len(edit.text) > MAX_EXAMPLE:
        return f"an example has at most {MAX_EXAMPLE} characters"
    try:
        example = from_json(Example, edit.text)
    except InputError as error:
        return str(error)
    if wrong := misfit(example.output, program.output_schema):
        return f"its output does not fit the schema: {wrong}"
    full = len(program.few_shot) >= MAX_EXAMPLES
    return f"there are {MAX_EXAMPLES} examples already; remove one first" if full else None


def _unfit(edit: PromptEdit, program: Program, case: CaseText) -> str | None:
    texts = [edit.text] if SLOT[edit.op] == "rules" else list(_strings(json.loads(edit.text)))
    common = (program.instruction, *program.rules, canonical(program.output_schema).decode())
    for text in texts:
        if reason := denied(text) or leak(text, case, common=common):
            return reason
    return None


def _strings(data: Any) -> list[str]:
    if isinstance(data, str):
        return [data]
    if isinstance(data, dict):
        return [text for key, value in data.items() for text in (key, *_strings(value))]
    if isinstance(data, list):
        return [text for value in data for text in _strings(value)]
    return []
