"""The worker process of a server, started when there is something to do and again when it died."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock, Timer
from typing import Any, Final

from abstrag.config import DocumentBudget
from abstrag.errors import DocumentError
from abstrag.stores.open import Target
from abstrag.workers.budget import CPU_SPENT, TIME_SPENT, ended, ran_out_of_time

_GRACE_S: Final = 5.0  # for the worker to end by itself


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


def _why(process: subprocess.Popen[str]) -> str:
    """Say what a process died of."""
    code = process.wait()
    if ran_out_of_time(code):
        return CPU_SPENT
    return f"its process ended {ended(code)}, perhaps for want of memory"
