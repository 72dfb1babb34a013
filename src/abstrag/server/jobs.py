"""Indexing in the background: a bounded queue, one worker process, and states to look at.

Parsing holds the interpreter, so files are indexed in another process than the one that searches.
A file that goes over its budget ends the worker and nothing else; the next one gets a new worker.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from queue import Full, Queue
from secrets import token_hex
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final

from abstrag.config import DocumentBudget, Settings
from abstrag.errors import AbstragError, DocumentError, TooCostly
from abstrag.indexing.pipeline import standard_chain
from abstrag.model.record import record
from abstrag.server.answers import NotThere, TooBusy, told
from abstrag.stores.open import Target
from abstrag.workers.processes import ProcessPool
from abstrag.workers.protocol import (
    TIME_SPENT,
    ItemDone,
    ItemOverBudget,
    Progress,
    TaskRaised,
    WorkerDied,
    tell,
    within,
)
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

READING: Final = "read"
STEPS: Final = (READING, *(operator.name for operator in standard_chain().operators))
_NICE: Final = 5  # searches go first


@dataclass(frozen=True, slots=True)
class UploadTask:
    """The `WorkerTask` of the worker: index one file after the other into a store."""

    config: WorkspaceConfig

    def start(self) -> Callable[[tuple[Path, bool]], dict[str, Any]]:
        """Return a function that indexes a file, reports every step, and returns the outcome."""
        with suppress(OSError):
            os.nice(_NICE)

        @cache
        def workspace() -> Workspace:  # a store that cannot be opened is the failure of a file
            return Workspace(self.config)

        def perform(file: tuple[Path, bool]) -> dict[str, Any]:
            path, retry = file
            _tell_step(READING)
            try:
                library = replace(workspace().indexing(_tell_step), retry=retry)
                with within(self.config.budget):
                    return {"document": library.index_file(path).document}
            except AbstragError as error:
                return {"error": told(error)}
            except Exception as error:  # a broken file must not end the process, and must be told
                why = f"{type(error).__name__}: {error}"
                failed = AbstragError(f"{path.name!r} cannot be indexed: {why}")
                return {"error": told(failed)}

        return perform


def _tell_step(name: str) -> None:
    tell({"step": name, "done": STEPS.index(name), "total": len(STEPS)})


class WorkerEnded(Exception):
    """The worker has ended while indexing a file; `why` says how."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why

    def error(self, path: Path) -> DocumentError:
        """Return the error of a file that is not quarantined."""
        return DocumentError(f"indexing {path.name!r} was ended before it was done")


class IndexingProcess:
    """Gives files to the worker, one at a time, and receives its events."""

    def __init__(self, config: WorkspaceConfig) -> None:
        self._pool = ProcessPool(UploadTask(config))
        self._time_limit = config.budget.seconds
        self._lock = Lock()
        self._ended = False
        self._worker: int | None = None

    def index(self, path: Path, *, retry: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the worker's events about a file, the last one included.

        Raises:
            WorkerEnded: The worker was ended, by a limit or by somebody.
        """
        worker = self._started()
        deadline = monotonic() + self._time_limit
        self._pool.submit(worker, (path, retry))
        while True:
            events = self._pool.wait(max(0.0, deadline - monotonic()))
            if not events:
                raise self._dismissed(worker, TIME_SPENT.format(self._time_limit))
            for event in events:
                match event:
                    case Progress(what=said):
                        yield said
                    case ItemDone(result=said):
                        yield said
                        return
                    case ItemOverBudget(why=why):
                        raise self._dismissed(worker, why)
                    case WorkerDied(how=how):
                        why = f"its process ended {how}, perhaps for want of memory"
                        raise self._dismissed(worker, why)
                    case TaskRaised(error=error):  # it could not even start
                        self._dismissed(worker, str(error))
                        raise error

    def kill(self) -> None:
        """End the process at once; the next file starts another one."""
        with self._lock:
            if self._worker is not None:
                self._pool.kill(self._worker)

    def end(self) -> None:
        """End the process, and start no other one."""
        self._ended = True
        self.kill()

    def close(self) -> None:
        """Close the pipe to the process when nobody reads from it any more."""
        self._pool.close()

    def _started(self) -> int:
        with self._lock:
            if self._ended:
                raise DocumentError("the server is closing", hint="send the file again later")
            if any(isinstance(event, WorkerDied) for event in self._pool.wait(0)):
                self._worker = None  # while it had nothing to do
            if self._worker is None:
                self._worker = self._pool.start_worker()
            return self._worker

    def _dismissed(self, worker: int, why: str) -> WorkerEnded:
        """Discard a dead worker, and return why the work on its file ended."""
        with self._lock:
            self._pool.stop_worker(worker)
            self._worker = None
        return WorkerEnded(why)


log: Final = logging.getLogger("abstrag.server")
REMEMBERED: Final = 200  # jobs whose end can still be asked for
_GRACE_S: Final = 10.0  # for the thread to see that the worker has ended


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """True when nothing more will happen."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@record
class IndexingJob:
    """The indexing of one uploaded file."""

    job: str
    name: str
    state: JobState = JobState.QUEUED
    step: str | None = None
    steps_done: int = 0
    steps_total: int = 0
    document: str | None = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Watcher:
    """Callbacks by which jobs report on their files."""

    began: Callable[[Path], None] = lambda _path: None
    ended: Callable[[Path], None] = lambda _path: None  # in whichever way
    failed: Callable[[Path], None] = lambda _path: None  # or was cancelled: nobody wants the file
    over: Callable[[str], None] = lambda _state: None  # with how it ended
    set_aside: Callable[[Path, str], AbstragError] = lambda path, why: TooCostly(
        f"{path.name!r} was given up: {why}"
    )


class Jobs:
    """Accepts files, indexes one after the other, and reports progress."""

    def __init__(
        self,
        store: Target,
        *,
        waiting: int,
        max_bytes: int,
        budget: DocumentBudget,
        watcher: Watcher,
    ) -> None:
        settings = Settings(max_file_bytes=max_bytes)
        self._worker = IndexingProcess(WorkspaceConfig(store, settings=settings, budget=budget))
        self._watcher = watcher
        self._running: str | None = None
        self._jobs: OrderedDict[str, IndexingJob] = OrderedDict()
        self._paths: dict[str, Path] = {}  # of jobs that are not over
        self._lock = Lock()
        self._queue: Queue[tuple[str, Path, bool] | None] = Queue(waiting)
        self._closing = False
        self._thread = Thread(target=self._run, name="indexing", daemon=True)
        self._thread.start()

    def require_room(self) -> None:
        """Raise an error if the queue is full now; it may fill up before the file comes.

        Raises:
            TooBusy: The queue is full.
        """
        if self._queue.full():
            raise self._too_busy()

    def submit(self, path: Path, *, retry: bool = False) -> IndexingJob:
        """Put a file into the queue; `retry` also accepts a quarantined one.

        Raises:
            TooBusy: The queue is full.
        """
        job = IndexingJob(token_hex(8), path.name)
        self._set(job)
        try:
            self._queue.put_nowait((job.job, path, retry))
        except Full:
            with self._lock:
                del self._jobs[job.job]
            raise self._too_busy() from None
        with self._lock:
            self._paths[job.job] = path
        return job

    def cancel(self, name: str) -> IndexingJob:
        """End a job that waits or runs; one that is over stays as it is."""
        with self._lock:
            job = self._known(name)
            if job.state.over:
                return job
            job = self._jobs[name] = replace(job, state=JobState.CANCELLED)
            path = self._paths.pop(name)
            if self._running == name:  # its thread does the rest
                self._worker.kill()
                return job
        self._watcher.failed(path)
        return job

    def _too_busy(self) -> TooBusy:
        return TooBusy(
            f"{self._queue.maxsize} files are waiting to be indexed already",
            hint="try again when some of them are done",
        )

    def get(self, name: str) -> IndexingJob:
        """Return a job as it stands now."""
        with self._lock:
            return self._known(name)

    def _known(self, name: str) -> IndexingJob:
        if name not in self._jobs:
            raise NotThere(f"there is no job {name!r}", hint="it may have ended long ago")
        return self._jobs[name]

    def close(self) -> None:
        """End the worker; what it had finished of a file is in the store and need not be redone."""
        self._closing = True
        self._worker.end()
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put(None)
        self._thread.join(_GRACE_S)
        self._worker.close()  # only now does nobody listen to it

    def _run(self) -> None:
        while (entry := self._queue.get()) is not None:
            name, path, retry = entry
            with self._lock:
                job = self._jobs.get(name)
                if job is None or job.state.over:  # cancelled while it waited
                    continue
                self._running = name
            _tell(self._watcher.began, path)
            job = self._done(job, path, retry=retry)
            with self._lock:
                self._running = None
                self._paths.pop(name, None)
                cancelled = self._jobs[name].state is JobState.CANCELLED
            if (cancelled or job.state is JobState.FAILED) and not self._closing:
                _tell(self._watcher.failed, path)
            _tell(self._watcher.ended, path)
            self._watcher.over("cancelled" if cancelled else job.state.value)
            if not cancelled:
                self._set(job)  # its end is told when there is nothing left to do about it

    def _done(self, job: IndexingJob, path: Path, *, retry: bool) -> IndexingJob:
        """Index a file and return its job as it ended."""
        try:
            for said in self._worker.index(path, retry=retry):
                job = _after(job, said)
                if not job.state.over:
                    self._set(job)
        except WorkerEnded as ended:
            given_up = not self._closing and self.get(job.job).state is not JobState.CANCELLED
            error = self._set_aside(path, ended) if given_up else ended.error(path)
            return replace(job, state=JobState.FAILED, error=told(error))
        except AbstragError as error:
            return replace(job, state=JobState.FAILED, error=told(error))
        return job

    def _set_aside(self, path: Path, ended: WorkerEnded) -> AbstragError:
        """Quarantine a file, if the disk accepts the entry."""
        try:
            return self._watcher.set_aside(path, ended.why)
        except (OSError, AbstragError) as error:
            log.error("%s could not be set aside: %s", path.name, error)
            return ended.error(path)

    def _set(self, job: IndexingJob) -> None:
        with self._lock:
            before = self._jobs.get(job.job)
            if before is not None and before.state is JobState.CANCELLED:
                return
            self._jobs[job.job] = job
            over = [name for name, one in self._jobs.items() if one.state.over]
            for name in over[: max(0, len(over) - REMEMBERED)]:
                del self._jobs[name]


def _tell(watcher: Callable[[Path], None], path: Path) -> None:
    """Call back about a file; an error of the disk must not stop the next files."""
    try:
        watcher(path)
    except (OSError, AbstragError) as error:
        log.error("%s: %s", path.name, error)


def _after(job: IndexingJob, said: dict[str, Any]) -> IndexingJob:
    """Return the job after an event of the worker."""
    if "step" in said:
        return replace(
            job,
            state=JobState.RUNNING,
            step=said["step"],
            steps_done=said["done"],
            steps_total=said["total"],
        )
    if "error" in said:
        return replace(job, state=JobState.FAILED, error=said["error"])
    return replace(
        job,
        state=JobState.DONE,
        step=None,
        steps_done=job.steps_total,
        document=said["document"],
    )
