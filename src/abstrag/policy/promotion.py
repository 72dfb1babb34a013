"""From votes to a changed file and back: eligibility, replay, promotion, conflict, revert.

Everything here runs under the store's lock; the replay, which may take long, runs between two
steps and without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from abstrag.errors import PolicyError
from abstrag.llm.prompt import Program
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.policy.audit import AuditEntry, EntryKind, PromotionStatus
from abstrag.policy.candidates import EditCandidate, lineage
from abstrag.policy.change import PolicyChange
from abstrag.policy.conflict import Conflict
from abstrag.policy.edit import SLOT, apply, objection
from abstrag.policy.hashes import base_hash, canonical, content_hash
from abstrag.policy.leak import CaseText
from abstrag.policy.ledger import PolicyLedger
from abstrag.policy.slots import read_slots, write_slots

_CLOSED = (PromotionStatus.PROMOTED, PromotionStatus.REVERTED)
_NO_CASE = CaseText("")  # words were checked when the edit was proposed


def eligible(ledger: PolicyLedger, k: int) -> list[tuple[EditCandidate, Program]]:
    """Return what has its votes for the program as it is now, each with that program."""
    return [
        (candidate, program)
        for candidate, program, votes in _standing(ledger)
        if votes >= k and candidate.failed != (base_hash(program), len(candidate.votes))
    ]


def note_conflicts(ledger: PolicyLedger, k: int) -> list[AuditEntry]:
    """Log what has its votes, but for a file that a person has changed since; once a file."""
    noted = []
    for candidate, program, votes in _standing(ledger):
        found = base_hash(program)
        if votes < k <= len(candidate.votes) and found not in candidate.refused_on:
            conflict = Conflict(
                candidate=candidate.id,
                edit=candidate.edit,
                cases=candidate.cases,
                base_hash=candidate.votes[-1].base_hash,
                found_hash=found,
                reason="the program is not the one that was voted on",
                when=ledger.now(),
            )
            noted.append(ledger.add_conflict(conflict))
    return noted


def conclude(
    ledger: PolicyLedger, k: int, candidate: EditCandidate, program: Program, worse: Sequence[str]
) -> AuditEntry | None:
    """Log a failed replay, or promote; None when the ground has moved and nothing is done."""
    if not any(one.id == candidate.id and now == program for one, now in eligible(ledger, k)):
        return None
    if worse:
        return ledger.append(
            EntryKind.REPLAY,
            {"candidate": candidate.id, "base_hash": base_hash(program), "worse": sorted(worse)},
            accepted=False,
            status=PromotionStatus.REGRESSION,
            reason=f"it makes {', '.join(sorted(worse)[:5])} worse",
            case=candidate.cases[-1],
        )
    found = ledger.shelf.main(program.stage).read()
    slot = SLOT[candidate.edit.op]
    slots = {} if found is None else read_slots(found, program.stage)
    slots[slot] = getattr(apply(candidate.edit, program), slot)
    change = _change(
        ledger,
        EntryKind.PROMOTION,
        candidate=candidate.id,
        edit=candidate.edit,
        program=program,
        contents=(found, write_slots(slots)),
        cases=candidate.cases,
    )
    ledger.shelf.accept(change)
    return see_through(ledger, change)


def revert(ledger: PolicyLedger, promotion: str) -> AuditEntry:
    """Bring a file back to the exact bytes it had before a promotion, and all that came after.

    Raises:
        PolicyError: There is no such promotion, it is not in effect, or a person has edited the
            file since.
    """
    changes = ledger.changes()
    entry = next((e for e in changes if e.payload["id"] == promotion), None)
    if entry is None or entry.kind is not EntryKind.PROMOTION:
        raise PolicyError(
            f"family {ledger.family!r} has no promotion {promotion!r}", hint="abstrag policy log"
        )
    stage = str(entry.payload["program"])
    found = ledger.shelf.main(stage).read()
    if not _ours_since(entry, [e for e in changes if e.payload["program"] == stage], found):
        raise PolicyError(
            f"program {stage!r} of family {ledger.family!r} was edited by hand after {promotion!r}",
            hint="take the line out by hand; abstrag policy blame shows it",
        )
    if promotion not in _in_effect(changes, stage):
        raise PolicyError(f"promotion {promotion!r} is not in effect any more")
    change = _change(
        ledger,
        EntryKind.REVERT,
        candidate=str(entry.payload["candidate"]),
        edit=PromptEdit(stage, EditOp(entry.payload["op"]), str(entry.payload["text"])),
        program=ledger.shelf.program(stage, found),
        contents=(found, ledger.shelf.kept(stage, entry.payload["before"])),
        cases=tuple(entry.payload["cases"]),
    )
    ledger.shelf.accept(change)
    done = see_through(ledger, change)
    if not done.accepted:
        raise PolicyError(f"promotion {promotion!r} cannot be reverted: {done.reason}")
    return done


def see_through(ledger: PolicyLedger, change: PolicyChange) -> AuditEntry:
    """Land an accepted change, tell the log once, and drop the backup; safe to call again."""
    entry = next((e for e in ledger.changes() if e.payload["id"] == change.id), None)
    if entry is None:
        obstacle = ledger.shelf.land(change)
        entry = _refused(ledger, change, obstacle) if obstacle else _logged(ledger, change)
    ledger.shelf.finish(change)
    return entry


def retired(ledger: PolicyLedger, candidate: str) -> bool:
    """True when an edit was made once: what was taken out again is not put back by a vote."""
    return any(entry.payload["candidate"] == candidate for entry in ledger.changes())


def _standing(ledger: PolicyLedger) -> list[tuple[EditCandidate, Program, int]]:
    """Return the open candidates, each with its program and the votes that are about it."""
    entries, made = ledger.log.entries(), []
    for candidate in ledger.candidates():
        if candidate.status in _CLOSED:
            continue
        program = ledger.program(candidate.edit.program)
        # what a person or another promotion has made needless or impossible is not due
        by_hand = ledger.by_hand(program)
        if objection(candidate.edit, program, _NO_CASE, by_hand=by_hand) is None:
            ours = lineage(entries, ledger.family, program.stage, base_hash(program))
            votes = sum(vote.base_hash in ours for vote in candidate.votes)
            made.append((candidate, program, votes))
    return made


def _change(
    ledger: PolicyLedger,
    kind: EntryKind,
    *,
    candidate: str,
    edit: PromptEdit,
    program: Program,
    contents: tuple[bytes | None, bytes | None],
    cases: tuple[str, ...],
) -> PolicyChange:
    """Save both versions of the file and say what is to be done."""
    shelf, stage = ledger.shelf, program.stage
    before, after = (shelf.keep(stage, content) for content in contents)
    # the number of changes so far keeps names apart when the same change is made twice
    name = [len(ledger.changes()), kind.value, ledger.family, candidate, before, after]
    return PolicyChange(
        id=sha256(canonical(name)).hexdigest()[:12],
        kind=kind,
        family=ledger.family,
        program=stage,
        candidate=candidate,
        edit=edit,
        cases=cases,
        base_hash=base_hash(program),
        program_hash=base_hash(shelf.program(stage, contents[1])),
        before=before,
        after=after,
    )


def _logged(ledger: PolicyLedger, change: PolicyChange) -> AuditEntry:
    if promoted := change.kind is EntryKind.PROMOTION:
        ledger.conflicts.settle(change.candidate)
    return ledger.append(
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


def _refused(ledger: PolicyLedger, change: PolicyChange, obstacle: str) -> AuditEntry:
    if change.kind is EntryKind.REVERT:
        return ledger.append(
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
        found_hash=_found(ledger, change.program),
        reason=obstacle,
        when=ledger.now(),
    )
    return ledger.add_conflict(conflict)


def _found(ledger: PolicyLedger, stage: str) -> str:
    """Name what a person has left in a file, even if it is no program."""
    try:
        return base_hash(ledger.program(stage))
    except PolicyError:
        return content_hash(ledger.shelf.main(stage).read() or b"")


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
