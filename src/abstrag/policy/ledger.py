"""What the store knows of one family: its files, the log, its conflicts; and how to add to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstrag.llm.prompt import Program
from abstrag.policy.audit import AuditEntry, AuditLog, EntryKind, PromotionStatus, Validation
from abstrag.policy.blame import BlamedLine, Origin, blame
from abstrag.policy.candidates import EditCandidate, candidates
from abstrag.policy.change import ProgramFamily
from abstrag.policy.conflict import Conflict, ConflictFile
from abstrag.policy.files import DurableFiles
from abstrag.policy.load import compose, shipped
from abstrag.policy.stages import known


@dataclass(frozen=True, slots=True)
class PolicyLedger:
    """One family of a policy folder."""

    root: Path
    family: str
    now: Callable[[], str]
    files: DurableFiles

    @property
    def shelf(self) -> ProgramFamily:
        """The family's program files."""
        return ProgramFamily(self.root, self.family, self.files)

    @property
    def log(self) -> AuditLog:
        """The log of all families."""
        return AuditLog(self.root, self.files)

    @property
    def conflicts(self) -> ConflictFile:
        """The family's conflict file."""
        return ConflictFile(self.shelf.folder, self.files)

    def program(self, stage: str) -> Program:
        """Return a program as the family has it."""
        return self.shelf.program(known(stage), self.shelf.main(stage).read())

    def candidates(self) -> tuple[EditCandidate, ...]:
        """Return the valid edits proposed in the family, with their votes."""
        return candidates(self.log.entries(), self.family)

    def changes(self) -> tuple[AuditEntry, ...]:
        """Return the changes made to the family's files: promotions and reverts."""
        kinds = (EntryKind.PROMOTION, EntryKind.REVERT)
        return tuple(
            entry
            for entry in self.log.entries()
            if entry.family == self.family and entry.kind in kinds and entry.accepted
        )

    def blame(self, program: Program, entries: Sequence[AuditEntry]) -> tuple[BlamedLine, ...]:
        """Say where every rule and example of a program of this family comes from."""
        original = compose(program.stage, [shipped(program.stage)])
        return blame(program, original, entries, self.family)

    def by_hand(self, program: Program) -> Callable[[str, str], bool]:
        """Return what tells whether a person wrote a line of the program."""
        written = {
            (one.slot, one.text)
            for one in self.blame(program, self.log.entries())
            if one.origin is Origin.HAND
        }
        return lambda slot, text: (slot, text) in written

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
        self.conflicts.add(conflict)
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
