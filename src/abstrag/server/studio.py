"""The studio: everything the routes of a server share, started and ended with it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final, TypeVar

from abstrag.engine.source_files import source_hash
from abstrag.errors import AbstragError, EmptyDocument
from abstrag.files import sync_folder
from abstrag.llm.model import CallRole
from abstrag.memory import LruCache
from abstrag.model.document import Document, Span
from abstrag.model.segment import Segment
from abstrag.neural.bundle import WEIGHTS
from abstrag.server.answers import NotThere, TooBusy, log
from abstrag.server.jobs import Jobs, Watcher
from abstrag.server.metrics import Labels, Metrics
from abstrag.server.pdf_pages import (
    Places,
    Quotation,
    WordPlaces,
    page_count,
    places,
    rendered,
    without_spaces,
    word_places,
)
from abstrag.server.settings import ServerSettings
from abstrag.stores.open import beside
from abstrag.stores.protocol import DocumentInfo
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.workspace import Workspace

if TYPE_CHECKING:
    from abstrag.server.compare import Rival

# Files that clients sent, kept by what is in them.
#
# The name a client gives decides what the file is called in its folder, after everything that
# could mean something to a file system is gone from it, and it decides nothing else: the folder
# is the hash of the content.

_LONGEST: Final = 80  # characters of a name that are kept
_HARMLESS: Final = re.compile(r"[^\w.+() -]+")
_PARTIAL: Final = ".part"
_TRIES_SUFFIX: Final = ".tries"


class Uploads:
    """A folder of uploaded files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def keep(self, name: str, pieces: AsyncIterator[bytes]) -> tuple[Path, bool]:
        """Write a file as its pieces come; return where it is kept, and whether it is new there.

        Whatever ends the pieces early leaves nothing behind. A content that is there already
        keeps the name it came with first.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = sha256()
        file = NamedTemporaryFile(dir=self.folder, suffix=_PARTIAL, delete=False)  # noqa: SIM115
        partial = Path(file.name)
        try:
            with file:
                async for piece in pieces:
                    digest.update(piece)
                    file.write(piece)
                if not file.tell():
                    raise EmptyDocument(f"{name!r} is empty", hint="check that the file was saved")
                file.flush()
                os.fsync(file.fileno())
            return self._placed(partial, digest.hexdigest(), safe_name(name))
        finally:
            partial.unlink(missing_ok=True)  # closed by now: Windows removes no open file

    def _placed(self, partial: Path, digest: str, name: str) -> tuple[Path, bool]:
        home = self.folder / digest
        home.mkdir(exist_ok=True)
        for known in sorted(home.iterdir()):
            return known, False
        kept = partial.rename(home / name)
        for folder in (home, self.folder):  # whoever is told that a file is taken can rely on it
            sync_folder(folder)
        return kept, True

    def holds(self, path: Path) -> bool:
        """True when a path is one of the files kept here."""
        return path.parent.parent == self.folder.resolve()

    def discard(self, path: Path) -> None:
        """Delete a file that is kept here; any other is left alone."""
        if self.holds(path.resolve()):
            shutil.rmtree(path.resolve().parent, ignore_errors=True)
            self.ended(path)

    def begun(self, path: Path) -> None:
        """Record that work on a file begins; the record stays if the server dies of it."""
        if self.holds(path.resolve()):
            self._note(path).write_text(str(self.tries(path) + 1))

    def ended(self, path: Path) -> None:
        """Record that work on a file is over, with or without success."""
        if self.holds(path.resolve()):
            self._note(path).unlink(missing_ok=True)

    def tries(self, path: Path) -> int:
        """Return how often work on a file began without coming to an end."""
        try:
            return int(self._note(path).read_text())
        except (OSError, ValueError):
            return 0

    def _note(self, path: Path) -> Path:
        return self.folder / f"{path.resolve().parent.name}{_TRIES_SUFFIX}"

    def left_over(self) -> Iterator[Path]:
        """Go through the files kept here, after deleting what an interrupted upload left.

        Those whose work never ended come last, so that they hold up nobody else.
        """
        if not self.folder.is_dir():
            return
        for partial in self.folder.glob(f"*{_PARTIAL}"):
            partial.unlink(missing_ok=True)
        found = sorted(p.resolve() for p in self.folder.glob("*/*") if p.is_file())
        yield from sorted(found, key=self.tries)


def safe_name(name: str) -> str:
    """Return a file name without special meaning to any file system, with its extension."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    plain = _HARMLESS.sub("_", last).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if not dot:
        stem, ending = plain, ""
    ending = ending[:10]
    stem = stem[: _LONGEST - len(ending)].strip(" .") or "document"
    return f"{stem}.{ending}" if ending else stem


# The files documents were read from, as far as they are still there and unchanged.

_MAGIC: Final = b"%PDF-"
_HEAD: Final = 1024  # bytes in which a PDF says what it is


class Sources:
    """Opens the files that documents were read from, and no path that a client names."""

    def __init__(self, keep: int = 20_000) -> None:  # a number each
        self._pages: LruCache[int | None] = LruCache(keep)

    def pages(self, info: DocumentInfo) -> int | None:
        """Return how many pages a document's PDF has; None when there is no such file."""
        if info.source_path is None:
            return None
        path = Path(info.source_path)
        try:
            seen = path.stat()
        except OSError:
            return None
        key = (info.source_path, info.source_hash, seen.st_mtime_ns, seen.st_size)
        return self._pages.get(key, lambda: _count(path, info.source_hash))

    def picture(self, info: DocumentInfo, number: int, *, width: int) -> bytes:
        """Return a page of a document as a PNG file."""
        return rendered(self._pdf(info), number, width=width)

    def places(
        self, info: DocumentInfo, document: Document, number: int, *, start: int, end: int
    ) -> Places:
        """Return where on a page a span of the document stands."""
        text = document.text[max(start, 0) : max(end, 0)]
        return places(self._quotation(info, document, number, start, text))

    def words(
        self,
        info: DocumentInfo,
        document: Document,
        segment: Segment,
        number: int,
        parts: Sequence[tuple[int, int]],
    ) -> WordPlaces:
        """Return where stretches of a segment's text stand on a page."""
        start, end = segment.span.start, segment.span.end
        size = len(segment.text)
        spans = [
            segment.alignment.locate(a, b) if a < b <= size else Span(start, start)
            for a, b in parts
        ]
        inside = [(max(one.start - start, 0), max(one.end - start, 0)) for one in spans]
        text = document.text[start:end]
        return word_places(self._quotation(info, document, number, start, text), inside)

    def _quotation(
        self, info: DocumentInfo, document: Document, number: int, start: int, text: str
    ) -> Quotation:
        """Return what is looked for on a page, and which of equal quotations there it is."""
        before = "".join(
            document.text[block.span.start : min(block.span.end, start)]
            for block in document.blocks
            if block.page == number and block.span.start < start
        )
        nth = without_spaces(before).count(without_spaces(text)) if text.strip() else 0
        scan = next((page for page in document.scans if page.number == number), None)
        return Quotation(self._pdf(info), number, text, nth, scan)

    def _pdf(self, info: DocumentInfo) -> Path:
        if self.pages(info) is None or info.source_path is None:
            raise NotThere(
                f"{info.id!r} has no PDF to show",
                hint="its file is no PDF, or has been moved or changed since it was indexed",
            )
        return Path(info.source_path)


def _count(path: Path, expected: str) -> int | None:
    """Count the pages of a file, if it is a PDF and still the one that was indexed."""
    try:
        with path.open("rb") as file:
            if _MAGIC not in file.read(_HEAD):  # most of a large store; they are not read whole
                return None
        if sha256(path.read_bytes()).hexdigest() != expected:
            return None
        return page_count(path)
    except (OSError, AbstragError):
        return None


# What the first question would have to wait for, made ahead in a thread of its own.


class Preloader:
    """Loads the models, and prepares the cards whenever documents are new."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._wanted = Event()
        self._closing = False
        self.made: tuple[int, int] | None = None  # cards so far, of how many that are missing
        self.ready = False  # nothing is left to be made ahead
        self._thread = Thread(target=self._run, name="preload", daemon=True)

    def start(self) -> None:
        """Start with the documents that the store has now."""
        self._wanted.set()
        self._thread.start()

    def look_again(self) -> None:
        """Prepare new documents in the background."""
        self.ready = False
        self._wanted.set()

    def close(self) -> None:
        """Start nothing further; work in progress ends, or fails when the store is closed."""
        self._closing = True
        self._wanted.set()

    def _run(self) -> None:
        try:
            from abstrag.language.parser import parse
            from abstrag.workspace.tour import demo_document

            parse([demo_document().title])
        except (ImportError, AbstragError) as error:
            log.warning("the language model cannot be loaded: %s", error)
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._closing:
                return
            self._prepare()

    def _prepare(self) -> None:
        """Open the collection once, which makes what is missing and keeps what it reads."""
        try:
            if len(self._workspace.documents()) > 1:
                from abstrag.neural.judge import preload

                loading = preload()
                self._workspace.collection(on_made=self._tell)
                loading.join()
        except AbstragError as error:
            if not self._closing:
                log.warning("the search over all documents cannot be prepared: %s", error)
        finally:
            self.made = None
            self.ready = not self._wanted.is_set()

    def _tell(self, done: int, total: int) -> None:
        self.made = done, total


# A lane: a few threads that do one kind of work, and a bounded line in front of them.

T = TypeVar("T")


class RequestQueue:
    """Runs work in its own threads; when the queue is full, requests are refused.

    Two or three threads are as fast as fifty where one interpreter lock decides, and the line in
    front of them is fair.
    """

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        self.name = name
        self._most = threads + waiting
        self._inside = 0
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def __call__(self, work: Callable[[], T]) -> T:
        """Wait for a thread, let it do the work, and return what it made.

        Raises:
            TooBusy: As many are waiting as may wait.
        """
        with self._lock:
            if self._inside >= self._most:
                raise TooBusy(
                    f"{self._most} requests of the kind {self.name!r} are being served or waiting",
                    hint="try again in a few seconds",
                )
            self._inside += 1
        future = self._pool.submit(work)
        future.add_done_callback(self._left)  # not when the client goes: the thread goes on
        return await asyncio.wrap_future(future)

    @property
    def inside(self) -> int:
        """How many are being served or waiting."""
        return self._inside

    def _left(self, _future: Future[T]) -> None:
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        """Drop what waits and wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)


_TRIES: Final = 2  # of an upload that the server did not survive, and it is set aside


class Studio:
    """A workspace with uploads and jobs, and the queues that work waits in.

    Whoever opened the workspace closes it, when the studio is closed.
    """

    def __init__(
        self, settings: ServerSettings, workspace: Workspace, metrics: Metrics | None = None
    ) -> None:
        self.settings = settings
        self.metrics = metrics or Metrics()
        self.workspace = workspace
        self.uploads = Uploads(beside(workspace.target, ".studio") / "uploads")
        self.sources = Sources()
        self.preloader = Preloader(workspace)
        self.rivals: LruCache[dict[str, Rival]] = LruCache(workspace.config.keep)
        self.jobs = Jobs(
            workspace.target,
            waiting=settings.jobs_waiting,
            max_bytes=settings.max_upload_bytes,
            budget=settings.budget,
            watcher=Watcher(
                began=self.uploads.begun,
                ended=self._ended,
                failed=self._failed,
                set_aside=self._set_aside,
                over=self.metrics.job,
            ),
        )
        self.searching = RequestQueue(
            "search", threads=settings.search_threads, waiting=settings.searches_waiting
        )
        self.judging = RequestQueue(
            "judged", threads=settings.judged_threads, waiting=settings.judged_waiting
        )
        self.drawing = RequestQueue("page", threads=1, waiting=settings.searches_waiting)
        self.comparing = RequestQueue("compare", threads=1, waiting=settings.judged_waiting)

    @property
    def has_judge(self) -> bool:
        """True when there is a judge to ask: one that was given, a model, or the shipped one."""
        given = self.workspace.judge is not None or self._model(CallRole.JUDGE) is not None
        return given or (WEIGHTS / "judge").is_dir()

    @property
    def writer(self) -> str | None:
        """What the language model that writes answers is called."""
        return self._model(CallRole.ANSWER)

    def _model(self, role: CallRole) -> str | None:
        model = self.workspace.models.get(role) if self.workspace.models else None
        return None if model is None else model.fingerprint

    def ranking(self, options: SearchOptions) -> RequestQueue:
        """Return the lane for what ranks: one of its own where a judge or a model reads."""
        return self.judging if options.preset.judge_weight else self.reading

    @property
    def reading(self) -> RequestQueue:
        """The lane for what only reads a query: a language model may do that."""
        return self.searching if self.workspace.models is None else self.judging

    def start(self) -> None:
        """Take up what was left unfinished, and make ready for questions meanwhile."""
        self._resume()
        self.preloader.start()

    def close(self) -> None:
        """End the worker and the lanes; what is finished is in the store."""
        self.preloader.close()
        self.jobs.close()
        for queue in self._queues:
            queue.close()

    @property
    def _queues(self) -> tuple[RequestQueue, ...]:
        return self.searching, self.judging, self.drawing, self.comparing

    def now(self) -> dict[str, tuple[str, dict[Labels, float]]]:
        """Return what holds at this moment, for the metrics."""
        inside: dict[Labels, float] = {
            (("kind", queue.name),): float(queue.inside) for queue in self._queues
        }
        found: dict[str, tuple[str, dict[Labels, float]]] = {
            "abstrag_documents": (
                "Documents in the store",
                {(): float(len(self.workspace.documents()))},
            ),
            "abstrag_requests_inside": ("Requests being served or waiting", inside),
        }
        if self.workspace.models is not None:
            spent = self.workspace.models.ledger().total
            tokens: dict[Labels, float] = {
                (("kind", "input"),): float(spent.tokens_in),
                (("kind", "output"),): float(spent.tokens_out),
            }
            found["abstrag_model_tokens"] = ("Tokens of language models so far", tokens)
            found["abstrag_model_cost_usd"] = ("What models cost so far", {(): spent.cost})
        return found

    def _resume(self) -> None:
        """Index uploads that a former server took in and did not get to."""
        store = self.workspace.store
        for path in self.uploads.left_over():
            if store.find_source(str(path)) is not None:
                continue
            if self.uploads.tries(path) >= _TRIES:
                self._set_aside(path, f"the server ended {_TRIES} times while it was indexed")
                self._failed(path)
                continue
            try:
                self.jobs.submit(path)
            except TooBusy:
                return

    def _ended(self, path: Path) -> None:
        """Note the end of a job, and prepare the search over all documents for a new one."""
        self.uploads.ended(path)
        self.preloader.look_again()

    def _set_aside(self, path: Path, why: str) -> AbstragError:
        """Note that a content is not to be tried again."""
        library = self.workspace.library
        content = source_hash(path, self.settings.max_upload_bytes)
        return library.quarantine.add(content, str(path), why).error()

    def _failed(self, path: Path) -> None:
        """Drop an upload that cannot be indexed, unless a document was made of it before."""
        if self.workspace.store.find_source(str(path.resolve())) is None:
            self.uploads.discard(path)
