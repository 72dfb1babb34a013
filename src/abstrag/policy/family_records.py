"""The records of one family: its files, its log entries and its conflicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from abstrag.llm.prompt import Program
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.model.record import record
from abstrag.policy.audit import AuditEntry, AuditLog, EntryKind, PromotionStatus, Validation
from abstrag.policy.change import Conflict, ConflictFile, ProgramFamily
from abstrag.policy.edit import SLOT, line, lines
from abstrag.policy.files import DurableFiles
from abstrag.policy.load import EDITABLE, compose, shipped
from abstrag.policy.location import known

# What the log says about each proposed edit: who voted for it, and how far it has come.
#
# The log is the only memory of votes; this is a pure function of it.


@record
class EditVote:
    """One case asks for an edit of the program that it saw."""

    case: str
    patch: str
    base_hash: str
    when: str


@record
class EditCandidate:
    """A valid edit and its votes, the last one of each case."""

    id: str
    family: str
    edit: PromptEdit
    votes: tuple[EditVote, ...] = ()
    status: PromotionStatus = PromotionStatus.CANDIDATE
    reason: str = ""
    failed: tuple[str, int] | None = None  # the program and the votes of its last failed replay
    refused_on: tuple[str, ...] = ()  # hashes of the programs it was found in conflict with

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases that voted, in their order."""
        return tuple(vote.case for vote in self.votes)


def lineage(entries: Sequence[AuditEntry], family: str, program: str, now: str) -> frozenset[str]:
    """Return the hashes from which our own changes, and nobody else's, lead to the hash `now`.

    An edit that was forked from one of them may be made; any other was forked from a file that a
    person has changed since.
    """
    steps = [
        (entry.payload["base_hash"], entry.payload["program_hash"])
        for entry in entries
        if entry.family == family
        and entry.kind in (EntryKind.PROMOTION, EntryKind.REVERT)
        and entry.accepted
        and entry.payload["program"] == program
    ]
    known = {now}
    while more := {before for before, after in steps if after in known} - known:
        known |= more
    return frozenset(known)


def _voted(so_far: EditCandidate | None, name: str, entry: AuditEntry) -> EditCandidate:
    payload = entry.payload
    made = so_far or EditCandidate(
        id=name,
        family=entry.family,
        edit=PromptEdit(program=payload["program"], op=EditOp(payload["op"]), text=payload["text"]),
    )
    vote = EditVote(entry.case, payload["patch"], payload["base_hash"], entry.when)
    others = tuple(old for old in made.votes if old.case != vote.case)
    # a case that votes again counts once, and for the program that it saw last
    return replace(made, votes=(*others, vote))


def _moved(candidate: EditCandidate, entry: AuditEntry) -> EditCandidate:
    moved = replace(candidate, status=entry.promotion_status, reason=entry.reason)
    if entry.kind is EntryKind.REPLAY:
        moved = replace(moved, failed=(entry.payload["base_hash"], len(candidate.votes)))
    if entry.kind is EntryKind.CONFLICT:
        moved = replace(moved, refused_on=(*moved.refused_on, entry.payload["found_hash"]))
    return moved


class Origin(StrEnum):
    """Who added a line."""

    SHIPPED = "shipped"
    HAND = "by hand"
    PROMOTED = "promoted"


@record
class BlamedLine:
    """A rule or an example, and who added it."""

    slot: str
    text: str
    origin: Origin
    cases: tuple[str, ...] = ()
    promotion: str = ""
    when: str = ""


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
    """Return the votes for every edit, promoted ones included."""
    found: dict[str, dict[str, None]] = {}
    for entry in entries:
        if entry.kind is EntryKind.PROMPT_EDIT and entry.accepted and entry.family == family:
            found.setdefault(str(entry.payload["candidate"]), {})[entry.case] = None
    return {name: tuple(cases) for name, cases in found.items()}


@dataclass(frozen=True, slots=True)
class FamilyRecords:
    """One family of a policy folder."""

    root: Path
    family: str
    now: Callable[[], str]
    files: DurableFiles

    @property
    def programs(self) -> ProgramFamily:
        """The family's program files."""
        return ProgramFamily(self.root, self.family, self.files)

    @property
    def log(self) -> AuditLog:
        """The log of all families."""
        return AuditLog(self.root, self.files)

    @property
    def conflict_file(self) -> ConflictFile:
        """The edits of the family that wait for a person to decide."""
        return ConflictFile(self.programs.folder, self.files)

    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the edits that wait for a person to decide."""
        return self.conflict_file.read()

    def entries(self) -> tuple[AuditEntry, ...]:
        """Return the log of all families."""
        return self.log.entries()

    def program(self, stage: str) -> Program:
        """Return a program as the family has it."""
        return self.programs.program(known(stage), self.programs.main(stage).read())

    def candidates(self) -> tuple[EditCandidate, ...]:
        """Return the valid edits with their votes, in the order in which they were proposed."""
        found: dict[str, EditCandidate] = {}
        for entry in self.entries():
            if entry.family != self.family or entry.kind is EntryKind.PATCH:
                continue
            name = str(entry.payload["candidate"])
            if entry.kind is EntryKind.PROMPT_EDIT:
                if entry.accepted:
                    found[name] = _voted(found.get(name), name, entry)
            elif name in found:
                found[name] = _moved(found[name], entry)
        return tuple(found.values())

    def changes(self) -> tuple[AuditEntry, ...]:
        """Return the changes made to the family's files: promotions and reverts."""
        kinds = (EntryKind.PROMOTION, EntryKind.REVERT)
        return tuple(
            entry
            for entry in self.entries()
            if entry.family == self.family and entry.kind in kinds and entry.accepted
        )

    def blame(self, stage: str) -> tuple[BlamedLine, ...]:
        """Say where every rule and example of a program comes from."""
        return self._blamed(self.program(stage))

    def by_hand(self, program: Program) -> Callable[[str, str], bool]:
        """Return a predicate: whether a person wrote a line of the program."""
        written = {
            (one.slot, one.text) for one in self._blamed(program) if one.origin is Origin.HAND
        }
        return lambda slot, text: (slot, text) in written

    def _blamed(self, program: Program) -> tuple[BlamedLine, ...]:
        entries = self.entries()
        original = compose(program.stage, [shipped(program.stage)])
        promoted = _promoted(entries, self.family, program.stage)
        votes = _votes(entries, self.family)
        made: list[BlamedLine] = []
        for slot in EDITABLE:
            given = lines(original, slot)
            for text in lines(program, slot):
                if (entry := promoted.get((slot, text))) is not None:
                    cases = votes.get(str(entry.payload["candidate"]), ())
                    name = str(entry.payload["id"])
                    made.append(BlamedLine(slot, text, Origin.PROMOTED, cases, name, entry.when))
                else:
                    origin = Origin.SHIPPED if text in given else Origin.HAND
                    made.append(BlamedLine(slot, text, origin))
        return tuple(made)

    def append(
        self,
        kind: EntryKind,
        payload: Mapping[str, Any],
        *,
        accepted: bool,
        reason: str,
        case: str,
        status: PromotionStatus = PromotionStatus.NONE,
    ) -> AuditEntry:
        """Add an entry to the log; call it under the lock."""
        return self.log.append(
            AuditEntry(
                kind=kind,
                family=self.family,
                payload=payload,
                validation_status=Validation.ACCEPTED if accepted else Validation.REJECTED,
                promotion_status=status,
                reason=reason,
                case=case,
                when=self.now(),
            )
        )

    def add_conflict(self, conflict: Conflict) -> AuditEntry:
        """Note a conflict in its file and in the log; call it under the lock."""
        self.conflict_file.add(conflict)
        return self.append(
            EntryKind.CONFLICT,
            {
                "candidate": conflict.candidate,
                "program": conflict.edit.program,
                "op": conflict.edit.op.value,
                "text": conflict.edit.text,
                "base_hash": conflict.base_hash,
                "found_hash": conflict.found_hash,
            },
            accepted=False,
            status=PromotionStatus.CONFLICT,
            reason=conflict.reason,
            case=conflict.cases[-1],
        )
