"""A program file that people edit too: read whole, and replaced only if it is what we think it is.

A person's editor knows nothing of our lock, and there is no rename that looks first. So the file
is moved aside, looked at, and its successor put in place only where the name is still free. Whoever
saves in between, before or after, keeps the name; nothing they wrote is ever overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from abstrag.policy.files import DurableFiles
from abstrag.policy.location import BACKUP


@dataclass(frozen=True, slots=True)
class MainFile:
    """The file of one program in one family."""

    folder: Path
    stage: str

    @property
    def path(self) -> Path:
        """Where the program stands."""
        return self.folder / f"{self.stage}.json"

    @property
    def pending(self) -> Path:
        """The backup of a change that was accepted and has not landed yet."""
        return self.folder / BACKUP / f"{self.stage}.pending.json"

    @property
    def aside(self) -> Path:
        """Where the file is while it is replaced."""
        return self.folder / BACKUP / f"{self.stage}.aside.json"

    def saved(self, content_hash: str) -> Path:
        """Where a version of the file is kept for good."""
        return self.folder / BACKUP / f"{self.stage}.{content_hash}.json"

    def read(self) -> bytes | None:
        """Return what the file holds, without a lock; None when there is none."""
        found = _bytes(self.path)
        if found is None and self.pending.exists():
            found = _bytes(self.aside)  # it is being replaced at this moment
        if found is None:
            found = _bytes(self.path)  # or it has just been
        return found

    def restore(self, files: DurableFiles) -> None:
        """Put back what a crash left aside."""
        if self.aside.exists():
            files.place(self.aside, self.path)
            files.remove(self.aside)

    def replace(self, files: DurableFiles, expected: bytes | None, new: bytes | None) -> bool:
        """Exchange the expected content for the new one; None stands for no file.

        False means that somebody else's content was there, and still is.
        """
        draft = None if new is None else files.draft(self.path, new)
        done = self._vacate(files, expected) and self._occupy(files, draft)
        for leftover in (draft, self.aside):
            if leftover is not None:
                files.remove(leftover)
        return done

    def _vacate(self, files: DurableFiles, expected: bytes | None) -> bool:
        if expected is None:
            return True
        # from here until the name is taken again there is nothing to slow us down
        if not files.move(self.path, self.aside):
            return False
        if _bytes(self.aside) != expected:
            self.restore(files)
            return False
        return True

    def _occupy(self, files: DurableFiles, draft: Path | None) -> bool:
        return not self.path.exists() if draft is None else files.place(draft, self.path)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
