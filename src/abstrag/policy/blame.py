"""Who answers for a line of a program: the package, a person, or the cases that voted for it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from abstrag.llm.prompt import Program
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.model.record import record
from abstrag.policy.audit import AuditEntry, EntryKind
from abstrag.policy.edit import SLOT, line, lines
from abstrag.policy.slots import EDITABLE


class Origin(StrEnum):
    """Who put a line where it is."""

    SHIPPED = "shipped"
    HAND = "by hand"
    PROMOTED = "promoted"


@record
class BlamedLine:
    """A rule or an example, and who answers for it."""

    slot: str
    text: str
    origin: Origin
    cases: tuple[str, ...] = ()
    promotion: str = ""
    when: str = ""


def blame(
    program: Program, shipped: Program, entries: Sequence[AuditEntry], family: str
) -> tuple[BlamedLine, ...]:
    """Say of every rule and example of a family's program where it comes from."""
    promoted = _promoted(entries, family, program.stage)
    votes = _votes(entries, family)
    made: list[BlamedLine] = []
    for slot in EDITABLE:
        given = lines(shipped, slot)
        for text in lines(program, slot):
            if (entry := promoted.get((slot, text))) is not None:
                cases = votes.get(str(entry.payload["candidate"]), ())
                name = str(entry.payload["id"])
                made.append(BlamedLine(slot, text, Origin.PROMOTED, cases, name, entry.when))
            else:
                origin = Origin.SHIPPED if text in given else Origin.HAND
                made.append(BlamedLine(slot, text, origin))
    return tuple(made)


def _promoted(
    entries: Sequence[AuditEntry], family: str, program: str
) -> dict[tuple[str, str], AuditEntry]:
    found = {}
    for entry in entries:
        ours = entry.kind is EntryKind.PROMOTION and entry.family == family
        if ours and entry.payload["program"] == program:
            op, text = EditOp(entry.payload["op"]), str(entry.payload["text"])
            if op in (EditOp.ADD_RULE, EditOp.ADD_FEW_SHOT):
                found[SLOT[op], line(PromptEdit(program, op, text))] = entry
    return found


def _votes(entries: Sequence[AuditEntry], family: str) -> dict[str, tuple[str, ...]]:
    """Return who voted for what, also after it was promoted."""
    found: dict[str, dict[str, None]] = {}
    for entry in entries:
        if entry.kind is EntryKind.PROMPT_EDIT and entry.accepted and entry.family == family:
            found.setdefault(str(entry.payload["candidate"]), {})[entry.case] = None
    return {name: tuple(cases) for name, cases in found.items()}
