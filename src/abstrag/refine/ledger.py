"""The ledger: patches in the policy store's audit log, so that the next query profits from them.

The log is the only truth. What is in force for a document is what was accepted for its text and
not taken back since, in order; replaying it gives the same state, hash for hash, on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from abstrag.errors import PolicyError
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.model.record import from_json, record, to_data
from abstrag.policy.audit import AuditEntry, EntryKind
from abstrag.policy.hashes import canonical
from abstrag.policy.leak import CaseText
from abstrag.policy.store import PolicyStore
from abstrag.refine.episode import Episode
from abstrag.refine.outcome import Attempt, Refinement

APPLY: Final = "apply"
REVERT: Final = "revert"
SOLVED: Final = "solved"


def text_hash(document: DocumentIndex) -> str:
    """Name a document by its text: patches follow it into every store, and not past an edit."""
    return sha256(document.document.text.encode()).hexdigest()


@record
class Kept:
    """A patch in force, the document it is for, and the query that asked for it."""

    id: str
    patch: Patch
    document: str
    query: str
    when: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """Reads patches from a policy store's log, and writes what refinement did to it."""

    store: PolicyStore

    def kept(self, document: str | None = None) -> tuple[Kept, ...]:
        """Return the patches in force, oldest first; of all documents, or of one text's hash."""
        found: dict[tuple[str, str], Kept] = {}
        for entry in self._entries():
            place = str(entry.payload["document"]), str(entry.payload["id"])
            if entry.payload["action"] == REVERT:
                found.pop(place, None)
            elif entry.accepted and entry.payload["action"] == APPLY:
                patch = from_json(Patch, canonical(entry.payload["patch"]))
                query = str(entry.payload["query"])
                found.setdefault(place, Kept(patch.id, patch, place[0], query, entry.when))
        return tuple(k for k in found.values() if document in (None, k.document))

    def solved(self, document: str) -> tuple[Episode, ...]:
        """Return the queries that refinement has left solved: the controls of what comes next."""
        found: dict[str, Episode] = {}
        for entry in self._entries():
            if entry.payload["action"] == SOLVED and entry.payload["document"] == document:
                gold = tuple(entry.payload["gold"])
                episode = Episode(document, str(entry.payload["query"]), gold)
                found[episode.id] = episode
        return tuple(found.values())

    def documents(self) -> tuple[tuple[str, str], ...]:
        """Return the id and the text's hash of every document that has a solved query."""
        found = {
            (str(entry.payload["name"]), str(entry.payload["document"])): None
            for entry in self._entries()
            if entry.payload["action"] == SOLVED
        }
        return tuple(found)

    def note(self, refinement: Refinement, document: DocumentIndex, episode: Episode) -> None:
        """Log every attempt, accepted or not, and vote for the prompt edits of those accepted."""
        for step in refinement.steps:
            for attempt in step.attempts:
                self._note(attempt, refinement, document, episode)

    def note_solved(self, episode: Episode, document: DocumentIndex) -> None:
        """Remember a query that has its evidence, once."""
        name = text_hash(document)
        case = Episode(name, episode.query).id
        if case not in {known.id for known in self.solved(name)}:
            payload = {**self._about(document, episode), "action": SOLVED, "id": case}
            reason = "it has its evidence; from now on it is a control"
            self.store.audit(payload, accepted=True, reason=reason, case=episode.id)

    def revert(self, patch_id: str, *, reason: str = "taken back by hand") -> AuditEntry:
        """Take a patch back; the state is then that of a world in which it was never accepted.

        Raises:
            PolicyError: No such patch is in force, or the beginning of its id fits several.
        """
        fitting = [kept for kept in self.kept() if kept.id.startswith(patch_id)]
        if len({kept.id for kept in fitting}) != 1 or not patch_id:
            what = "several patches in force begin" if fitting else "no patch in force begins"
            raise PolicyError(f"{what} with {patch_id!r}", hint="abstrag policy log")
        for kept in fitting:
            payload = {"action": REVERT, "document": kept.document, "id": kept.id}
            payload |= {"query": kept.query, "patch": to_data(kept.patch)}
            entry = self.store.audit(payload, accepted=True, reason=reason, case=kept.id)
        return entry

    def _entries(self) -> Iterator[AuditEntry]:
        for entry in self.store.entries():
            ours = entry.kind is EntryKind.PATCH and entry.family == self.store.family
            if ours and "action" in entry.payload:
                yield entry

    def _note(
        self,
        attempt: Attempt,
        refinement: Refinement,
        document: DocumentIndex,
        episode: Episode,
    ) -> None:
        patch, verdict = attempt.patch, attempt.verdict
        payload = {
            **self._about(document, episode),
            "action": APPLY,
            "id": patch.id if patch else "",
            "patch": to_data(patch) if patch else None,
            "said": attempt.said,
            "effect": attempt.effect.value,
            "state_before": refinement.state_before,
        }
        reason = "; ".join(verdict.reasons) or "nothing got worse and Φ rose"
        self.store.audit(payload, accepted=verdict.accepted, reason=reason, case=episode.id)
        if patch is not None and patch.edit is not None:
            passages = tuple(segment.text for segment in document.segments)
            text = CaseText(episode.query, passages)
            if verdict.accepted:
                self.store.propose(patch.edit, case=episode.id, patch=patch.id, text=text)

    def _about(self, document: DocumentIndex, episode: Episode) -> dict[str, Any]:
        return {
            "document": text_hash(document),
            "name": document.document.id,
            "query": episode.query,
            "gold": list(episode.gold),
        }
