"""Checking a policy folder, and comparing a family with its baseline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from abstrag.errors import PolicyError
from abstrag.llm.prompt import Program
from abstrag.model.record import record
from abstrag.policy.audit import AuditEntry, AuditLog, EntryKind
from abstrag.policy.change import CONFLICT_NAME, ConflictFile, ProgramFamily
from abstrag.policy.edit import example_line
from abstrag.policy.files import DurableFiles
from abstrag.policy.load import SLOTS, load_program
from abstrag.policy.location import BASE, PROGRAMS, families, family_folder

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


@record
class PolicyFault:
    """Something that is wrong, or that a person has to decide."""

    where: str
    what: str


_READ_ONLY: Final = DurableFiles()


def check(root: Path) -> tuple[PolicyFault, ...]:
    """Read everything in a policy folder once and say what is wrong with it."""
    faults = [fault for family in (BASE, *families(root)) for fault in _family(root, family)]
    try:
        entries = AuditLog(root, _READ_ONLY).entries()
    except PolicyError as error:
        return (*faults, PolicyFault("log", str(error)))
    return (*faults, *_backups(root, entries))


def _family(root: Path, family: str) -> Iterator[PolicyFault]:
    folder = family_folder(root, family)
    for stage in PROGRAMS:
        try:
            load_program(stage, family, root)
        except PolicyError as error:
            yield PolicyFault(f"{family}/{stage}", str(error))
    known = {f"{stage}.json" for stage in PROGRAMS} | {CONFLICT_NAME}
    for path in sorted(folder.glob("*.json")):
        if path.name not in known and not path.name.startswith("."):
            yield PolicyFault(f"{family}/{path.name}", "there is no program of that name")
    if family == BASE:
        return
    try:
        for one in ConflictFile(folder, _READ_ONLY).read():
            what = f"{one.edit.op.value} {one.edit.text[:60]!r}: {one.reason}"
            yield PolicyFault(f"{family}/{one.edit.program}", f"conflict: {what}")
        ProgramFamily(root, family, _READ_ONLY).pending()
    except PolicyError as error:
        yield PolicyFault(family, str(error))


def _backups(root: Path, entries: tuple[AuditEntry, ...]) -> Iterator[PolicyFault]:
    """Every version that a revert might need must still be there, unchanged."""
    seen: set[tuple[str, str, str]] = set()
    for entry in entries:
        if entry.kind is not EntryKind.PROMOTION:
            continue
        stage = str(entry.payload["program"])
        for name in (entry.payload["before"], entry.payload["after"]):
            if name is not None and (entry.family, stage, name) not in seen:
                seen.add((entry.family, stage, name))
                try:
                    ProgramFamily(root, entry.family, _READ_ONLY).kept(stage, name)
                except PolicyError as error:
                    yield PolicyFault(f"{entry.family}/{stage}", str(error))
