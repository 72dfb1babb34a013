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
from abstrag.policy.family_records import BlamedLine, EditCandidate, FamilyRecords, lineage
from abstrag.policy.files import DurableFiles, locked
from abstrag.policy.load import base_hash, canonical, content_hash, read_slots, write_slots
from abstrag.policy.location import BASE, DEFAULT_FAMILY, MUTABLE, policy_root

# From votes to a changed file and back: eligibility, replay, promotion, conflict, revert.
#
# Everything here runs under the store's lock; the replay, which may take long, runs between two
# steps and without it.

_CLOSED = (PromotionStatus.PROMOTED, PromotionStatus.REVERTED)
_NO_CASE = CaseText("")  # words were checked when the edit was proposed


def eligible(records: FamilyRecords, k: int) -> list[tuple[EditCandidate, Program]]:
    """Return what has its votes for the program as it is now, each with that program."""
    return [
        (candidate, program)
        for candidate, program, votes in _standing(records)
        if votes >= k and candidate.failed != (base_hash(program), len(candidate.votes))
    ]


def note_conflicts(records: FamilyRecords, k: int) -> list[AuditEntry]:
    """Log what has its votes, but for a file that a person has changed since; once a file."""
    noted = []
    for candidate, program, votes in _standing(records):
        found = base_hash(program)
        if votes < k <= len(candidate.votes) and found not in candidate.refused_on:
            conflict = Conflict(
                candidate=candidate.id,
                edit=candidate.edit,
                cases=candidate.cases,
                base_hash=candidate.votes[-1].base_hash,
                found_hash=found,
                reason="the program is not the one that was voted on",
                when=records.now(),
            )
            noted.append(records.add_conflict(conflict))
    return noted


def conclude(
    records: FamilyRecords, k: int, candidate: EditCandidate, program: Program, worse: Sequence[str]
) -> AuditEntry | None:
    """Log a failed replay, or promote; None when the ground has moved and nothing is done."""
    if not any(one.id == candidate.id and now == program for one, now in eligible(records, k)):
        return None
    if worse:
        return records.append(
            EntryKind.REPLAY,
            {"candidate": candidate.id, "base_hash": base_hash(program), "worse": sorted(worse)},
            accepted=False,
            status=PromotionStatus.REGRESSION,
            reason=f"it makes {', '.join(sorted(worse)[:5])} worse",
            case=candidate.cases[-1],
        )
    found = records.programs.main(program.stage).read()
    slot = SLOT[candidate.edit.op]
    slots = {} if found is None else read_slots(found, program.stage)
    slots[slot] = getattr(apply(candidate.edit, program), slot)
    change = _change(
        records,
        EntryKind.PROMOTION,
        candidate=candidate.id,
        edit=candidate.edit,
        program=program,
        contents=(found, write_slots(slots)),
        cases=candidate.cases,
    )
    records.programs.accept(change)
    return see_through(records, change)


def revert(records: FamilyRecords, promotion: str) -> AuditEntry:
    """Bring a file back to the exact bytes it had before a promotion, and all that came after.

    Raises:
        PolicyError: There is no such promotion, it is not in effect, or a person has edited the
            file since.
    """
    changes = records.changes()
    entry = next((e for e in changes if e.payload["id"] == promotion), None)
    if entry is None or entry.kind is not EntryKind.PROMOTION:
        raise PolicyError(
            f"family {records.family!r} has no promotion {promotion!r}", hint="abstrag policy log"
        )
    stage = str(entry.payload["program"])
    found = records.programs.main(stage).read()
    if not _ours_since(entry, [e for e in changes if e.payload["program"] == stage], found):
        raise PolicyError(
            f"program {stage!r} of family {records.family!r} was edited by hand "
            f"after {promotion!r}",
            hint="take the line out by hand; abstrag policy blame shows it",
        )
    if promotion not in _in_effect(changes, stage):
        raise PolicyError(f"promotion {promotion!r} is not in effect any more")
    change = _change(
        records,
        EntryKind.REVERT,
        candidate=str(entry.payload["candidate"]),
        edit=PromptEdit(stage, EditOp(entry.payload["op"]), str(entry.payload["text"])),
        program=records.programs.program(stage, found),
        contents=(found, records.programs.kept(stage, entry.payload["before"])),
        cases=tuple(entry.payload["cases"]),
    )
    records.programs.accept(change)
    done = see_through(records, change)
    if not done.accepted:
        raise PolicyError(f"promotion {promotion!r} cannot be reverted: {done.reason}")
    return done


def see_through(records: FamilyRecords, change: PolicyChange) -> AuditEntry:
    """Land an accepted change, tell the log once, and drop the backup; safe to call again."""
    entry = next((e for e in records.changes() if e.payload["id"] == change.id), None)
    if entry is None:
        obstacle = records.programs.land(change)
        entry = _refused(records, change, obstacle) if obstacle else _logged(records, change)
    records.programs.finish(change)
    return entry


def retired(records: FamilyRecords, candidate: str) -> bool:
    """True when an edit was made once: what was taken out again is not put back by a vote."""
    return any(entry.payload["candidate"] == candidate for entry in records.changes())


def _standing(records: FamilyRecords) -> list[tuple[EditCandidate, Program, int]]:
    """Return the open candidates, each with its program and the votes that are about it."""
    entries, made = records.log.entries(), []
    for candidate in records.candidates():
        if candidate.status in _CLOSED:
            continue
        program = records.program(candidate.edit.program)
        # what a person or another promotion has made needless or impossible is not due
        by_hand = records.by_hand(program)
        if objection(candidate.edit, program, _NO_CASE, by_hand=by_hand) is None:
            ours = lineage(entries, records.family, program.stage, base_hash(program))
            votes = sum(vote.base_hash in ours for vote in candidate.votes)
            made.append((candidate, program, votes))
    return made


def _change(
    records: FamilyRecords,
    kind: EntryKind,
    *,
    candidate: str,
    edit: PromptEdit,
    program: Program,
    contents: tuple[bytes | None, bytes | None],
    cases: tuple[str, ...],
) -> PolicyChange:
    """Save both versions of the file and say what is to be done."""
    programs, stage = records.programs, program.stage
    before, after = (programs.keep(stage, content) for content in contents)
    # the number of changes so far keeps names apart when the same change is made twice
    name = [len(records.changes()), kind.value, records.family, candidate, before, after]
    return PolicyChange(
        id=sha256(canonical(name)).hexdigest()[:12],
        kind=kind,
        family=records.family,
        program=stage,
        candidate=candidate,
        edit=edit,
        cases=cases,
        base_hash=base_hash(program),
        program_hash=base_hash(programs.program(stage, contents[1])),
        before=before,
        after=after,
    )


def _logged(records: FamilyRecords, change: PolicyChange) -> AuditEntry:
    if promoted := change.kind is EntryKind.PROMOTION:
        records.conflicts.settle(change.candidate)
    return records.append(
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


def _refused(records: FamilyRecords, change: PolicyChange, obstacle: str) -> AuditEntry:
    if change.kind is EntryKind.REVERT:
        return records.append(
            EntryKind.REVERT,
            _payload(change),
            accepted=False,
            status=PromotionStatus.PROMOTED,
            reason=obstacle,
            case=change.cases[-1],
        )
    conflict = Conflict(
        candidate=change.candidate,
        edit=change.edit,
        cases=change.cases,
        base_hash=change.base_hash,
        found_hash=_found(records, change.program),
        reason=obstacle,
        when=records.now(),
    )
    return records.add_conflict(conflict)


def _found(records: FamilyRecords, stage: str) -> str:
    """Name what a person has left in a file, even if it is no program."""
    try:
        return base_hash(records.program(stage))
    except PolicyError:
        return content_hash(records.programs.main(stage).read() or b"")


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
    steps = [one.payload["after"] for one in rest], [one.payload["before"] for one in rest[1:]]
    now = None if found is None else content_hash(found)
    return all(had == has for had, has in zip(steps[0], [*steps[1], now], strict=True))


def _in_effect(changes: Sequence[AuditEntry], stage: str) -> list[str]:
    """Return the promotions whose bytes the file still rests on, the oldest first."""
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


Replay = Callable[[Program], Sequence[str]]  # a changed program → the solved cases it makes worse


def utc_now() -> str:
    """Return the time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class PolicyStore:
    """The programs of one family, and how they may change. Made by `open`."""

    records: FamilyRecords
    k: int

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
        records = FamilyRecords(policy_root(root), family, now, files or DurableFiles())
        if records.programs.pending():
            with locked(records.root):
                for change in records.programs.pending():
                    see_through(records, change)
        return cls(records, k)

    @property
    def root(self) -> Path:
        """The policy folder."""
        return self.records.root

    @property
    def family(self) -> str:
        """Whose programs these are."""
        return self.records.family

    def program(self, stage: str) -> Program:
        """Return a program as the family has it."""
        return self.records.program(stage)

    def entries(self) -> tuple[AuditEntry, ...]:
        """Return the log of all families."""
        return self.records.log.entries()

    def candidates(self) -> tuple[EditCandidate, ...]:
        """Return the valid edits proposed in this family, with their votes."""
        return self.records.candidates()

    def changes(self) -> tuple[AuditEntry, ...]:
        """Return what was done to this family's files, oldest first: promotions and reverts."""
        return self.records.changes()

    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the edits that wait for a person to decide."""
        return self.records.conflicts.read()

    def blame(self, stage: str) -> tuple[BlamedLine, ...]:
        """Say where every rule and example of a program comes from."""
        return self.records.blame(self.program(stage), self.entries())

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
                reason = objection(edit, program, text, by_hand=self.records.by_hand(program))
            else:
                reason = f"program {edit.program!r} is not one that may be edited"
            if reason is None and retired(self.records, name):
                reason = "it was made once and has been taken back"
            return self.records.append(
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
        return tuple(candidate for candidate, _ in eligible(self.records, self.k))

    def promote(self, replay: Replay) -> tuple[AuditEntry, ...]:
        """Promote what has its votes and makes no solved case worse; returns what became of each.

        The replay runs without the lock. If the program changes meanwhile, it is done again.

        Args:
            replay: given a changed program, returns the ids of the solved cases it makes worse.
        """
        done: list[AuditEntry] = []
        while True:
            with locked(self.root):
                done += note_conflicts(self.records, self.k)
                turn = next(iter(eligible(self.records, self.k)), None)
            if turn is None:
                return tuple(done)
            candidate, program = turn
            worse = tuple(replay(apply(candidate.edit, program)))
            with locked(self.root):
                if entry := conclude(self.records, self.k, candidate, program, worse):
                    done.append(entry)

    def revert(self, name: str) -> AuditEntry:
        """Bring a program's file back to the exact bytes it had before a promotion.

        What was promoted into the same file later is undone with it.

        Raises:
            PolicyError: There is no such promotion, it is not in effect, or a person has edited
                the file since.
        """
        with locked(self.root):
            return revert(self.records, name)

    def audit(
        self, payload: Mapping[str, Any], *, accepted: bool, reason: str, case: str
    ) -> AuditEntry:
        """Log a patch of refinement that is no prompt edit, and what became of it."""
        with locked(self.root):
            return self.records.append(
                EntryKind.PATCH, payload, accepted=accepted, reason=reason, case=case
            )
