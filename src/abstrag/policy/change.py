"""Changes of program files: backed up when accepted, written when the file allows it.

The order of steps is what makes it safe. Both versions of the file are saved first; then the
backup says what is going to happen; then the file is exchanged; then the log is told; then the
backup goes. A process that dies anywhere leaves either no backup, and nothing has happened, or a
backup, and `land` can be called again: it looks at the file and does only what is still to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abstrag.errors import InputError, PolicyError
from abstrag.llm.prompt import Program
from abstrag.model.patch import PromptEdit
from abstrag.model.record import from_json, record, to_json
from abstrag.policy.audit import EntryKind
from abstrag.policy.files import DurableFiles
from abstrag.policy.load import MainFile, base_hash, baseline, compose, content_hash
from abstrag.policy.location import MUTABLE, family_folder

# `conflict.json`: edits that could not be made because a person had changed the file.
#
# The person's file stays as it is. Each entry says what was wanted, so that it can be written in
# by hand; deleting the file, or an entry of it, is all it takes to decline.

CONFLICT_NAME: Final = "conflict.json"


@record
class Conflict:
    """An edit of another version of the file than the current one."""

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
        """Remove an edit that was made after all."""
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


@record
class PolicyChange:
    """An accepted change: the contents before and after, and its author."""

    id: str
    kind: EntryKind  # promotion or revert
    family: str
    program: str
    candidate: str
    edit: PromptEdit
    cases: tuple[str, ...]
    base_hash: str  # the program before, and
    program_hash: str  # after
    before: str | None  # hash of the file before, None where there was none, and
    after: str | None


@dataclass(frozen=True, slots=True)
class ProgramFamily:
    """The program files of one family."""

    root: Path
    name: str
    files: DurableFiles

    @property
    def folder(self) -> Path:
        """Where they stand; nothing is ever written elsewhere."""
        return family_folder(self.root, self.name)

    def main(self, stage: str) -> MainFile:
        """Return the file of a program."""
        return MainFile(self.folder, stage)

    def program(self, stage: str, content: bytes | None) -> Program:
        """Return the program that results if the family's file held this content."""
        layers = baseline(stage, self.root)
        if content is not None:
            layers.append((str(self.main(stage).path), content))
        return compose(stage, layers)

    def keep(self, stage: str, content: bytes | None) -> str | None:
        """Save a version of a file for good, and return its hash."""
        if content is None:
            return None
        name = content_hash(content)
        if not (path := self.main(stage).saved(name)).exists():
            self.files.write(path, content)
        return name

    def kept(self, stage: str, name: str | None) -> bytes | None:
        """Return a version that was saved.

        Raises:
            PolicyError: It is gone, or not what it was.
        """
        if name is None:
            return None
        path = self.main(stage).saved(name)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PolicyError(f"the backup {str(path)!r} cannot be read: {error}") from error
        if content_hash(content) != name:
            raise PolicyError(f"the backup {str(path)!r} was changed")
        return content

    def pending(self) -> tuple[PolicyChange, ...]:
        """Return the changes that were accepted and are not complete."""
        paths = [path for stage in MUTABLE if (path := self.main(stage).pending).exists()]
        return tuple(_read(path) for path in paths)

    def accept(self, change: PolicyChange) -> None:
        """Write the backup; from then on the change is either written or becomes a conflict."""
        self.files.write(self.main(change.program).pending, to_json(change, indent=2).encode())

    def land(self, change: PolicyChange) -> str | None:
        """Write the new content, or return why not if a person has changed the file.

        It may be called again after a crash at any point.
        """
        file = self.main(change.program)
        before, after = (self.kept(change.program, name) for name in (change.before, change.after))
        if before is not None:
            file.restore(self.files)
        found = file.read()
        if found == after:
            return None
        if found != before:
            return "the file was edited by hand"
        if base_hash(self.program(change.program, found)) != change.base_hash:
            return "the baseline under it has changed"
        if not file.replace(self.files, before, after):
            return "the file was edited by hand at that moment"
        return None

    def finish(self, change: PolicyChange) -> None:
        """Drop the backup."""
        self.files.remove(self.main(change.program).pending)


def _read(path: Path) -> PolicyChange:
    try:
        return from_json(PolicyChange, path.read_bytes())
    except InputError as error:
        raise PolicyError(
            f"the backup {str(path)!r} is broken: {error}",
            hint="delete it; it has not taken effect",
        ) from error
