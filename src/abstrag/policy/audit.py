"""The audit log: one line for everything that was tried, accepted or not, in one schema.

Each entry holds the hash of the one before it, and a small file beside the log holds the last one
and the count. So a line that was edited, moved or taken out is noticed, and so is a log that was
cut short. A line that a crash left unfinished was never acknowledged, and is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from abstrag.errors import InputError, PolicyError
from abstrag.model.record import from_json, record, to_data, to_json
from abstrag.policy.files import DurableFiles
from abstrag.policy.load import canonical, content_hash
from abstrag.policy.location import LOG_NAME


class EntryKind(StrEnum):
    """What an entry is about."""

    PROMPT_EDIT = "prompt_edit"  # proposed for one case, which thereby votes for it
    REPLAY = "replay"  # an eligible edit made a solved case worse
    PROMOTION = "promotion"
    CONFLICT = "conflict"
    REVERT = "revert"
    PATCH = "patch"  # any other patch of refinement


class Validation(StrEnum):
    """Whether what was proposed was taken."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class PromotionStatus(StrEnum):
    """How far a prompt edit has come with this entry."""

    NONE = "none"
    CANDIDATE = "candidate"
    ELIGIBLE = "eligible"
    PROMOTED = "promoted"
    CONFLICT = "conflict"
    REGRESSION = "regression"
    REVERTED = "reverted"


@record
class AuditEntry:
    """One thing that was tried."""

    kind: EntryKind
    family: str
    payload: Mapping[str, Any]
    validation_status: Validation
    promotion_status: PromotionStatus
    reason: str
    case: str
    when: str  # ISO time, UTC
    previous: str = ""
    hash: str = ""

    @property
    def accepted(self) -> bool:
        """True when what was proposed was taken."""
        return self.validation_status is Validation.ACCEPTED


@record
class Head:
    """How long the log is, and what its last entry is."""

    count: int
    hash: str


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The log file and its head."""

    root: Path
    files: DurableFiles

    @property
    def path(self) -> Path:
        """The file of entries, one a line."""
        return self.root / LOG_NAME

    @property
    def head_path(self) -> Path:
        """The file that says where the log ends."""
        return self.root / "log.head.json"

    def entries(self) -> tuple[AuditEntry, ...]:
        """Read the log, without a lock.

        Raises:
            PolicyError: An entry was changed, moved or taken out.
        """
        head = self._head()  # before the log: it may grow in between, and never shrinks
        made: list[AuditEntry] = []
        for number, text in enumerate(self._finished().splitlines(), 1):
            entry = self._entry(text, number)
            if entry.previous != (made[-1].hash if made else ""):
                raise PolicyError(
                    f"{str(self.path)!r} was changed before line {number}", hint=_HINT
                )
            made.append(entry)
        if head.count > len(made):
            raise PolicyError(
                f"{str(self.path)!r} has {len(made)} entries and had {head.count}", hint=_HINT
            )
        if head.count and made[head.count - 1].hash != head.hash:
            raise PolicyError(f"{str(self.path)!r} was written anew", hint=_HINT)
        return tuple(made)

    def append(self, entry: AuditEntry) -> AuditEntry:
        """Add an entry, chained to the last one; call it under the lock."""
        self._settle()
        count, last = self._end()
        linked = _as_read(replace(entry, previous=last, hash=""))
        made = replace(linked, hash=_hash(linked))
        self.files.append(self.path, to_json(made).encode() + b"\n")
        self.files.write(self.head_path, to_json(Head(count + 1, made.hash)).encode() + b"\n")
        return made

    def _end(self) -> tuple[int, str]:
        """Return the number of entries and the last hash; reads all only if the head is wrong."""
        lines = self._finished().splitlines()
        head = self._head()
        if len(lines) == head.count and (
            not lines or self._entry(lines[-1], head.count).hash == head.hash
        ):
            return head.count, head.hash
        entries = self.entries()  # a crash left the head one behind, or somebody changed the log
        return len(entries), entries[-1].hash if entries else ""

    def _settle(self) -> None:
        """Complete or drop a last line that a crash left unfinished."""
        text = self._text()
        end = text.rfind(b"\n") + 1
        if end == len(text):
            return
        try:
            self._entry(text[end:], 0)
        except PolicyError:
            self.files.cut(self.path, end)
        else:
            self.files.append(self.path, b"\n")

    def _entry(self, text: bytes, number: int) -> AuditEntry:
        try:
            return _parsed(text)
        except InputError as error:
            raise PolicyError(
                f"line {number} of {str(self.path)!r}: {error}", hint=_HINT
            ) from error

    def _head(self) -> Head:
        try:
            return from_json(Head, self.head_path.read_bytes())
        except FileNotFoundError:
            return Head(0, "")
        except InputError as error:
            raise PolicyError(f"{str(self.head_path)!r} is broken", hint=_HINT) from error

    def _text(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def _finished(self) -> bytes:
        text = self._text()
        return text[: text.rfind(b"\n") + 1]


_HINT: Final = "restore the policy folder from a copy, or start a new one; programs still load"


@lru_cache(maxsize=16_384)
def _parsed(text: bytes) -> AuditEntry:
    """Read one entry and verify its hash; cached, because a line never changes."""
    entry = from_json(AuditEntry, text)
    if entry.hash != _hash(entry):
        raise InputError("the entry was changed")
    return entry


def _as_read(entry: AuditEntry) -> AuditEntry:
    """Return an entry as it will be read back.

    A payload may hold what JSON does not: a number that is not finite, half of a surrogate pair
    from a model's reply. It must hash today as it will hash tomorrow.
    """
    payload, reason = json.loads(canonical([dict(entry.payload), entry.reason]))
    return from_json(AuditEntry, to_json(replace(entry, payload=payload, reason=reason)))


def _hash(entry: AuditEntry) -> str:
    return content_hash(canonical({**to_data(entry), "hash": ""}))
