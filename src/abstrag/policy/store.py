"""The policy store: prompt programs that learn, on disk, shared, and never over a person's head.

An edit is proposed for a case, which is a vote for it. With votes of enough distinct cases it is
eligible; a replay of solved cases that finds none worse makes it accepted; and it is promoted into
the family's file if that is still the file the votes were about. All of it is in the log, and so is
everything that was refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from abstrag.errors import PolicyError
from abstrag.llm.prompt import Program
from abstrag.model.patch import PromptEdit
from abstrag.policy import promotion
from abstrag.policy.audit import AuditEntry, EntryKind, PromotionStatus
from abstrag.policy.blame import BlamedLine
from abstrag.policy.candidates import VOTES, EditCandidate
from abstrag.policy.conflict import Conflict
from abstrag.policy.edit import apply, candidate_id, objection
from abstrag.policy.files import DurableFiles, locked
from abstrag.policy.hashes import base_hash
from abstrag.policy.leak import CaseText
from abstrag.policy.ledger import PolicyLedger
from abstrag.policy.location import BASE, DEFAULT_FAMILY, policy_root
from abstrag.policy.stages import MUTABLE

Replay = Callable[[Program], Sequence[str]]  # a changed program → the solved cases it makes worse


def utc_now() -> str:
    """Return the time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class PolicyStore:
    """The programs of one family, and how they may change. Made by `open`."""

    ledger: PolicyLedger
    k: int

    @classmethod
    def open(
        cls,
        root: Path | None = None,
        family: str = DEFAULT_FAMILY,
        *,
        k: int = VOTES,
        now: Callable[[], str] = utc_now,
        files: DurableFiles | None = None,
    ) -> PolicyStore:
        """Open a family's store and see pending changes through: they land, or are in conflict.

        Args:
            root: the policy folder; none means `ABSTRAG_POLICY` or the user's data folder.
            family: whose programs to change; the shared baseline is not a family.
            k: how many distinct cases must vote for an edit.
            now: the clock of the log.
            files: how to write; tests hand in one that stops.
        """
        if family == BASE:
            raise PolicyError(
                f"{BASE!r} belongs to all families and refinement does not change it",
                hint="name a family",
            )
        if k < 1:
            raise PolicyError(f"an edit cannot need {k} votes", hint="ask for at least 1")
        ledger = PolicyLedger(policy_root(root), family, now, files or DurableFiles())
        if ledger.shelf.pending():
            with locked(ledger.root):
                for change in ledger.shelf.pending():
                    promotion.see_through(ledger, change)
        return cls(ledger, k)

    @property
    def root(self) -> Path:
        """The policy folder."""
        return self.ledger.root

    @property
    def family(self) -> str:
        """Whose programs these are."""
        return self.ledger.family

    def program(self, stage: str) -> Program:
        """Return a program as the family has it."""
        return self.ledger.program(stage)

    def entries(self) -> tuple[AuditEntry, ...]:
        """Return the log of all families."""
        return self.ledger.log.entries()

    def candidates(self) -> tuple[EditCandidate, ...]:
        """Return the valid edits proposed in this family, with their votes."""
        return self.ledger.candidates()

    def changes(self) -> tuple[AuditEntry, ...]:
        """Return what was done to this family's files, oldest first: promotions and reverts."""
        return self.ledger.changes()

    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the edits that wait for a person to decide."""
        return self.ledger.conflicts.read()

    def blame(self, stage: str) -> tuple[BlamedLine, ...]:
        """Say where every rule and example of a program comes from."""
        return self.ledger.blame(self.program(stage), self.entries())

    def propose(self, edit: PromptEdit, *, case: str, patch: str, text: CaseText) -> AuditEntry:
        """Propose an edit on behalf of a case, which is a vote for it.

        A refused edit is logged with its reason and returned like any other: look at `accepted`.

        Args:
            edit: what to change; without a `base_hash` it is about the program as it is now.
            case: id of the case; several votes of one case count once.
            patch: id of the patch that carries the edit.
            text: the words of the case, which may not get into a rule.
        """
        with locked(self.root):
            name = candidate_id(self.family, edit)
            seen = edit.base_hash
            if edit.program in MUTABLE:
                program = self.program(edit.program)
                seen = seen or base_hash(program)
                reason = objection(edit, program, text, by_hand=self.ledger.by_hand(program))
            else:
                reason = f"program {edit.program!r} is not one that may be edited"
            if reason is None and promotion.retired(self.ledger, name):
                reason = "it was made once and has been taken back"
            return self.ledger.append(
                EntryKind.PROMPT_EDIT,
                {
                    "candidate": name,
                    "program": edit.program,
                    "op": edit.op.value,
                    "text": edit.text,
                    "patch": patch,
                    "base_hash": seen,
                },
                accepted=reason is None,
                status=PromotionStatus.NONE if reason else PromotionStatus.CANDIDATE,
                reason=reason or "valid, and a vote for it",
                case=case,
            )

    def eligible(self) -> tuple[EditCandidate, ...]:
        """Return what `promote` would replay now."""
        return tuple(candidate for candidate, _ in promotion.eligible(self.ledger, self.k))

    def promote(self, replay: Replay) -> tuple[AuditEntry, ...]:
        """Promote what has its votes and makes no solved case worse; returns what became of each.

        The replay runs without the lock. If the program changes meanwhile, it is done again.

        Args:
            replay: given a changed program, returns the ids of the solved cases it makes worse.
        """
        done: list[AuditEntry] = []
        while True:
            with locked(self.root):
                done += promotion.note_conflicts(self.ledger, self.k)
                turn = next(iter(promotion.eligible(self.ledger, self.k)), None)
            if turn is None:
                return tuple(done)
            candidate, program = turn
            worse = tuple(replay(apply(candidate.edit, program)))
            with locked(self.root):
                if entry := promotion.conclude(self.ledger, self.k, candidate, program, worse):
                    done.append(entry)

    def revert(self, name: str) -> AuditEntry:
        """Bring a program's file back to the exact bytes it had before a promotion.

        What was promoted into the same file later is undone with it.

        Raises:
            PolicyError: There is no such promotion, it is not in effect, or a person has edited
                the file since.
        """
        with locked(self.root):
            return promotion.revert(self.ledger, name)

    def audit(
        self, payload: Mapping[str, Any], *, accepted: bool, reason: str, case: str
    ) -> AuditEntry:
        """Log a patch of refinement that is no prompt edit, and what became of it."""
        with locked(self.root):
            return self.ledger.append(
                EntryKind.PATCH, payload, accepted=accepted, reason=reason, case=case
            )
