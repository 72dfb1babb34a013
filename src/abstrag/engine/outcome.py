"""What is to be done about a file and what became of it; files set aside for what they cost."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import ParamSpec, TypeVar

from abstrag.errors import AbstragError, InputError, TooCostly
from abstrag.model.record import from_json, record, to_json
from abstrag.whole_file import write_whole

# Files that cost more than a document may: set aside with the reason, and not tried again.
#
# An entry belongs to the content of a file, so that it holds under any name and ends when the
# file changes. Each is a small file of its own beside the store, written whole or not at all:
# limits are those of a machine, and so is what they caught.

_RETRY = "abstrag index --retry FILE tries it again; docs/limits.md tells how to raise the limits"


@record
class SetAside:
    """A file that is not tried again: what it holds, where it was, why and since when."""

    content: str  # the hash of what the document is read from
    path: str
    reason: str
    since: str  # UTC, ISO 8601, whole seconds

    def error(self) -> TooCostly:
        """Return what is said of the file from now on."""
        name = Path(self.path).name
        return TooCostly(f"{name!r} was set aside on {self.since[:10]}: {self.reason}", hint=_RETRY)


class Quarantine:
    """Keeps what was set aside in a folder; without one, in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._in_memory: dict[str, SetAside] = {}

    def find(self, content: str) -> SetAside | None:
        """Return why a content is not tried; None when it may be."""
        if self._folder is None:
            return self._in_memory.get(content)
        try:
            return from_json(SetAside, self._path(self._folder, content).read_bytes())
        except (OSError, InputError):  # one that cannot be read holds nobody back
            return None

    def add(self, content: str, path: str, reason: str) -> SetAside:
        """Set a file aside."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = SetAside(content, path, reason, since)
        if self._folder is None:
            self._in_memory[content] = entry
            return entry
        write_whole(self._path(self._folder, content), to_json(entry, indent=1))
        return entry

    def release(self, content: str) -> None:
        """Let a content be tried again."""
        if self._folder is None:
            self._in_memory.pop(content, None)
        else:
            self._path(self._folder, content).unlink(missing_ok=True)

    def entries(self) -> tuple[SetAside, ...]:
        """Return everything that is set aside, by path."""
        if self._folder is None:
            found = list(self._in_memory.values())
        else:
            names = [path.stem for path in self._folder.glob("*.json")]
            found = [entry for name in names if (entry := self.find(name)) is not None]
        return tuple(sorted(found, key=lambda entry: (entry.path, entry.content)))

    @staticmethod
    def _path(folder: Path, content: str) -> Path:
        return folder / f"{content}.json"


Given = ParamSpec("Given")
Result = TypeVar("Result")


class IndexReason(StrEnum):
    """Why a file is indexed."""

    NEW = "new"  # the store has nothing of it
    CHANGED = "changed"  # it holds other bytes than the store has read
    AGAIN = "again"  # the same bytes, understood by another release, Background, setting or model


@record
class IndexOutcome:
    """What became of one path: indexed, unchanged, same, skipped or failed, and why.

    `same` is a file whose bytes the store has from another path: the document is that one.
    """

    path: str
    status: str
    document: str | None = None  # what the store has of it; of a file that failed, from before
    segments: int = 0
    terms: int = 0
    edges: int = 0
    error: str | None = None
    hint: str | None = None
    exit_code: int = 0
    without: dict[str, int] = field(default_factory=dict)  # segments that lack a model's answer
    replaces: str | None = None  # the document that the store had of the file until now
    why: IndexReason | None = None  # of a file that was indexed
    same_as: str | None = None  # the path that the same bytes were read from
    language: str = "en"  # of a file that was indexed; another one than English is not read


@record
class DueFile:
    """A file that is due: what its document will be called, and a hash of what it holds."""

    path: str  # as it was given
    place: str  # the same from any folder
    name: str
    content: str
    replaces: str | None = None  # what the store has of it so far
    why: IndexReason = IndexReason.NEW

    @property
    def source(self) -> str:
        """What the store knows the file by."""
        return str(Path(self.place).resolve())


@record
class Twin:
    """A file with the bytes of one that is due in the same run."""

    path: str  # as it was given
    place: str  # the same from any folder
    first: DueFile


def attempt(
    path: str, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result | IndexOutcome:
    """Return what work on a file gives, or its failure as an outcome.

    A file that nobody foresaw must not end a night's run either; its exit code is 1.
    """
    try:
        return work(*args, **kwargs)
    except AbstragError as error:
        return failed(path, error)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        why = f"an error nobody foresaw: {type(error).__name__}: {error} ({where})"
        return IndexOutcome(
            path, "failed", None, 0, 0, 0, why, "please report it, with the file", 1
        )


def failed(path: str, error: AbstragError) -> IndexOutcome:
    """Return the outcome of a file that an error of ours is about."""
    return IndexOutcome(path, "failed", None, 0, 0, 0, str(error), error.hint, error.exit_code)
