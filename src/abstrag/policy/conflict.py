"""`conflict.json`: edits that could not be made because a person had changed the file.

The person's file stays as it is. Each entry says what was wanted, so that it can be written in by
hand; deleting the file, or an entry of it, is all it takes to decline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abstrag.errors import InputError, PolicyError
from abstrag.model.patch import PromptEdit
from abstrag.model.record import from_json, record, to_json
from abstrag.policy.files import DurableFiles

CONFLICT_NAME: Final = "conflict.json"


@record
class Conflict:
    """An edit that was forked from another file than the one that is there."""

    candidate: str
    edit: PromptEdit
    cases: tuple[str, ...]
    base_hash: str  # the program the edit was forked from
    found_hash: str  # the program that was found
    reason: str
    when: str


@record
class Conflicts:
    """What the conflict file of a family holds."""

    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class ConflictFile:
    """The conflict file of one family."""

    folder: Path
    files: DurableFiles

    @property
    def path(self) -> Path:
        """Where it stands."""
        return self.folder / CONFLICT_NAME

    def read(self) -> tuple[Conflict, ...]:
        """Return what is in conflict; nothing when there is no file."""
        try:
            return from_json(Conflicts, self.path.read_bytes()).conflicts
        except FileNotFoundError:
            return ()
        except InputError as error:
            raise PolicyError(
                f"{str(self.path)!r} cannot be read: {error}", hint="mend it, or delete it"
            ) from error

    def add(self, conflict: Conflict) -> None:
        """Note a conflict; an earlier one of the same edit gives way to it."""
        self._write((*self._others(conflict.candidate), conflict))

    def settle(self, candidate: str) -> None:
        """Strike out an edit that was made after all."""
        if len(others := self._others(candidate)) < len(self.read()):
            self._write(others)

    def _others(self, candidate: str) -> tuple[Conflict, ...]:
        return tuple(one for one in self.read() if one.candidate != candidate)

    def _write(self, conflicts: tuple[Conflict, ...]) -> None:
        if conflicts:
            text = to_json(Conflicts(conflicts), indent=2) + "\n"
            self.files.write(self.path, text.encode())
        else:
            self.files.remove(self.path)
