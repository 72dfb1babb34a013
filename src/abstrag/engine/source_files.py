"""The files a run is about: which there are, what each is called, and a hash of what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.backgrounds.schema import is_compiled
from abstrag.config import MAX_FILE_BYTES
from abstrag.documents.assemble import document_id
from abstrag.documents.latex_input import LATEX, sources
from abstrag.documents.load import load, read_file
from abstrag.stores.location import is_store

_JSON_HEAD: Final = 64
_BLANK: Final = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # byte order marks among them


def own_id(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Return what a document calls itself: by its file's name, or inside JSON as it says."""
    with path.open("rb") as file:
        start = file.read(_JSON_HEAD)
    if start.lstrip(_BLANK).startswith(b"{"):
        return load(path, max_bytes=max_bytes).id
    return document_id(path.name)


def source_hash(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Hash what a document is read from; for LaTeX that is more than one file."""
    digest = sha256(read_file(path, max_bytes))
    if path.suffix.lower() in LATEX:
        for part in sources(path):
            digest.update(str(part.relative_to(path.parent)).encode() + part.read_bytes())
    return digest.hexdigest()


def listed(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Go through the files to index, once each, with whether one counts as part of another.

    A file that is named is no part, wherever among the paths its folder stands.
    """
    named = {path.resolve() for path in paths if not path.is_dir()}
    seen: set[Path] = set()
    for path in paths:
        for file in sorted(_files(path)):
            source = file.resolve()
            if source not in seen:
                seen.add(source)
                yield file, source not in named and _is_part(file)


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for child in path.rglob("*"):
        hidden = any(part.startswith(".") for part in child.relative_to(path).parts)
        if child.is_file() and not hidden and not (_belongs_to_store(child) or is_compiled(child)):
            yield child


def _belongs_to_store(path: Path) -> bool:
    """True for a store, and for the two files SQLite keeps beside one."""
    name = path.name.removesuffix("-wal").removesuffix("-shm")
    return is_store(path.with_name(name))


def _is_part(path: Path) -> bool:
    """True for a LaTeX file without a document class: as a rule some other file pulls it in."""
    if path.suffix.lower() not in LATEX:
        return False
    return b"\\documentclass" not in path.read_bytes()
