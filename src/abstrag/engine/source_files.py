"""The files a run is about: which there are, what is to be done with each, what became of it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from abstrag.backgrounds.compiled import is_compiled
from abstrag.config import MAX_FILE_BYTES
from abstrag.documents.assemble import document_id
from abstrag.documents.latex_source import LATEX, sources
from abstrag.documents.load import load, read_file
from abstrag.errors import AbstragError, DocumentError, InputError, TooCostly
from abstrag.model.record import from_json, record, to_json
from abstrag.stores.location import is_store
from abstrag.whole_file import write_whole

_JSON_HEAD: Final = 64
_BLANK: Final = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # byte order marks among them


def own_id(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Return what a document calls itself: by its file's name, or inside JSON as it says."""
    start = read_file(path, max_bytes)[:_JSON_HEAD]
    if start.lstrip(_BLANK).startswith(b"{"):
        return load(path, max_bytes=max_bytes).id
    return document_id(path.name)


def source_hash(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Hash what a document is read from; for LaTeX that is more than one file."""
    digest = sha256(read_file(path, max_bytes))
    if path.suffix.lower() in LATEX:
        for part in sources(path):
            name = str(part.relative_to(path.parent)).encode("utf-8", "surrogateescape")
            digest.update(name + read_file(part, max_bytes))
    return digest.hexdigest()


def listed(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Go through the files to index, once each, with whether one counts as part of another.

    A file that is named is no part, wherever among the paths its folder stands.
    """
    named = {_resolved(path) for path in paths if not is_folder(path)}
    seen: set[str] = set()
    for path in paths:
        for file in sorted(_files(path)):
            source = _resolved(file)
            if source not in seen:
                seen.add(source)
                yield file, source not in named and _is_part(file)


def is_folder(path: Path) -> bool:
    """True for a folder; a name that no file can have is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_regular(path: Path) -> bool:
    """True for a file that can be read from beginning to end."""
    try:
        return path.is_file()
    except OSError:
        return False


def place_of(path: Path) -> str:
    """Return what the store knows a file by: where it really lies.

    Raises:
        DocumentError: Links lead in a circle, or no file can be called so.
    """
    try:
        return str(path.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise DocumentError(
            f"{str(path)!r} leads nowhere: {error}", hint="check the path and its links"
        ) from None


def _resolved(path: Path) -> str:
    """Return where a file lies, or its name where that is nowhere; reading it says why."""
    try:
        return place_of(path)
    except DocumentError:
        return str(path)


def _files(path: Path) -> Iterator[Path]:
    """Go through a folder; what cannot be read is among the files, so that it is told of."""
    if not is_folder(path):
        yield path
        return
    unreadable: list[Path] = []

    def note(error: OSError) -> None:
        unreadable.append(Path(error.filename))

    for folder, below, names in os.walk(path, onerror=note):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in names:
            child = Path(folder, name)
            if not (name.startswith(".") or _belongs_to_store(child) or is_compiled(child)):
                yield child
    yield from unreadable


def _belongs_to_store(path: Path) -> bool:
    """True for a store, and for the two files SQLite keeps beside one."""
    name = path.name.removesuffix("-wal").removesuffix("-shm")
    return is_store(path.with_name(name))


def _is_part(path: Path) -> bool:
    """True for a LaTeX file without a document class: as a rule some other file pulls it in."""
    if path.suffix.lower() not in LATEX:
        return False
    try:
        return b"\\documentclass" not in read_file(path)
    except DocumentError:  # said when it is read
        return False


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
class DuplicateFile:
    """A file with the bytes of one that is due in the same run."""

    path: str  # as it was given
    place: str  # the same from any folder
    first: DueFile


def attempt(
    path: str, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result | IndexOutcome:
    """Return what work on a file gives, or its failure as an outcome.

    An error that nobody foresaw must not end a long run either; its exit code is 1.
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
