"""A disk under plain files that fails when it is told to, and forgets what was not synced.

Every write, sync, rename, link, truncation and deletion below a folder is counted while the disk is
in place. The n-th fails, or the power is cut there: then files have what was last synced of them,
and renames whose folder was not synced may be undone.
"""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.faults.sqlite_disk import Fault

_CUTS = (Fault.CUT, Fault.TORN)


class PowerCut(BaseException):
    """The machine stopped here; no code of ours runs after it."""


@dataclass
class PlainDisk:
    """Counts calls below a folder and decides which of them fails."""

    folder: Path
    fault: Fault = Fault.ONCE
    at: int | None = None
    calls: int = 0
    down: bool = False
    synced: dict[Path, bytes | None] = field(default_factory=dict)  # content to go back to
    open_files: dict[int, Path] = field(default_factory=dict)
    renamed: list[tuple[Path, Path, bytes | None]] = field(default_factory=list)

    @property
    def struck(self) -> bool:
        """True when the fault has happened."""
        return self.at is not None and self.calls >= self.at

    def step(self, path: object) -> bool:
        """Count a call on a path, or fail it; False for a path that is none of ours."""
        try:
            ours = Path(os.fsdecode(path)).resolve().is_relative_to(self.folder)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False
        if not ours:
            return False
        if self.down and self.fault in _CUTS:
            raise PowerCut
        self.calls += 1
        if self.calls == self.at:
            self.down = self.fault is not Fault.ONCE
            if self.fault in _CUTS:
                raise PowerCut
            raise self._error(path)
        if self.down:
            raise self._error(path)
        return True

    def _error(self, path: object) -> OSError:
        number = errno.ENOSPC if self.fault is Fault.FULL else errno.EIO
        return OSError(number, os.strerror(number), os.fsdecode(path))  # type: ignore[arg-type]

    def forget_unsynced(self) -> None:
        """Leave what a power cut leaves."""
        if self.fault not in _CUTS or not self.struck:
            return
        if self.fault is Fault.CUT:  # torn: the folder reached the disk, the bytes did not
            for source, target, held in reversed(self.renamed):
                if target.exists():
                    target.replace(source)
                if held is not None:
                    target.write_bytes(held)
        for path, content in self.synced.items():
            if path.exists():
                path.write_bytes(content or b"")


class _Written:
    """A file opened for writing, whose writes are counted."""

    def __init__(self, file: Any, disk: PlainDisk, path: Path) -> None:
        self._file, self._disk, self._path = file, disk, path
        disk.open_files[file.fileno()] = path

    def write(self, data: Any) -> Any:
        if self._disk.step(self._path):
            return self._file.write(data)
        raise AssertionError("a file of the folder is on the disk")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "_Written":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Any:
        return iter(self._file)


def _path_of(handle: int) -> Path:
    return Path(f"/proc/self/fd/{handle}").readlink()


@contextmanager
def plain_files_on(disk: PlainDisk) -> Iterator[PlainDisk]:  # noqa: C901 - one small function for each call
    """Let what is done to files below the disk's folder in a block go through it."""
    usual_open = io.open
    usual = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "link", "unlink")}

    def opened(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if not set(mode) & set("wax+") or not isinstance(file, str | Path):
            return usual_open(file, mode, *rest, **more)
        held = Path(file).read_bytes() if Path(file).is_file() else None
        made = usual_open(file, mode, *rest, **more)
        path = _path_of(made.fileno())  # a temporary file is opened by the name of its folder
        if not path.is_relative_to(disk.folder):
            return made
        disk.synced.setdefault(path, held)
        return _Written(made, disk, path)

    def fsync(handle: int) -> None:
        path = _path_of(handle)
        if disk.step(path):
            usual["fsync"](handle)
            if path.is_dir():
                disk.renamed = [r for r in disk.renamed if r[1].parent != path]
            else:
                disk.synced.pop(path, None)

    def moving(name: str) -> Callable[..., None]:
        def move(source: Any, target: Any, **more: Any) -> None:
            if disk.step(target):
                there = Path(target).resolve()
                held = there.read_bytes() if there.is_file() else None
                usual[name](source, target, **more)
                here = Path(source).resolve()
                if here in disk.synced:  # the bytes go with the name, synced or not
                    disk.synced[there] = disk.synced.pop(here)
                if name != "link":
                    disk.renamed.append((here, there, held))
                return
            usual[name](source, target, **more)

        return move

    def unlink(path: Any, **more: Any) -> None:
        disk.step(path)
        usual["unlink"](path, **more)
        disk.synced.pop(Path(path).resolve(), None)

    with (
        patch.object(io, "open", opened),
        patch.object(builtins, "open", opened),
        patch.object(os, "fsync", fsync),
        patch.object(os, "replace", moving("replace")),
        patch.object(os, "rename", moving("rename")),
        patch.object(os, "link", moving("link")),
        patch.object(os, "unlink", unlink),
    ):
        yield disk
