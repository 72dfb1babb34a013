"""What the log says about each proposed edit: who voted for it, and how far it has come.

The log is the only memory of votes; this is a pure function of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abstrag.model.patch import EditOp, PromptEdit
from abstrag.model.record import record
from abstrag.policy.audit import AuditEntry, EntryKind, PromotionStatus

VOTES: Final = 3  # k: distinct cases that must ask for an edit (appendix F)


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


def candidates(entries: Sequence[AuditEntry], family: str) -> tuple[EditCandidate, ...]:
    """Return the edits proposed in a family, in the order in which they were first proposed."""
    found: dict[str, EditCandidate] = {}
    for entry in entries:
        if entry.family != family or entry.kind is EntryKind.PATCH:
            continue
        name = str(entry.payload["candidate"])
        if entry.kind is EntryKind.PROMPT_EDIT:
            if entry.accepted:
                found[name] = _voted(found.get(name), name, entry)
        elif name in found:
            found[name] = _moved(found[name], entry)
    return tuple(found.values())


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
