"""Indexing in the background: a bounded queue, one worker process, and states to look at.

A file that goes over its budget ends the worker and nothing else; the next one gets a new worker.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from queue import Full, Queue
from secrets import token_hex
from threading import Lock, Thread, Timer
from typing import Any, Final

from abstrag.config import DocumentBudget
from abstrag.errors import AbstragError, DocumentError, TooCostly
from abstrag.model.record import record
from abstrag.server.answers import NotThere, TooBusy, told
from abstrag.stores.open import Target
from abstrag.workers.protocol import CPU_SPENT, TIME_SPENT, ended, ran_out_of_time

_END_GRACE_S: Final = 5.0  # for the worker to end by itself


class Ended(Exception):
    """The worker is gone, and its file with it; `why` tells what of."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why

    def error(self, path: Path) -> DocumentError:
        """Return what is said of the file where that is no reason to set it aside."""
        return DocumentError(f"indexing {path.name!r} was ended before it was done")


class IndexingProcess:
    """Hands files to the worker, one at a time, and listens to what it says."""

    def __init__(self, store: Target, max_bytes: int, budget: DocumentBudget) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._budget = budget
        self._lock = Lock()
        self._ended = False
        self._process: subprocess.Popen[str] | None = None

    def index(self, path: Path, *, retry: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what the worker says about a file, its last word included.

        Raises:
            Ended: The worker was ended, by a limit or by somebody.
        """
        process = self._started()
        late: list[bool] = []

        def end() -> None:
            late.append(True)
            process.kill()

        timer = Timer(self._budget.seconds, end)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"path": str(path), "retry": retry}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                said = json.loads(line)
                if "spent" in said:
                    self.kill()
                    raise Ended(said["spent"])
                yield said
                if "step" not in said:
                    return
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        raise Ended(TIME_SPENT.format(self._budget.seconds) if late else _why(process))

    def kill(self) -> None:
        """End the process at once; the next file starts another one."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _started(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._ended:
                raise DocumentError("the server is closing", hint="send the file again later")
            if self._process is None or self._process.poll() is not None:
                self.close_pipes()
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "abstrag.server.indexing_worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                )
                assert self._process.stdin is not None
                # not as an argument: an address may hold a password; sent with the first file
                opening = {
                    "store": str(self._store),
                    "max_bytes": self._max_bytes,
                    "budget": asdict(self._budget),
                }
                self._process.stdin.write(json.dumps(opening) + "\n")
            return self._process

    def end(self) -> None:
        """End the process, by asking first."""
        with self._lock:
            self._ended = True
            process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_END_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def close_pipes(self) -> None:
        """Let go of the pipes to a process that has ended."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # a request it did not live to read
                    pipe.close()


def _why(process: subprocess.Popen[str]) -> str:
    """Say what a process died of."""
    code = process.wait()
    if ran_out_of_time(code):
        return CPU_SPENT
    return f"its process ended {ended(code)}, perhaps for want of memory"


log: Final = logging.getLogger("abstrag.server")
REMEMBERED: Final = 200  # jobs whose end can still be asked for
_GRACE_S: Final = 10.0  # for the thread to see that the worker has ended


class JobState(StrEnum):
    """Where a job stands."""

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
    """One file on its way into the store."""

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
    """Whom jobs tell about their files."""

    began: Callable[[Path], None] = lambda _path: None
    ended: Callable[[Path], None] = lambda _path: None  # in whichever way
    failed: Callable[[Path], None] = lambda _path: None  # or was cancelled: nobody wants the file
    over: Callable[[str], None] = lambda _state: None  # with how it ended
    set_aside: Callable[[Path, str], AbstragError] = lambda path, why: TooCostly(
        f"{path.name!r} was given up: {why}"
    )


class Jobs:
    """Takes files in, indexes one after the other, and says how far it is."""

    def __init__(
        self,
        store: Target,
        *,
        waiting: int,
        max_bytes: int,
        budget: DocumentBudget,
        watcher: Watcher,
    ) -> None:
        self._worker = IndexingProcess(store, max_bytes, budget)
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
        """See that the queue takes another file; it may still be full when that comes.

        Raises:
            TooBusy: The queue is full.
        """
        if self._queue.full():
            raise self._too_busy()

    def submit(self, path: Path, *, retry: bool = False) -> IndexingJob:
        """Put a file into the queue; `retry` is for one that was set aside.

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
        self._worker.close_pipes()  # only now does nobody read from them

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
        except Ended as ended:
            given_up = not self._closing and self.get(job.job).state is not JobState.CANCELLED
            error = self._set_aside(path, ended) if given_up else ended.error(path)
            return replace(job, state=JobState.FAILED, error=told(error))
        except AbstragError as error:
            return replace(job, state=JobState.FAILED, error=told(error))
        return job

    def _set_aside(self, path: Path, ended: Ended) -> AbstragError:
        """Note that a file is not to be tried again, if the disk takes the note."""
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
    """Tell somebody about a file; a disk that takes no note must not stop the files to come."""
    try:
        watcher(path)
    except (OSError, AbstragError) as error:
        log.error("%s: %s", path.name, error)


def _after(job: IndexingJob, said: dict[str, Any]) -> IndexingJob:
    """Return the job after what the worker said."""
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
