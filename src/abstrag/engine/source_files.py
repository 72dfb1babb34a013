"""The files a run is about: which there are, what is to be done with each, what became of it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from abstrag.backgrounds.compiled import is_compiled
from abstrag.config import MAX_FILE_BYTES
from abstrag.documents.assemble import document_id
from abstrag.documents.latex_source import LATEX, sources
from abstrag.documents.load import load, read_file
from abstrag.errors import AbstragError, DocumentError
from abstrag.files import is_folder
from abstrag.model.record import record
from abstrag.stores.sqlite import is_store

_JSON_HEAD: Final = 64
_BLANK: Final = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # byte order marks among them


def own_id(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Return a document's own id: from its file's name, or as its JSON states it."""
    start = read_file(path, max_bytes)[:_JSON_HEAD]
    if start.lstrip(_BLANK).startswith(b"{"):
        return load(path, max_bytes=max_bytes).id
    return document_id(path.name)


def source_hash(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Hash all files that a document is read from; for LaTeX there may be several."""
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
    """Return the resolved path of a file, or its name if it has none; reading it then fails."""
    try:
        return place_of(path)
    except DocumentError:
        return str(path)


def _files(path: Path) -> Iterator[Path]:
    """Yield the files of a folder, unreadable folders included, so that they are reported."""
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
    """True for a LaTeX file without a document class, which another file usually inputs."""
    if path.suffix.lower() not in LATEX:
        return False
    try:
        return b"\\documentclass" not in read_file(path)
    except DocumentError:  # said when it is read
        return False


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
    """Return the outcome of a file that failed with one of our errors."""
    return IndexOutcome(path, "failed", None, 0, 0, 0, str(error), error.hint, error.exit_code)
