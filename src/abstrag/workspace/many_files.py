"""Indexing with several workers: they read and understand, this process names and writes.

SQLite has one writer at a time anyway, and writing is a small part of the work; in return the
store is row for row the one that a single process leaves, whoever is done first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from socket import gethostname
from typing import Final

from abstrag.collection.cards import layers_of, missing_layers
from abstrag.documents.load import load_bytes
from abstrag.engine.library import Library
from abstrag.engine.source_files import DueFile, DuplicateFile, IndexOutcome, attempt, failed
from abstrag.errors import AbstragError, FileMissing, StoreError
from abstrag.indexing.operator import missed_segments
from abstrag.indexing.pipeline import index
from abstrag.language.words import language_of
from abstrag.memory import relax_collector
from abstrag.model.index import DocumentIndex
from abstrag.neural.aligner import default_aligner
from abstrag.neural.whole_text import default_encoder
from abstrag.stores.open import Target, is_address, shown
from abstrag.stores.prepared import Prepared, prepare
from abstrag.stores.protocol import DocumentInfo, Store, together
from abstrag.stores.rows import compress
from abstrag.workers.processes import Processes
from abstrag.workers.protocol import Engine, LostItem, OnProgress, tell, within
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

TOGETHER: Final = 32  # documents at most that are written in one transaction
PAUSE_S: Final = 0.5  # seconds since the last ones, and a document does not wait for others
AHEAD: Final = 200  # segments at most of a document that is made ready for search at once, too
FEW: Final = 24  # files that are done before more workers would have loaded their models

Layer = tuple[str, str, str, bytes]  # content hash, layer, fingerprint, data


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What a worker made of a file: the index or why there is none, and layers nobody had yet."""

    made: tuple[Prepared, dict[str, int], str] | IndexOutcome
    layers: tuple[Layer, ...]
    ready: bool = False  # what a search over all documents needs is among the layers


@dataclass(frozen=True, slots=True)
class IndexTask:
    """The `Task` of a worker: read a file and understand it; the store is only read."""

    config: WorkspaceConfig
    host: str  # the machine that asks
    sample: str  # one of the files
    tells: bool = False  # how far it is with a file
    ahead: int = 0  # up to so many segments, it makes what a search over all needs, too

    def start(self) -> Callable[[DueFile], IndexedFile]:
        """Open the store, and load every model with a document of one sentence."""
        check_reach(self.config.target, self.host, self.sample)
        workspace = Workspace(self.config)
        settings = self.config.settings
        index(load_bytes(b"The first file may be timed.", name="first.txt"), settings=settings)

        library = workspace.library
        if self.tells:
            library = replace(
                library,
                on_step=lambda name: tell((name,)),
                on_page=lambda page, pages: tell((page, pages)),
            )
        in_a_file = not is_address(self.config.target)
        if self.ahead:
            default_aligner().threads = 1  # the workers share the cores between them
            default_encoder().prepare()
        relax_collector()

        def perform(job: DueFile) -> IndexedFile:
            layers = _Layers(workspace.store)
            indexes: list[DocumentIndex] = []

            def made() -> tuple[Prepared, dict[str, int], str]:
                with within(self.config.budget):
                    understood = library.make(job, layers)
                    language = language_of(understood.document.text)
                    packed = prepare(understood)
                    packed = packed.for_a_file() if in_a_file else packed
                    indexes.append(understood)
                    return packed, missed_segments(understood.ambiguities), language

            found = attempt(job.path, made)
            ready = False
            if indexes and len(indexes[0].records) <= self.ahead:
                layers.new.extend(_made_ahead(workspace.store, job, indexes[0]))
                ready = True
            squeezed = ((*key, compress(data)) for *key, data in layers.new)
            return IndexedFile(found, tuple(squeezed), ready)  # type: ignore[arg-type]

        return perform


def _made_ahead(store: Store, job: DueFile, index: DocumentIndex) -> Iterator[Layer]:
    """Make what a search over all documents needs of one while its index is at hand."""
    document, encoder = index.document, default_encoder()
    info = DocumentInfo(
        id=job.name,
        title=document.title,
        date=document.metadata.date,
        source_path=job.source,
        source_hash=job.content,
        content_hash=document.content_hash,
        genre=index.genre,
        granularity=index.granularity,
        fingerprint=index.fingerprint,
        segments=len(index.records),
        terms=len(index.map.terms),
        edges=len(index.map.edges),
        indexed_at="",
    )
    lacked = missing_layers(store, encoder, info)
    for key, data in layers_of({lacked: index}, store, encoder).items():
        yield (*key, data)


@dataclass(frozen=True, slots=True)
class _Layers:
    """A cache of layers that reads from a store and collects what is to be written there."""

    store: Store
    new: list[Layer] = field(default_factory=list)

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what the store has."""
        return self.store.get_layer(content_hash, layer, fingerprint)

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep a layer for the process that writes."""
        self.new.append((content_hash, layer, fingerprint, data))


def check_reach(store: Target, host: str, sample: str | None = None) -> None:
    """See that a worker gets at the store and the files of the machine that asks."""
    here = gethostname()
    if here == host:
        return
    if not is_address(store):
        raise StoreError(
            f"worker {here!r} is on another machine than the store {shown(store)!r}, and SQLite "
            "files are not shared between machines",
            hint="keep the store on a server: --store postgresql://USER@HOST/DATABASE",
        )
    if sample is not None and not Path(sample).exists():
        raise FileMissing(
            f"worker {here!r} does not see {sample!r}",
            hint="put the files into a folder that every node has under the same path",
        )


def index_many(
    workspace: Workspace,
    paths: Sequence[Path],
    engine: Engine,
    *,
    library: Library | None = None,
    few: int = 0,
    on_file: Callable[[Path], None] = lambda _path: None,
    on_ahead: Callable[[], None] | None = None,
) -> Iterator[IndexOutcome]:
    """Index files and everything inside folders as `Library.index_paths` does, side by side.

    No model takes part, for budgets are kept in one process. The library indexes in this process
    and is to tell how far it is. Up to a `few` files that are due are indexed by one worker of this
    machine. `on_file` is told each file when it is looked at, and by one worker when it is begun;
    `on_ahead` of each document of which workers made what a search over all needs, too, where there
    are several: long ones, and all where it is None, are left to `upkeep.prepare`.
    """
    library = library or workspace.library
    order: deque[IndexOutcome | DueFile | DuplicateFile] = deque()  # looked at and not told yet
    done: dict[str, IndexOutcome] = {}  # by source
    jobs = _jobs(library.due_paths(paths, on_file), order)
    first = list(islice(jobs, max(few + 1, 2)))
    if not first:
        yield from _told(library, order, done)
        return
    tells = len(first) <= few
    if tells:
        heard = _listener(library, on_file)
        engine = Processes(1, time_limit=workspace.config.budget.seconds, on_told=heard)
    background = workspace.library.background
    config = replace(workspace.config.elsewhere(), background=background, create=False)
    ahead = on_ahead is not None and workspace.embedder is default_encoder()
    several = len(first) > 1 or any(info.id != first[0].replaces for info in workspace.documents())
    segments = AHEAD if ahead and several else 0
    task = IndexTask(config, gethostname(), first[0].source, tells, segments)
    pending: list[tuple[DueFile, IndexedFile]] = []  # made, and to be written together
    last = time.monotonic()
    with closing(engine.run(task, chain(first, jobs))) as results:
        for job, result in results:
            if isinstance(result, LostItem) or not isinstance(order[0], DueFile):
                yield from _written(library, pending, done)
            yield from _told(library, order, done)
            order.popleft()
            if isinstance(result, LostItem):
                done[job.source] = told = library.set_aside(job, result.why)
                yield told
                continue
            pending.append((job, result))
            if result.ready and on_ahead is not None:
                on_ahead()
            if len(pending) == TOGETHER or time.monotonic() - last > PAUSE_S:
                yield from _written(library, pending, done)
                last = time.monotonic()
        yield from _written(library, pending, done)
    yield from _told(library, order, done)


def _written(
    library: Library, pending: list[tuple[DueFile, IndexedFile]], done: dict[str, IndexOutcome]
) -> list[IndexOutcome]:
    """Write what is pending in one transaction, and say what became of each file."""
    if not pending:
        return []
    try:
        with together(library.store):
            told = [_kept(library, job, result) for job, result in pending]
    except AbstragError as error:  # of the whole: nothing of it is in the store
        told = [failed(job.path, error) for job, _ in pending]
    done.update(zip((job.source for job, _ in pending), told, strict=True))
    pending.clear()
    return told


def _listener(library: Library, on_file: Callable[[Path], None]) -> OnProgress:
    """Return what hears a worker: which file it is at, which step or page of it."""
    at: list[str] = []

    def heard(job: DueFile, told: tuple[str] | tuple[int, int]) -> None:
        if at != [job.path]:
            at[:] = [job.path]
            on_file(Path(job.path))
        if isinstance(told[0], str):
            library.on_step(told[0])
        else:
            library.on_page(*told)

    return heard


def _jobs(
    found: Iterator[IndexOutcome | DueFile | DuplicateFile],
    order: deque[IndexOutcome | DueFile | DuplicateFile],
) -> Iterator[DueFile]:
    """Go through what is due, and note the place of everything."""
    for each in found:
        order.append(each)
        if isinstance(each, DueFile):
            yield each


def _told(
    library: Library,
    order: deque[IndexOutcome | DueFile | DuplicateFile],
    done: Mapping[str, IndexOutcome],
) -> Iterator[IndexOutcome]:
    """Take what needs no work from the front; what a twin waited for is done by then."""
    while order and not isinstance(order[0], DueFile):
        each = order.popleft()
        if isinstance(each, DuplicateFile):
            yield attempt(each.path, library.join, each, done[each.first.source])
        elif isinstance(each, IndexOutcome):
            yield each


def _kept(library: Library, job: DueFile, result: IndexedFile) -> IndexOutcome:
    made = {layer[:3]: layer[3] for layer in result.layers}
    kept = library.store.get_layers(list(made))
    if new := {key: data for key, data in made.items() if key not in kept}:
        library.store.put_layers(new)  # together: a disk that syncs takes its time for each
    if isinstance(result.made, IndexOutcome):
        return result.made
    return attempt(job.path, library.keep, job, *result.made)
