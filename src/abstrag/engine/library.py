"""A library: a store with a Background and settings, that turns paths and names into indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.config import MAX_FILE_BYTES, Settings
from abstrag.documents.load import load, read_file
from abstrag.errors import AbstragError, FileMissing, InputError, NotAFile, UnknownDocument
from abstrag.indexing.pipeline import OnStep, fingerprint, index
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.record import record
from abstrag.stores.location import is_store
from abstrag.stores.protocol import DocumentInfo, Store

_LATEX: Final = frozenset({".tex", ".ltx"})


@record
class Outcome:
    """What became of one path: indexed, unchanged, skipped or failed, and why."""

    path: str
    status: str
    document: str | None = None
    segments: int = 0
    terms: int = 0
    edges: int = 0
    error: str | None = None
    hint: str | None = None
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Library:
    """Indexes files into a store, once each, and opens what is there."""

    store: Store
    background: Background | None = None  # None: the one the document was indexed with, if any
    settings: Settings = field(default_factory=Settings)
    on_step: OnStep = lambda _name: None

    def index_file(self, path: Path) -> Outcome:
        """Index one file unless it, the Background and the operators are all unchanged."""
        source = str(path.resolve())
        known = self.store.find_source(source)
        background = self.background
        if background is None:
            background = self.store.background(known.id) if known else EMPTY
        limit = self.settings.max_file_bytes
        current = fingerprint(background, self.settings), source_hash(path, limit)
        if known is not None and (known.fingerprint, known.source_hash) == current:
            return _outcome(path, "unchanged", known)
        document = load(path, max_bytes=limit)
        document = replace(document, metadata=replace(document.metadata, source=source))
        made = self._keep(self._index(document, background), source, current[1])
        return _outcome(path, "indexed", self.store.find(made.document.id))

    def index_document(self, document: Document) -> DocumentIndex:
        """Index a document that came from no file, and keep it."""
        made = self._index(document, self.background or EMPTY)
        return self._keep(made, None, document.content_hash)

    def _keep(self, made: DocumentIndex, source: str | None, content: str) -> DocumentIndex:
        """Store an index and return it under the id it has there, so that hits name it right."""
        name = self.store.put(made, source_path=source, source_hash=content)
        if name != made.document.id:  # another document is called so
            made = replace(made, document=replace(made.document, id=name))
            self.store.put(made, source_path=source, source_hash=content)
        return made

    def _index(self, document: Document, background: Background) -> DocumentIndex:
        return index(
            document,
            background=background,
            settings=self.settings,
            cache=self.store,
            on_step=self.on_step,
        )

    def index_paths(
        self, paths: Sequence[Path], on_file: Callable[[Path], None] = lambda _path: None
    ) -> Iterator[Outcome]:
        """Index files and everything inside folders; a failure is an outcome, not the end."""
        for path in paths:
            for file in sorted(_files(path)):
                on_file(file)
                if path.is_dir() and _is_part(file):
                    yield Outcome(str(file), "skipped", error="part of another LaTeX document")
                    continue
                try:
                    yield self.index_file(file)
                except AbstragError as error:
                    yield Outcome(
                        str(file), "failed", None, 0, 0, 0, str(error), error.hint, error.exit_code
                    )

    def open(self, target: str) -> DocumentIndex:
        """Return the index of a file (indexed first when new or changed) or of a document id."""
        path = Path(target)
        if path.is_dir():
            raise NotAFile(
                f"{target!r} is a folder, and this command takes one document",
                hint=f"abstrag index {target}, then name one of its documents",
            )
        if path.is_file():
            if is_store(path):
                raise InputError(
                    f"{target!r} is a store of documents, and this command takes one document",
                    hint=f"abstrag store list --store {target}",
                )
            outcome = self.index_file(path)
            assert outcome.document is not None
            return self.store.get(outcome.document)
        try:
            return self.store.get(target)
        except UnknownDocument as error:
            if _looks_like_path(target):
                raise FileMissing(
                    f"no file at {target!r}, and no document of that name in the store",
                    hint=error.hint,
                ) from None
            raise


def source_hash(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Hash what a document is read from; for LaTeX that is every source file beside it."""
    digest = sha256(read_file(path, max_bytes))
    if path.suffix.lower() in _LATEX:
        for part in sorted(p for p in path.parent.rglob("*") if p.suffix.lower() in _LATEX):
            digest.update(str(part.relative_to(path.parent)).encode() + part.read_bytes())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for child in path.rglob("*"):
        hidden = any(part.startswith(".") for part in child.relative_to(path).parts)
        if child.is_file() and not hidden and not _belongs_to_store(child):
            yield child


def _belongs_to_store(path: Path) -> bool:
    """True for a store, and for the two files SQLite keeps beside one."""
    name = path.name.removesuffix("-wal").removesuffix("-shm")
    return is_store(path.with_name(name))


def _is_part(path: Path) -> bool:
    """True for a LaTeX file without a document class: some other file pulls it in."""
    if path.suffix.lower() not in _LATEX:
        return False
    return b"\\documentclass" not in path.read_bytes()


def _looks_like_path(target: str) -> bool:
    return "/" in target or "\\" in target or Path(target).suffix != ""


def _outcome(path: Path, status: str, info: DocumentInfo) -> Outcome:
    return Outcome(str(path), status, info.id, info.segments, info.terms, info.edges)
