"""What one piece of work may cost, held by the operating system in the process that does it.

A processor limit ends the process with a signal, whatever library it is in. A memory limit makes
an allocation fail, which Python raises as `MemoryError`. Both count from the start of the piece of
work, so that what a worker has loaded before is not charged to it.
"""

from __future__ import annotations

import importlib
import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Final

from abstrag.config import DocumentBudget

CPU_SPENT: Final = "it used all the processor seconds it may (limit MAX_CPU_SECONDS)"
TIME_SPENT: Final = "it took longer than {:g} s (limit MAX_SECONDS)"
MEMORY_SPENT: Final = "it needed more memory than it may (limit MAX_MEMORY_BYTES)"
HINT: Final = "raise the limits (docs/limits.md) and free it with --retry, or leave the file out"

_PAGES: Final = Path("/proc/self/statm")


def _limits_of_unix() -> ModuleType | None:
    """Return the module that sets limits, or None on Windows, which has no such limits."""
    try:
        return importlib.import_module("resource")
    except ImportError:
        return None


class Spent(BaseException):
    """A piece of work has used up its budget, and the process is of no more use.

    It is no `Exception`: code that survives any error of a document must not survive this one.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def ended(exit_code: int | None) -> str:
    """Say how a process came to its end, as the system tells it."""
    if exit_code is not None and exit_code < 0:
        return f"by {signal.Signals(-exit_code).name}"
    return f"with exit code {exit_code}"


def ran_out_of_time(exit_code: int | None) -> bool:
    """Tell whether a process was ended by its limit of processor time."""
    spent = getattr(signal, "SIGXCPU", None)  # Windows has no such limit
    return spent is not None and exit_code == -spent


@contextmanager
def within(budget: DocumentBudget) -> Iterator[None]:
    """Hold a piece of work to its budget of processor time and memory.

    Processor time that runs out ends the process by SIGXCPU. Systems that do not say how large a
    process is have no limit of memory here, and Windows has neither; wall time is for whoever
    waits for the process, on every system.

    Raises:
        Spent: There was no more memory to be had.
    """
    resource = _limits_of_unix()
    if resource is not None:
        before = resource.getrusage(resource.RUSAGE_SELF)
        used = before.ru_utime + before.ru_stime
        _limit(resource, resource.RLIMIT_CPU, math.ceil(used + budget.cpu_seconds))
        size = _size(resource)
        if size is not None:
            _limit(resource, resource.RLIMIT_AS, size + budget.memory_bytes)
    try:
        yield
    except MemoryError:
        raise Spent(MEMORY_SPENT) from None
    finally:
        if resource is not None:
            for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
                _limit(resource, kind, resource.RLIM_INFINITY)


def _limit(resource: ModuleType, kind: int, most: int) -> None:
    """Set the limit that may be raised again; one that the system has set already stays."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (most == resource.RLIM_INFINITY or most > hard):
        most = hard
    with suppress(ValueError, OSError):  # not every system has every limit
        resource.setrlimit(kind, (most, hard))


def _size(resource: ModuleType) -> int | None:
    """Return how many bytes of addresses this process has; None where the system does not say."""
    try:
        pages = int(_PAGES.read_text().split()[0])
        return pages * int(resource.getpagesize())
    except (OSError, ValueError, IndexError):
        return None
