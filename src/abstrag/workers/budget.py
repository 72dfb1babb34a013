"""What one piece of work may cost, held by the operating system in the process that does it.

A processor limit ends the process with a signal, whatever library it is in. A memory limit makes
an allocation fail, which Python raises as `MemoryError`. Both count from the start of the piece of
work, so that what a worker has loaded before is not charged to it.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from abstrag.config import Budget

CPU_SPENT: Final = "it used all the processor seconds it may (limit MAX_CPU_SECONDS)"
TIME_SPENT: Final = "it took longer than {:g} s (limit MAX_SECONDS)"
MEMORY_SPENT: Final = "it needed more memory than it may (limit MAX_MEMORY_BYTES)"
HINT: Final = "raise the limits (docs/limits.md) and free it with --retry, or leave the file out"

_PAGES: Final = Path("/proc/self/statm")


class Spent(BaseException):
    """A piece of work has used up its budget, and the process is of no more use.

    It is no `Exception`: code that survives any error of a document must not survive this one.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@contextmanager
def within(budget: Budget) -> Iterator[None]:
    """Hold a piece of work to its budget of processor time and memory.

    Processor time that runs out ends the process by SIGXCPU. Systems that do not say how large a
    process is have no limit of memory here; wall time is for whoever waits for the process.

    Raises:
        Spent: There was no more memory to be had.
    """
    before = resource.getrusage(resource.RUSAGE_SELF)
    used = before.ru_utime + before.ru_stime
    _limit(resource.RLIMIT_CPU, math.ceil(used + budget.cpu_seconds))
    size = _size()
    if size is not None:
        _limit(resource.RLIMIT_AS, size + budget.memory_bytes)
    try:
        yield
    except MemoryError:
        raise Spent(MEMORY_SPENT) from None
    finally:
        for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
            _limit(kind, resource.RLIM_INFINITY)


def _limit(kind: int, most: int) -> None:
    """Set the limit that may be raised again; one that the system has set already stays."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (most == resource.RLIM_INFINITY or most > hard):
        most = hard
    with suppress(ValueError, OSError):  # not every system has every limit
        resource.setrlimit(kind, (most, hard))


def _size() -> int | None:
    """Return how many bytes of addresses this process has; None where the system does not say."""
    try:
        return int(_PAGES.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return None
