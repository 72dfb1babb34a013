"""The files a run is about: which there are, what each is called, and a hash of what it holds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.backgrounds.compiled import is_compiled
from abstrag.config import MAX_FILE_BYTES
from abstrag.documents.assemble import document_id
from abstrag.documents.latex_source import LATEX, sources
from abstrag.documents.load import load, read_file
from abstrag.errors import DocumentError
from abstrag.stores.location import is_store

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
