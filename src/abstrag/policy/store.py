"""The policy store: prompt programs that learn, on disk and shared; a person's edits always stay.

An edit is proposed for a case, which is a vote for it. With votes of enough distinct cases it is
eligible; a replay of solved cases that finds none worse makes it accepted; and it is promoted into
the family's file if that is still the file the votes were about. All of it is in the log, and so is
everything that was refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from abstrag.config import EDIT_VOTES
from abstrag.errors import PolicyError
from abstrag.llm.prompt import Program
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.policy.audit import AuditEntry, EntryKind, PromotionStatus
from abstrag.policy.change import Conflict, PolicyChange
from abstrag.policy.edit import SLOT, CaseText, apply, candidate_id, objection
from abstrag.policy.family_records import EditCandidate, FamilyRecords, lineage
from abstrag.policy.files import DurableFiles, locked
from abstrag.policy.load import base_hash, canonical, content_hash, read_slots, write_slots
from abstrag.policy.location import BASE, DEFAULT_FAMILY, MUTABLE, policy_root

_CLOSED = (PromotionStatus.PROMOTED, PromotionStatus.REVERTED)
_NO_CASE = CaseText("")  # words were checked when the edit was proposed
Replay = Callable[[Program], Sequence[str]]  # a changed program → the solved cases it makes worse


def utc_now() -> str:
    """Return the time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class PolicyStore(FamilyRecords):
    """The programs of one family, and how they may change. Made by `open`.

    What changes a file or the log runs under the store's lock; a replay, which may take long, runs
    between two such steps and without it.
    """

    k: int = EDIT_VOTES

    @classmethod
    def open(
        cls,
        root: Path | None = None,
        family: str = DEFAULT_FAMILY,
        *,
        k: int = EDIT_VOTES,
        now: Callable[[], str] = utc_now,
        files: DurableFiles | None = None,
    ) -> PolicyStore:
        """Open a family's store and complete pending changes: they are written or become conflicts.

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
        store = cls(policy_root(root), family, now, files or DurableFiles(), k)
        if store.programs.pending():
            with locked(store.root):
                for change in store.programs.pending():
                    store._see_through(change)
        return store

    def propose(self, edit: PromptEdit, *, case: str, patch: str, text: CaseText) -> AuditEntry:
        """Propose an edit on behalf of a case, which is a vote for it; a case counts once.

        A refused edit is logged with its reason and returned like any other: look at `accepted`.
        Without a `base_hash` it is about the program as it is now. `patch` is the id of the patch
        that carries it, and `text` the words of the case, which may not get into a rule.
        """
        with locked(self.root):
            name = candidate_id(self.family, edit)
            seen = edit.base_hash
            if edit.program in MUTABLE:
                program = self.program(edit.program)
                seen = seen or base_hash(program)
                reason = objection(edit, program, text, by_hand=self.by_hand(program))
            else:
                reason = f"program {edit.program!r} is not one that may be edited"
            made_once = any(entry.payload["candidate"] == name for entry in self.changes())
            if reason is None and made_once:  # a vote does not put back what was taken out
                reason = "it was made once and has been taken back"
            return self.append(
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
        return tuple(candidate for candidate, _ in self._eligible())

    def promote(self, replay: Replay) -> tuple[AuditEntry, ...]:
        """Promote edits with enough votes that make no solved case worse; return each outcome.

        `replay` returns the ids of the solved cases that a changed program makes worse. It runs
        without the lock; if the program changes meanwhile, it is done again.
        """
        done: list[AuditEntry] = []
        while True:
            with locked(self.root):
                done += self._note_conflicts()
                turn = next(iter(self._eligible()), None)
            if turn is None:
                return tuple(done)
            candidate, program = turn
            worse = tuple(replay(apply(candidate.edit, program)))
            with locked(self.root):
                if entry := self._conclude(candidate, program, worse):
                    done.append(entry)

    def revert(self, name: str) -> AuditEntry:
        """Bring a program's file back to the exact bytes it had before a promotion.

        What was promoted into the same file later is undone with it.

        Raises:
            PolicyError: There is no such promotion, it is not in effect, or a person has edited
                the file since.
        """
        with locked(self.root):
            return self._revert(name)

    def audit(
        self, payload: Mapping[str, Any], *, accepted: bool, reason: str, case: str
    ) -> AuditEntry:
        """Log a patch of refinement that is no prompt edit, and what became of it."""
        with locked(self.root):
            return self.append(
                EntryKind.PATCH, payload, accepted=accepted, reason=reason, case=case
            )

    def _eligible(self) -> list[tuple[EditCandidate, Program]]:
        """Return the edits with enough votes for the current program, each with that program."""
        return [
            (candidate, program)
            for candidate, program, votes in self._standing()
            if votes >= self.k and candidate.failed != (base_hash(program), len(candidate.votes))
        ]

    def _note_conflicts(self) -> list[AuditEntry]:
        """Log what has its votes, but for a file that a person has changed since; once a file."""
        noted = []
        for candidate, program, votes in self._standing():
            found = base_hash(program)
            if votes < self.k <= len(candidate.votes) and found not in candidate.refused_on:
                conflict = Conflict(
                    candidate=candidate.id,
                    edit=candidate.edit,
                    cases=candidate.cases,
                    base_hash=candidate.votes[-1].base_hash,
                    found_hash=found,
                    reason="the program is not the one that was voted on",
                    when=self.now(),
                )
                noted.append(self.add_conflict(conflict))
        return noted

    def _conclude(
        self, candidate: EditCandidate, program: Program, worse: Sequence[str]
    ) -> AuditEntry | None:
        """Log a failed replay, or promote; None when the file was changed and nothing is done."""
        if not any(one.id == candidate.id and now == program for one, now in self._eligible()):
            return None
        if worse:
            return self.append(
                EntryKind.REPLAY,
                {
                    "candidate": candidate.id,
                    "base_hash": base_hash(program),
                    "worse": sorted(worse),
                },
                accepted=False,
                status=PromotionStatus.REGRESSION,
                reason=f"it makes {', '.join(sorted(worse)[:5])} worse",
                case=candidate.cases[-1],
            )
        found = self.programs.main(program.stage).read()
        slot = SLOT[candidate.edit.op]
        slots = {} if found is None else read_slots(found, program.stage)
        slots[slot] = getattr(apply(candidate.edit, program), slot)
        return self._changed(
            EntryKind.PROMOTION,
            candidate=candidate.id,
            edit=candidate.edit,
            program=program,
            contents=(found, write_slots(slots)),
            cases=candidate.cases,
        )

    def _revert(self, promotion: str) -> AuditEntry:
        changes = self.changes()
        entry = next((e for e in changes if e.payload["id"] == promotion), None)
        if entry is None or entry.kind is not EntryKind.PROMOTION:
            raise PolicyError(
                f"family {self.family!r} has no promotion {promotion!r}", hint="abstrag policy log"
            )
        stage = str(entry.payload["program"])
        found = self.programs.main(stage).read()
        if not _ours_since(entry, [e for e in changes if e.payload["program"] == stage], found):
            raise PolicyError(
                f"program {stage!r} of family {self.family!r} was edited by hand "
                f"after {promotion!r}",
                hint="take the line out by hand; abstrag policy blame shows it",
            )
        if promotion not in _in_effect(changes, stage):
            raise PolicyError(f"promotion {promotion!r} is not in effect any more")
        done = self._changed(
            EntryKind.REVERT,
            candidate=str(entry.payload["candidate"]),
            edit=PromptEdit(stage, EditOp(entry.payload["op"]), str(entry.payload["text"])),
            program=self.programs.program(stage, found),
            contents=(found, self.programs.kept(stage, entry.payload["before"])),
            cases=tuple(entry.payload["cases"]),
        )
        if not done.accepted:
            raise PolicyError(f"promotion {promotion!r} cannot be reverted: {done.reason}")
        return done

    def _standing(self) -> list[tuple[EditCandidate, Program, int]]:
        """Return the open candidates, each with its program and the votes that are about it."""
        entries, made = self.entries(), []
        for candidate in self.candidates():
            if candidate.status in _CLOSED:
                continue
            program = self.program(candidate.edit.program)
            # what a person or another promotion has made needless or impossible is not due
            by_hand = self.by_hand(program)
            if objection(candidate.edit, program, _NO_CASE, by_hand=by_hand) is None:
                ours = lineage(entries, self.family, program.stage, base_hash(program))
                votes = sum(vote.base_hash in ours for vote in candidate.votes)
                made.append((candidate, program, votes))
        return made

    def _changed(
        self,
        kind: EntryKind,
        *,
        candidate: str,
        edit: PromptEdit,
        program: Program,
        contents: tuple[bytes | None, bytes | None],
        cases: tuple[str, ...],
    ) -> AuditEntry:
        """Save both versions of the file, record the change, and make it."""
        programs, stage = self.programs, program.stage
        before, after = (programs.keep(stage, content) for content in contents)
        # the number of changes so far keeps names apart when the same change is made twice
        name = [len(self.changes()), kind.value, self.family, candidate, before, after]
        change = PolicyChange(
            id=sha256(canonical(name)).hexdigest()[:12],
            kind=kind,
            family=self.family,
            program=stage,
            candidate=candidate,
            edit=edit,
            cases=cases,
            base_hash=base_hash(program),
            program_hash=base_hash(programs.program(stage, contents[1])),
            before=before,
            after=after,
        )
        programs.accept(change)
        return self._see_through(change)

    def _see_through(self, change: PolicyChange) -> AuditEntry:
        """Write an accepted change, log it once, and drop the backup; safe to call again."""
        entry = next((e for e in self.changes() if e.payload["id"] == change.id), None)
        if entry is None:
            obstacle = self.programs.land(change)
            entry = self._refused(change, obstacle) if obstacle else self._logged(change)
        self.programs.finish(change)
        return entry

    def _logged(self, change: PolicyChange) -> AuditEntry:
        if promoted := change.kind is EntryKind.PROMOTION:
            self.conflict_file.settle(change.candidate)
        return self.append(
            change.kind,
            _payload(change),
            accepted=True,
            status=PromotionStatus.PROMOTED if promoted else PromotionStatus.REVERTED,
            reason=(
                f"{len(change.cases)} cases voted for it and no solved case is worse"
                if promoted
                else "the file is again what it was before the promotion"
            ),
            case=change.cases[-1],
        )

    def _refused(self, change: PolicyChange, obstacle: str) -> AuditEntry:
        if change.kind is EntryKind.REVERT:
            return self.append(
                EntryKind.REVERT,
                _payload(change),
                accepted=False,
                status=PromotionStatus.PROMOTED,
                reason=obstacle,
                case=change.cases[-1],
            )
        try:
            found = base_hash(self.program(change.program))
        except PolicyError:  # what a person has left there is no program
            found = content_hash(self.programs.main(change.program).read() or b"")
        conflict = Conflict(
            candidate=change.candidate,
            edit=change.edit,
            cases=change.cases,
            base_hash=change.base_hash,
            found_hash=found,
            reason=obstacle,
            when=self.now(),
        )
        return self.add_conflict(conflict)


def _payload(change: PolicyChange) -> dict[str, object]:
    return {
        "id": change.id,
        "candidate": change.candidate,
        "program": change.program,
        "op": change.edit.op.value,
        "text": change.edit.text,
        "base_hash": change.base_hash,
        "program_hash": change.program_hash,
        "before": change.before,
        "after": change.after,
        "cases": list(change.cases),
    }


def _ours_since(entry: AuditEntry, changes: Sequence[AuditEntry], found: bytes | None) -> bool:
    """True when a change and all after it made the file what it is, with no edit in between."""
    rest = changes[changes.index(entry) :]
    now = None if found is None else content_hash(found)
    followed = [*(one.payload["before"] for one in rest[1:]), now]
    return [one.payload["after"] for one in rest] == followed


def _in_effect(changes: Sequence[AuditEntry], stage: str) -> list[str]:
    """Return the promotions that are part of the current file, the oldest first."""
    standing: list[AuditEntry] = []
    for entry in changes:
        if entry.payload["program"] != stage:
            continue
        if entry.kind is EntryKind.PROMOTION:
            standing.append(entry)
        else:  # a revert takes its promotion and whatever came after with it
            names = [one.payload["candidate"] for one in standing]
            del standing[names.index(entry.payload["candidate"]) :]
    return [str(entry.payload["id"]) for entry in standing]
