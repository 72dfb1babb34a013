"""All writes of the policy store to the disk, one step at a time.

A process may be killed between any two steps. `DurableFiles.point` is called at each of them, so
that a test can stop there; what it finds then must be a store that opens and has lost nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from abstrag.errors import PolicyError
from abstrag.files import file_locked


def _nothing(_where: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class DurableFiles:
    """Writing that survives a crash; call it only under `locked`."""

    point: Callable[[str], None] = _nothing
    sync: Callable[[int], None] = os.fsync  # makes a file's bytes outlive a power cut

    def write(self, path: Path, content: bytes) -> None:
        """Write a file as a whole: readers see the old or the new content."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.draft(path, content)
        draft.replace(path)
        self.point(f"{path.name} renamed")
        self._sync_folder(path.parent)

    def draft(self, path: Path, content: bytes) -> Path:
        """Write the content beside the path it is meant for, safe on the disk."""
        made = path.with_name(f".{path.name}.draft")
        self.point(f"{path.name} before its draft")
        # a crash may have left it as a second name of the file itself: never write into it
        made.unlink(missing_ok=True)
        with made.open("wb") as file:
            file.write(content)
            file.flush()
            self.sync(file.fileno())
        self.point(f"{path.name} drafted")
        return made

    def append(self, path: Path, line: bytes) -> None:
        """Add a line to the end of a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.point(f"{path.name} before a line")
        with path.open("ab", buffering=0) as file:
            file.write(line)
            self.sync(file.fileno())
        self.point(f"{path.name} has a line")

    def cut(self, path: Path, size: int) -> None:
        """Drop what stands behind the first `size` bytes: a line that was never finished."""
        self.point(f"{path.name} before the cut")
        os.truncate(path, size)
        self.point(f"{path.name} cut")

    def remove(self, path: Path) -> None:
        """Remove a file, if it is there."""
        self.point(f"{path.name} before its removal")
        path.unlink(missing_ok=True)
        self.point(f"{path.name} removed")

    def move(self, source: Path, target: Path) -> bool:
        """Rename a file, over another one if need be; False when it is not there."""
        target.parent.mkdir(parents=True, exist_ok=True)
        self.point(f"{source.name} before its move")
        try:
            source.replace(target)
        except FileNotFoundError:
            return False
        self.point(f"{source.name} moved")
        return True

    def place(self, source: Path, target: Path) -> bool:
        """Give a file a second name, unless that name is taken: then False, and nothing changes."""
        self.point(f"{target.name} before it is placed")
        try:
            os.link(source, target)
        except FileExistsError:
            return False
        except OSError as error:
            raise PolicyError(
                f"{str(target)!r} cannot be written: {error.strerror}",
                hint="the policy folder needs a file system with hard links",
            ) from error
        self.point(f"{target.name} placed")
        self._sync_folder(target.parent)
        return True

    def _sync_folder(self, folder: Path) -> None:
        # a rename is only safe once its folder is; some file systems refuse to sync one
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                self.sync(handle)
            finally:
                os.close(handle)


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the store's advisory lock, which the system releases when the process dies."""
    with ExitStack() as held:
        try:
            root.mkdir(parents=True, exist_ok=True)
            held.enter_context(file_locked(root / ".lock"))
        except OSError as error:
            raise PolicyError(
                f"the policy folder {str(root)!r} cannot be written: {error}"
            ) from error
        yield
