"""Indexing in the background: a bounded queue, one worker process, and states to look at."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from queue import Full, Queue
from secrets import token_hex
from threading import Lock, Thread, Timer
from typing import Any, Final

from abstrag.errors import AbstragError, DocumentError
from abstrag.model.record import record
from abstrag.server.refusals import NotThere, TooBusy, told
from abstrag.stores.open import Target

REMEMBERED: Final = 200  # jobs whose end can still be asked for
_GRACE_S: Final = 5.0  # for the worker to end by itself


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"

    @property
    def over(self) -> bool:
        """True when nothing more will happen."""
        return self in (JobState.DONE, JobState.FAILED)


@record
class Job:
    """One file on its way into the store."""

    job: str
    name: str
    state: JobState = JobState.QUEUED
    step: str | None = None
    steps_done: int = 0
    steps_total: int = 0
    document: str | None = None
    error: dict[str, Any] | None = None


class Jobs:
    """Takes files in, indexes one after the other, and says how far it is."""

    def __init__(
        self,
        store: Target,
        *,
        waiting: int,
        max_bytes: int,
        limit_s: float,
        on_failure: Callable[[Path], None] = lambda _path: None,
    ) -> None:
        self._worker = _Worker(store, max_bytes, limit_s)
        self._on_failure = on_failure
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = Lock()
        self._queue: Queue[tuple[str, Path] | None] = Queue(waiting)
        self._closing = False
        self._thread = Thread(target=self._run, name="indexing", daemon=True)
        self._thread.start()

    def submit(self, path: Path) -> Job:
        """Put a file into the queue.

        Raises:
            TooBusy: The queue is full.
        """
        job = Job(token_hex(8), path.name)
        self._set(job)
        try:
            self._queue.put_nowait((job.job, path))
        except Full:
            with self._lock:
                del self._jobs[job.job]
            raise TooBusy(
                f"{self._queue.maxsize} files are waiting to be indexed already",
                hint="try again when some of them are done",
            ) from None
        return job

    def get(self, name: str) -> Job:
        """Return a job as it stands now."""
        with self._lock:
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
        self._thread.join(2 * _GRACE_S)
        self._worker.close_pipes()  # only now does nobody read from them

    def _run(self) -> None:
        while (entry := self._queue.get()) is not None:
            name, path = entry
            job = self.get(name)
            try:
                for said in self._worker.index(path):
                    job = _after(job, said)
                    if not job.state.over:
                        self._set(job)
            except AbstragError as error:
                job = replace(job, state=JobState.FAILED, error=told(error))
            if job.state is JobState.FAILED and not self._closing:
                self._on_failure(path)
            self._set(job)  # its end is told when there is nothing left to do about it

    def _set(self, job: Job) -> None:
        with self._lock:
            self._jobs[job.job] = job
            over = [name for name, one in self._jobs.items() if one.state.over]
            for name in over[: max(0, len(over) - REMEMBERED)]:
                del self._jobs[name]


def _after(job: Job, said: dict[str, Any]) -> Job:
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


class _Worker:
    """The worker process, started when there is something to do and again when it died."""

    def __init__(self, store: Target, max_bytes: int, limit_s: float) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._limit_s = limit_s
        self._lock = Lock()
        self._ended = False
        self._process: subprocess.Popen[str] | None = None

    def index(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield what the worker says about a file, its last word included."""
        process = self._started()
        timer = Timer(self._limit_s, process.kill)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"path": str(path)}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                said = json.loads(line)
                yield said
                if "step" not in said:
                    return
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        raise DocumentError(
            f"indexing {path.name!r} was ended before it was done",
            hint=f"it may need too much memory, or more than {self._limit_s:g} seconds",
        )

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
                opening = {"store": str(self._store), "max_bytes": self._max_bytes}
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
            process.wait(_GRACE_S)
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
