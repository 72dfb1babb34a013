"""A library: a store with a Background and settings, that turns paths and names into indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from abstrag.config import Settings
from abstrag.documents.load import OnPage, load, read_by
from abstrag.documents.readers import DocumentReader
from abstrag.engine.source_files import (
    DueFile,
    DuplicateFile,
    IndexOutcome,
    IndexReason,
    attempt,
    failed,
    listed,
    own_id,
    place_of,
    source_hash,
)
from abstrag.errors import (
    DocumentError,
    FileMissing,
    InputError,
    NotAFile,
    TooCostly,
    UnknownDocument,
)
from abstrag.files import is_folder, is_regular, write_whole
from abstrag.indexing.operator import missed_segments
from abstrag.indexing.pipeline import (
    LayerCache,
    OnShortfall,
    OnStep,
    fingerprint,
    index,
    serves,
)
from abstrag.language.words import ENGLISH, language_of
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.record import from_json, record, to_json
from abstrag.stores.database import candidates, choose
from abstrag.stores.prepared import Prepared, prepare
from abstrag.stores.protocol import DocumentInfo, Store
from abstrag.stores.sqlite import is_store

_PART: Final = "LaTeX without \\documentclass, taken for part of another document"
_NAME_IT: Final = "name the file itself to index it"


if TYPE_CHECKING:
    from abstrag.backgrounds.compiled import CompiledBackground
    from abstrag.backgrounds.touched import TouchedFacts
    from abstrag.indexing.prompted.prompts import IndexPrompts, Plan


# Files that cost more than a document may: set aside with the reason, and not tried again.
#
# An entry belongs to the content of a file, so that it holds under any name and ends when the
# file changes. Each is a small file of its own beside the store, written whole or not at all:
# limits are those of a machine, and so is what they caught.

_RETRY = "abstrag index --retry FILE tries it again; docs/limits.md tells how to raise the limits"


@record
class QuarantinedFile:
    """A file that is not tried again: what it holds, where it was, why and since when."""

    content: str  # the hash of what the document is read from
    path: str
    reason: str
    since: str  # UTC, ISO 8601, whole seconds

    def error(self) -> TooCostly:
        """Return the error that every further attempt at the file raises."""
        name = Path(self.path).name
        return TooCostly(f"{name!r} was set aside on {self.since[:10]}: {self.reason}", hint=_RETRY)


class Quarantine:
    """Records quarantined files in a folder, or in memory without one."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._in_memory: dict[str, QuarantinedFile] = {}

    def find(self, content: str) -> QuarantinedFile | None:
        """Return why a content is quarantined; None if it is not."""
        if self._folder is None:
            return self._in_memory.get(content)
        try:
            return from_json(QuarantinedFile, self._path(self._folder, content).read_bytes())
        except (OSError, InputError):  # one that cannot be read holds nobody back
            return None

    def add(self, content: str, path: str, reason: str) -> QuarantinedFile:
        """Quarantine a file."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = QuarantinedFile(content, path, reason, since)
        if self._folder is None:
            self._in_memory[content] = entry
            return entry
        write_whole(self._path(self._folder, content), to_json(entry, indent=1))
        return entry

    def release(self, content: str) -> None:
        """Remove a content from quarantine."""
        if self._folder is None:
            self._in_memory.pop(content, None)
        else:
            self._path(self._folder, content).unlink(missing_ok=True)

    def entries(self) -> tuple[QuarantinedFile, ...]:
        """Return all quarantined files, by path."""
        if self._folder is None:
            found = list(self._in_memory.values())
        else:
            names = [path.stem for path in self._folder.glob("*.json")]
            found = [entry for name in names if (entry := self.find(name)) is not None]
        return tuple(sorted(found, key=lambda entry: (entry.path, entry.content)))

    @staticmethod
    def _path(folder: Path, content: str) -> Path:
        return folder / f"{content}.json"


# The same bytes are the same document, wherever they lie: one index, several known paths.


def read_alike(store: Store, path: Path, content: str) -> Iterator[DocumentInfo]:
    """Yield the stored documents that were read from the same bytes by the same reader.

    The suffix takes part in how a file is read, so files that differ in it stay two documents.
    """
    for info in store.find_bytes(content):
        if info.source_path is None:
            continue
        if Path(info.source_path).suffix.casefold() == path.suffix.casefold():
            yield info


def also_at(store: Store, info: DocumentInfo, place: str) -> DocumentInfo:
    """Record another path of a document; it becomes the main one if the first file is gone."""
    own = info.source_path
    if own is None or is_regular(Path(own)):
        store.add_place(info.id, place)
        return info
    kept, places = store.get(info.id), store.places(info.id)
    metadata = replace(kept.document.metadata, source=place)
    store.remove(info.id)  # so that its name is free
    document = replace(kept.document, metadata=metadata)
    name = store.put(
        replace(kept, document=document), source_path=place, source_hash=info.source_hash
    )
    for other in (own, *places):
        store.add_place(name, other)
    return store.find(name)


def leave_to_others(store: Store, document_id: str, max_bytes: int) -> None:
    """Keep the old content of a changed file if the same bytes are still at another path."""
    info, places = store.find(document_id), store.places(document_id)
    place = next((each for each in places if _holds(Path(each), info.source_hash, max_bytes)), None)
    if place is None:
        return
    kept = store.get(document_id)
    wanted = candidates(own_id(Path(place), max_bytes), place)
    taken = {document_id: info.source_path} | store.holders(wanted)
    name = choose(wanted, taken, source_path=place)
    metadata = replace(kept.document.metadata, source=place)
    document = replace(kept.document, id=name, metadata=metadata)
    made = replace(kept, document=document)
    name = store.put(made, source_path=place, source_hash=info.source_hash)
    for other in places:
        store.add_place(name, other)


def _holds(path: Path, content: str, max_bytes: int) -> bool:
    try:
        return is_regular(path) and source_hash(path, max_bytes) == content
    except DocumentError:
        return False


Knowledge: TypeAlias = "Background | CompiledBackground"


@dataclass(frozen=True, slots=True)
class Library:
    """Indexes files into a store, once each, and opens what is there."""

    store: Store
    background: Knowledge | None = None  # None: the one the document was indexed with, if any
    settings: Settings = field(default_factory=Settings)
    on_step: OnStep = lambda _name: None
    prompts: IndexPrompts | None = None  # None: no model takes part in indexing
    on_shortfall: OnShortfall = lambda _shortfall: None
    quarantine: Quarantine = field(default_factory=Quarantine)
    retry: bool = False  # what was set aside is tried again
    on_page: OnPage = lambda _page, _all: None  # of a PDF or picture that is being read
    readers: Mapping[str, DocumentReader] = field(default_factory=dict)  # by suffix, before ours

    def index_file(self, path: Path) -> IndexOutcome:
        """Index one file unless it, the Background, the operators and the models are unchanged.

        What models added to an index stays in use when none is at hand.
        """
        due = self.due(path, {})
        return due if isinstance(due, IndexOutcome) else self.do(due)

    def due(self, path: Path, reserved: dict[str, str]) -> IndexOutcome | DueFile:
        """Return the outcome of an unchanged file, or the work that is due.

        Names are given out here, in the order in which files are asked about: a document is called
        the same whoever indexes it, and whoever is done first. `reserved` holds those given out.
        """
        known, background = self._known(path)
        content = source_hash(path, self.settings.max_file_bytes)
        if known is not None and self._up_to_date(known, background, content):
            return _told(path, known)
        if (same := self._same_bytes(path, content, background)) is not None:
            return _told(path, same, also_at(self.store, same, place_of(path)))
        if self.retry:
            self.quarantine.release(content)
        elif (held := self.quarantine.find(content)) is not None:
            raise held.error()
        source = place_of(path)
        wanted = candidates(own_id(path, self.settings.max_file_bytes), source)
        holders = reserved | self.store.holders(wanted)
        name = choose(wanted, holders, source_path=source)
        reserved[name] = source
        if known is None:
            return DueFile(str(path), str(path.absolute()), name, content)
        why = IndexReason.AGAIN if known.source_hash == content else IndexReason.CHANGED
        replaces = known.id if known.source_path == source else None
        return DueFile(str(path), str(path.absolute()), name, content, replaces, why)

    def join(self, duplicate: DuplicateFile, first: IndexOutcome) -> IndexOutcome:
        """Return the outcome of a file with the same bytes as another file of this run."""
        if first.status == "failed" or first.document is None:
            return replace(first, path=duplicate.path)
        info = self.store.find(first.document)
        return _told(
            Path(duplicate.path), info, also_at(self.store, info, place_of(Path(duplicate.place)))
        )

    def do(self, job: DueFile) -> IndexOutcome:
        """Index a file that is due, in this process."""
        made = self.make(job, self.store)
        language = language_of(made.document.text)
        return self.keep(job, prepare(made), missed_segments(made.ambiguities), language)

    def make(self, job: DueFile, cache: LayerCache) -> DocumentIndex:
        """Return the index of a file that is due; only its layers are stored."""
        path = Path(job.place)
        known, background = self._known(path)
        document = self._read_before(job, known) or self._load(path, job.name)
        if source_hash(path, self.settings.max_file_bytes) != job.content:
            raise DocumentError(
                f"{job.path!r} changed while it was read",
                hint="index it again when nobody writes to it",
            )
        return self._index(document, background, cache)

    def keep(
        self, job: DueFile, prepared: Prepared, without: Mapping[str, int], language: str = ENGLISH
    ) -> IndexOutcome:
        """Put what was made of a file into the store."""
        if job.why is IndexReason.CHANGED and job.replaces is not None:
            leave_to_others(self.store, job.replaces, self.settings.max_file_bytes)
        name = self.store.put_prepared(prepared, source_path=job.source, source_hash=job.content)
        if name != job.name:  # another process took the name meanwhile
            self._keep(_called(self.store.get(name), name), job.source, job.content)
        segments, terms, edges = (prepared.columns[each] for each in ("segments", "terms", "edges"))
        counts = (segments, terms, edges)
        return IndexOutcome(
            job.path,
            "indexed",
            name,
            *counts,
            without=dict(without),
            replaces=job.replaces,
            why=job.why,
            language=language,
        )

    def _same_bytes(self, path: Path, content: str, background: Knowledge) -> DocumentInfo | None:
        """Return the stored document of the same bytes and the same reader, if any."""
        for info in read_alike(self.store, path, content):
            own = self.store.background(info.id) if self.background is None else background
            if self._up_to_date(info, own, content):
                return info
        return None

    def set_aside(self, job: DueFile, reason: str) -> IndexOutcome:
        """Quarantine a file, and return its outcome."""
        return failed(job.path, self.quarantine.add(job.content, job.source, reason).error())

    def still_held(self, outcome: IndexOutcome) -> IndexOutcome:
        """Name the older document that the store still has of a file that was not indexed."""
        if outcome.document is not None:
            return outcome
        try:
            place = place_of(Path(outcome.path))
            place.encode()
        except (DocumentError, UnicodeEncodeError):  # no document came from there
            return outcome
        known = self.store.find_source(place)
        return replace(outcome, document=known.id) if known is not None else outcome

    def plan_file(self, path: Path) -> tuple[Plan, ...]:
        """Say what indexing a file would ask of the models; nothing when it is up to date."""
        due = self.due(path, {})
        if self.prompts is None or isinstance(due, IndexOutcome):
            return ()
        from abstrag.indexing.prompted.chain import estimate

        document = self._load(path, due.name)
        return estimate(
            document,
            self.prompts,
            background=self._part(document, self._known(path)[1]).background,
            settings=self.settings,
            cache=self.store,
            on_step=self.on_step,
        )

    def _known(self, path: Path) -> tuple[DocumentInfo | None, Knowledge]:
        """Return the stored document of a file, and its Background."""
        known = self.store.find_source(place_of(path))
        if self.background is not None:
            return known, self.background
        return known, self.store.background(known.id) if known else EMPTY

    def _up_to_date(self, known: DocumentInfo, background: Knowledge, content: str) -> bool:
        if not isinstance(background, Background):
            kept = self.store.background(known.id)
            if kept.name != background.name:
                return False
            background = kept  # the same words touch the same part of the same file
        wanted = fingerprint(background, self.settings, prompts=self.prompts)
        return known.source_hash == content and serves(known.fingerprint, wanted)

    def _read_before(self, job: DueFile, known: DocumentInfo | None) -> Document | None:
        """Return the stored document if only its Background differs."""
        if known is None or known.id != job.name:
            return None
        own = self.store.background(known.id)
        return (
            self.store.get(known.id).document if self._up_to_date(known, own, job.content) else None
        )

    def _load(self, path: Path, name: str) -> Document:
        limit, own = self.settings.max_file_bytes, self.readers.get(path.suffix.casefold())
        if own is not None:
            document = read_by(own, path, limit)
        else:
            document = load(path, max_bytes=limit, on_page=self.on_page)
        source = place_of(path)
        return replace(document, id=name, metadata=replace(document.metadata, source=source))

    def index_document(self, document: Document) -> DocumentIndex:
        """Index a document that came from no file, and keep it."""
        made = self._index(document, self.background or EMPTY, self.store)
        return self._keep(made, None, document.content_hash)

    def _keep(self, made: DocumentIndex, source: str | None, content: str) -> DocumentIndex:
        """Store an index and return it under the id it has there, so that hits name it right."""
        name = self.store.put(made, source_path=source, source_hash=content)
        if name != made.document.id:  # another document is called so
            made = _called(made, name)
            self.store.put(made, source_path=source, source_hash=content)
        return made

    def _part(self, document: Document, background: Knowledge) -> TouchedFacts:
        """Return the part of a compiled Background that a document touches; else the whole one."""
        from abstrag.backgrounds.compiled import CompiledBackground
        from abstrag.backgrounds.touched import TouchedFacts

        if isinstance(background, Background):
            if not background.compiled:
                return TouchedFacts(background, (), {})
            background = CompiledBackground.open(background.compiled)
        return background.touched_by(_texts(document))

    def _index(self, document: Document, background: Knowledge, cache: LayerCache) -> DocumentIndex:
        part = self._part(document, background)
        made = index(
            document,
            background=part.background,
            settings=self.settings,
            prompts=self.prompts,
            cache=cache,
            on_step=self.on_step,
            on_shortfall=self.on_shortfall,
        )
        if not part.background.compiled:
            return made
        from abstrag.engine.suggested import with_sources

        return with_sources(made, part)

    def index_paths(
        self, paths: Sequence[Path], on_file: Callable[[Path], None] = lambda _path: None
    ) -> Iterator[IndexOutcome]:
        """Index files and everything inside folders; a failure is an outcome, not the end."""
        done: dict[str, IndexOutcome] = {}
        for due in self.due_paths(paths, on_file):
            if isinstance(due, DueFile):
                done[due.source] = attempt(due.path, self.do, due)
                yield done[due.source]
            elif isinstance(due, DuplicateFile):
                yield attempt(due.path, self.join, due, done[due.first.source])
            else:
                yield due

    def due_paths(
        self, paths: Sequence[Path], on_file: Callable[[Path], None] = lambda _path: None
    ) -> Iterator[IndexOutcome | DueFile | DuplicateFile]:
        """Go through files and everything inside folders, each once, and say what is due.

        Of files with the same bytes the first is due, and the others are its duplicates.
        """
        reserved: dict[str, str] = {}
        first: dict[tuple[str, str], DueFile] = {}
        for file, part in listed(paths):
            on_file(file)
            if part:
                yield IndexOutcome(str(file), "skipped", error=_PART, hint=_NAME_IT)
                continue
            due = attempt(str(file), self.due, file, reserved)
            if isinstance(due, DueFile) and due.replaces is None:
                job = first.setdefault((due.content, file.suffix.casefold()), due)
                if job is not due:
                    reserved.pop(due.name)
                    yield DuplicateFile(str(file), str(file.absolute()), job)
                    continue
            yield due

    def plan_paths(self, paths: Sequence[Path]) -> Iterator[Plan]:
        """Say what indexing files and everything inside folders would ask of the models.

        A file that cannot be read asks nothing; indexing says what is wrong with it.
        """
        for file, part in listed(paths):
            if not part:
                try:
                    yield from self.plan_file(file)
                except DocumentError:
                    continue

    def open(self, target: str) -> DocumentIndex:
        """Return the index of a file (indexed first when new or changed) or of a document id."""
        return self.store.get(self.locate(target).id)

    def locate(self, target: str) -> DocumentInfo:
        """Describe the document of a file (indexed first when new or changed) or of an id."""
        path = Path(target)
        if is_folder(path):
            raise NotAFile(
                f"{target!r} is a folder, and this command takes one document",
                hint=f"abstrag index {target}, then name one of its documents",
            )
        if is_regular(path):
            if is_store(path):
                raise InputError(
                    f"{target!r} is a store of documents, and this command takes one document",
                    hint=f"abstrag store list --store {target}",
                )
            outcome = self.index_file(path)
            assert outcome.document is not None
            return self.store.find(outcome.document)
        try:
            return self.store.find(target)
        except UnknownDocument as error:
            if _looks_like_path(target):
                raise FileMissing(
                    f"no file at {target!r}, and no document of that name in the store",
                    hint=error.hint,
                ) from None
            raise


def _called(index: DocumentIndex, name: str) -> DocumentIndex:
    return replace(index, document=replace(index.document, id=name))


def _texts(document: Document) -> list[str]:
    """Return all text of a document, in stretches that no name crosses."""
    cells = (c.text for b in document.blocks if b.table is not None for c in b.table.cells)
    return [document.title, *(block.text for block in document.blocks), *cells]


def _looks_like_path(target: str) -> bool:
    return "/" in target or "\\" in target or Path(target).suffix != ""


def _told(path: Path, first: DocumentInfo, info: DocumentInfo | None = None) -> IndexOutcome:
    """Return the outcome of a file whose content is stored already, from this path or another."""
    info = info or first
    counts = (info.segments, info.terms, info.edges)
    if first.source_path == place_of(path):
        return IndexOutcome(str(path), "unchanged", info.id, *counts)
    return IndexOutcome(str(path), "same", info.id, *counts, same_as=first.source_path)
