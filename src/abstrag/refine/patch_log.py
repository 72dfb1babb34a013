"""The patch log: patches in the policy store's audit log, so that the next query profits from them.

The log is the only truth. What is in force for a document is what was accepted for its text and
not taken back since, in order; replaying it gives the same state, hash for hash, on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from abstrag.errors import PolicyError
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch, Precedent
from abstrag.model.record import from_json, record, to_data
from abstrag.policy.audit import AuditEntry, EntryKind
from abstrag.policy.edit import CaseText
from abstrag.policy.load import canonical
from abstrag.policy.store import PolicyStore
from abstrag.refine.feedback import Episode, Feedback, Noted, merged, step_patches
from abstrag.refine.lessons import (
    CandidatePrecedent,
    Lesson,
    LessonVote,
    Replay,
    decided,
    supporters,
    travelling,
    votes_of,
)
from abstrag.refine.limits import RefineBudget, objection
from abstrag.refine.outcome import Attempt, Refinement
from abstrag.refine.state import State, classify
from abstrag.search.precedents import VOTES

APPLY: Final = "apply"
REVERT: Final = "revert"
SOLVED: Final = "solved"
FEEDBACK: Final = "feedback"
PROMOTE: Final = "promote"
PRECEDENT: Final = "precedent"
_CLOSED: Final = 1 << 30  # more votes than there can be


def text_hash(document: DocumentIndex) -> str:
    """Name a document by its text: patches follow it into every store, and not past an edit."""
    return sha256(document.document.text.encode()).hexdigest()


@lru_cache(maxsize=16_384)
def _precedent(patch: str | bytes) -> Precedent:
    """Read a precedent from its patch; a line of the log never changes, so once."""
    delta = from_json(Patch, patch).delta
    assert isinstance(delta, Precedent)
    return delta


@record
class PatchInForce:
    """A patch in force, the document it is for, and the query that asked for it."""

    id: str
    patch: Patch
    document: str
    query: str
    when: str
    name: str = ""  # of the document
    genre: str = ""


@dataclass(frozen=True, slots=True)
class PatchLog:
    """Reads patches from a policy store's log, and writes what refinement did to it."""

    store: PolicyStore

    def kept(self, document: str | None = None) -> tuple[PatchInForce, ...]:
        """Return the patches in force, oldest first; of all documents, or of one text's hash."""
        found: dict[tuple[str, str], PatchInForce] = {}
        for entry in self._entries():
            place = str(entry.payload["document"]), str(entry.payload["id"])
            if entry.payload["action"] == REVERT:
                found.pop(place, None)
            elif entry.accepted and entry.payload["action"] == APPLY:
                patch = from_json(Patch, canonical(entry.payload["patch"]))
                query = str(entry.payload["query"])
                about = str(entry.payload.get("name", "")), str(entry.payload.get("genre", ""))
                found.setdefault(
                    place, PatchInForce(place[1], patch, place[0], query, entry.when, *about)
                )
        return tuple(k for k in found.values() if document in (None, k.document))

    def in_force(self, document: DocumentIndex) -> tuple[PatchInForce, ...]:
        """Return what holds for a document: the lessons of its genre, then its own patches."""
        own, genre = text_hash(document), document.genre.value
        taught = [
            PatchInForce(
                one.id, one.patch, own, one.votes[0].query, one.when, document.document.id, genre
            )
            for one in self.lessons()
            if one.when and one.genre == genre
        ]
        shown = [
            PatchInForce(one.id, one.patch, own, one.precedent.question, one.when, one.name, genre)
            for one in self.precedents()
            if one.genre == genre
            and (one.when or (one.refused and one.precedent.document == own))  # it settles its own
        ]
        return (*taught, *shown, *self.kept(own))

    def precedents(self) -> tuple[CandidatePrecedent, ...]:
        """Return the precedents of all documents, promoted or not.

        The last word on a question to a text counts; one that names no segment withdraws it.
        """
        shown: dict[str, CandidatePrecedent] = {}
        for entry in self._entries():
            action, name = entry.payload["action"], str(entry.payload["id"])
            if action == PRECEDENT:
                delta = _precedent(canonical(entry.payload["patch"]))
                about = str(entry.payload["genre"]), str(entry.payload["name"])
                before = shown.get(name)
                if before is None or before.precedent != delta:
                    shown[name] = CandidatePrecedent(*about, delta, entry.when)
            elif name in shown and action in (PROMOTE, REVERT):
                taken = action == PROMOTE and entry.accepted
                when = entry.when if taken else ""
                shown[name] = decided(shown[name], when=when, refused=not taken)
        return tuple(one for one in shown.values() if one.precedent.segments)

    def note_precedent(self, precedent: Precedent, document: DocumentIndex, reason: str) -> None:
        """Log a precedent of a document, unless it is logged already."""
        made = CandidatePrecedent(document.genre.value, document.document.id, precedent, "")
        if any(one.id == made.id and one.precedent == precedent for one in self.precedents()):
            return
        episode = Episode(document.document.id, precedent.question, precedent.segments)
        payload = {**self._about(document, episode), "action": PRECEDENT, "id": made.id}
        payload["patch"] = to_data(made.patch)
        self.store.audit(payload, accepted=True, reason=reason, case=episode.id)

    def promote_precedent(
        self, one: CandidatePrecedent, known: Sequence[CandidatePrecedent], refused: str | None
    ) -> AuditEntry:
        """Make a precedent count for its genre, or log why it does not."""
        votes = supporters(one, known)
        payload = {
            "action": PROMOTE,
            "document": "",
            "id": one.id,
            "query": one.precedent.question,
            "patch": to_data(one.patch),
            "votes": to_data(votes),
        }
        names = ", ".join(repr(vote.name) for vote in votes[:VOTES])
        reason = f"{len(votes)} documents were asked nearly the same ({names}), others gain by it"
        return self.store.audit(
            payload, accepted=refused is None, reason=refused or reason, case=one.id
        )

    def lessons(self) -> tuple[Lesson, ...]:
        """Return the lessons that documents vote for, promoted or not."""
        promoted: dict[str, tuple[Lesson, str]] = {}
        refused: dict[str, int] = {}
        for entry in self._entries():
            name = str(entry.payload["id"])
            if entry.payload["action"] == PROMOTE and "lesson" in entry.payload:
                lesson = from_json(Lesson, canonical(entry.payload["lesson"]))
                if entry.accepted:
                    promoted[name] = lesson, entry.when
                else:
                    refused[name] = len(lesson.votes)
            elif entry.payload["action"] == REVERT and name in promoted:
                del promoted[name]
                refused[name] = _CLOSED  # nobody has to take the same lesson out twice
        cast = [
            (kept.genre, step, LessonVote(kept.document, kept.name, kept.query, kept.id, kept.when))
            for kept in (*self.kept(), *self._lifting())
            if kept.genre and (step := travelling(kept.patch)) is not None
        ]
        found = votes_of(cast)
        waiting = [
            replace(one, replayed=refused.get(name, 0))
            for name, one in found.items()
            if name not in promoted
        ]
        taught = [
            replace(lesson, votes=found[name].votes if name in found else lesson.votes, when=when)
            for name, (lesson, when) in promoted.items()
        ]
        return (*taught, *waiting)

    def _lifting(self) -> Iterator[PatchInForce]:
        """Yield patches that were refused because they solve nothing alone, but that help."""
        for entry in self._entries():
            own = entry.payload
            if own["action"] == APPLY and own.get("lifts") and not entry.accepted:
                patch = from_json(Patch, canonical(own["patch"]))
                about = str(own["query"]), entry.when, str(own["name"]), str(own["genre"])
                yield PatchInForce(str(own["id"]), patch, str(own["document"]), *about)

    def promote(self, replay: Replay) -> tuple[AuditEntry, ...]:
        """Promote the lessons that have enough votes and cost no solved query its evidence."""
        done = []
        for lesson in self.lessons():
            if not lesson.due:
                continue
            worse = tuple(replay(lesson.genre, lesson.step))
            payload = {
                "action": PROMOTE,
                "document": "",
                "id": lesson.id,
                "query": "",
                "patch": to_data(lesson.patch),
                "lesson": to_data(lesson),
            }
            names = ", ".join(repr(vote.name) for vote in lesson.votes)
            reason = f"{len(lesson.votes)} documents ask for it ({names}), no solved query is worse"
            if worse:
                reason = f"{len(worse)} solved queries lose their evidence, first {worse[0]!r}"
            accepted = not worse
            done.append(self.store.audit(payload, accepted=accepted, reason=reason, case=lesson.id))
        return tuple(done)

    def note_feedback(self, feedback: Feedback, document: DocumentIndex) -> Noted:
        """Log what a person says; steps are patches in force from now on."""
        episode = Episode(document.document.id, feedback.query, feedback.good, feedback.bad)
        case = Episode(text_hash(document), feedback.query).id
        payload = {**self._about(document, episode), "action": FEEDBACK, "id": case}
        payload["feedback"] = to_data(feedback)
        reason = "a person said so"
        self.store.audit(payload, accepted=True, reason=reason, case=episode.id)
        patches, refused = [], []
        state = State("")
        for patch in step_patches(feedback):
            against = objection(patch, state, document, budget=RefineBudget())
            payload = {
                **self._about(document, episode),
                "action": APPLY,
                "id": patch.id,
                "patch": to_data(patch),
                "said": patch.licence.reference,
                "effect": classify(patch).value,
            }
            self.store.audit(
                payload, accepted=against is None, reason=against or reason, case=episode.id
            )
            if against is None:
                patches.append(patch)
            else:
                refused.append(against)
        ids = tuple(patch.id for patch in patches)
        return Noted(document.document.id, case, feedback, tuple(patches), tuple(refused), ids)

    def feedback(self, document: str | None = None) -> tuple[Episode, ...]:
        """Return what people said of hits, as episodes of one text or of all; targets are names."""
        said: dict[tuple[str, str, str], list[Feedback]] = {}
        for entry in self._entries():
            own = entry.payload
            if own["action"] == FEEDBACK and document in (None, own["document"]):
                place = str(own["document"]), str(own["name"]), str(own["query"])
                given = from_json(Feedback, canonical(own["feedback"]))
                said.setdefault(place, []).append(given)
        return tuple(
            Episode(name, query, *merged(given)) for (_, name, query), given in said.items()
        )

    def episodes(self, document: str) -> tuple[Episode, ...]:
        """Return the queries that a patch of a text must not harm: solved ones and feedback."""
        found = {episode.query: episode for episode in self.solved(document)}
        found |= {one.query: replace(one, target=document) for one in self.feedback(document)}
        return tuple(found.values())

    def solved(self, document: str) -> tuple[Episode, ...]:
        """Return the queries that refinement has left solved: the controls of what comes next."""
        found: dict[str, Episode] = {}
        for entry in self._entries():
            if entry.payload["action"] == SOLVED and entry.payload["document"] == document:
                gold, bad = (tuple(entry.payload.get(name, ())) for name in ("gold", "bad"))
                episode = Episode(document, str(entry.payload["query"]), gold, bad)
                found[episode.id] = episode
        return tuple(found.values())

    def documents(self) -> tuple[tuple[str, str], ...]:
        """Return the id and the text's hash of every document with a query that must not get worse.

        Refinement has solved it, or somebody said what its evidence is.
        """
        found = {
            (str(entry.payload["name"]), str(entry.payload["document"])): None
            for entry in self._entries()
            if entry.payload["action"] in (SOLVED, FEEDBACK)
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
        """Revert a patch; the state is then as if it had never been accepted.

        Raises:
            PolicyError: No such patch is in force, or the beginning of its id fits several.
        """
        taught = [
            PatchInForce(one.id, one.patch, "", "", one.when) for one in self.lessons() if one.when
        ]
        taught += [PatchInForce(o.id, o.patch, "", "", o.when) for o in self.precedents() if o.when]
        fitting = [kept for kept in (*self.kept(), *taught) if kept.id.startswith(patch_id)]
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
            "lifts": verdict.lifts,
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
            "bad": list(episode.bad),
            "genre": document.genre.value,
        }
