"""What an engine promises, wherever its workers are, and what it asks of the work.

An engine does one thing to many items: side by side, with results in the order of the items, and
whatever happens to a worker. Work has to be idempotent, for an item may be begun more than once.

A worker is held to the budget of its item by the operating system: a processor limit ends the
process with a signal, a memory limit makes an allocation fail. The work may `tell` how far it is
without knowing where it runs; in a worker process the parent hears it.
"""

from __future__ import annotations

import importlib
import math
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol, TypeVar

from abstrag.config import DocumentBudget
from abstrag.errors import WorkerLost

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
OnProgress = Callable[[Any, Any], None]  # an item, and what its worker tells of it
CPU_SPENT: Final = "it used all the processor seconds it may (limit MAX_CPU_SECONDS)"
TIME_SPENT: Final = "it took longer than {:g} s (limit MAX_SECONDS)"
_MEMORY_SPENT: Final = "it needed more memory than it may (limit MAX_MEMORY_BYTES)"
HINT: Final = "raise the limits (docs/limits.md) and free it with --retry, or leave the file out"
_PAGES: Final = Path("/proc/self/statm")


class WorkerTask(Protocol[Item_contra, Result_co]):
    """What is to be done to every item; it is pickled once for each worker."""

    def start(self) -> Callable[[Item_contra], Result_co]:
        """Load what every item needs, once in a worker, and return what does one item."""
        ...


@dataclass(frozen=True, slots=True)
class LostItem:
    """In place of a result: the item ended its worker twice, or went over its budget.

    `why` is the reason alone, for whoever sets such items aside.
    """

    error: WorkerLost
    why: str = ""


class Engine(Protocol):
    """Does a task to items with several workers."""

    @property
    def workers(self) -> int:
        """How many workers there are at most."""
        ...

    def run(
        self, task: WorkerTask[Item, Result], items: Iterable[Item]
    ) -> Generator[tuple[Item, Result | LostItem]]:
        """Yield every item with its result, in the order of the items.

        Items are drawn as workers get free and results are handed over as they come, so that no
        more than a window of them is ever in memory. What the task raises is raised here. Closing
        the iterator ends every worker.

        Raises:
            WorkerLost: No worker can be started, or each dies at once.
        """
        ...


# --- What the loop asks of a pool: workers of one kind --------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A worker has loaded what it needs and takes items."""

    worker: int


@dataclass(frozen=True, slots=True)
class ItemDone:
    """A worker has done the oldest item it had."""

    worker: int
    result: Any


@dataclass(frozen=True, slots=True)
class TaskRaised:
    """The task raised: on the oldest item a worker had, or already when it was started."""

    worker: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """A worker is gone, with every item it had."""

    worker: int
    how: str


@dataclass(frozen=True, slots=True)
class ItemOverBudget:
    """The oldest item of a worker used up its budget; another try would cost as much again."""

    worker: int
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A worker tells how far it is with the oldest item it has."""

    worker: int
    what: Any


Event = WorkerReady | ItemDone | TaskRaised | WorkerDied | ItemOverBudget | Progress


class WorkerPool(Protocol):
    """Workers of one kind. They do items in the order they are given; the loop decides which."""

    def start_worker(self) -> int:
        """Begin to start a worker and return its number; it says when it is ready."""
        ...

    def submit(self, worker: int, item: Any) -> None:
        """Give an item to a worker; if the worker is gone, a later event says so."""
        ...

    def wait(self, seconds: float | None) -> list[Event]:
        """Return what happened, at least one event unless the time is up."""
        ...

    def stop_worker(self, worker: int) -> None:
        """End a worker at once, if it is still there; it sends no further events."""
        ...

    def close(self) -> None:
        """End every worker; nobody is left behind."""
        ...


def ignore_progress(_item: Any, _told: Any) -> None:
    """Ignore progress."""


class _Line:
    """The callback that receives what this process reports."""

    def __init__(self) -> None:
        self.send: Callable[[Any], None] | None = None


_LINE = _Line()


def tell(told: Any) -> None:
    """Report progress on the current item of this process; the value must be picklable."""
    if _LINE.send is not None:
        _LINE.send(told)


def connect(send: Callable[[Any], None]) -> None:
    """Set the callback that receives what this process reports."""
    _LINE.send = send


def _limits_of_unix() -> ModuleType | None:
    """Return the module that sets limits, or None on Windows, which has no such limits."""
    try:
        return importlib.import_module("resource")
    except ImportError:
        return None


class BudgetSpent(BaseException):
    """A piece of work has used up its budget, and the process must end.

    It is no `Exception`: code that survives any error of a document must not survive this one.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def ended(exit_code: int | None) -> str:
    """Describe how a process ended, from its exit code."""
    if exit_code is not None and exit_code < 0:
        return f"by {signal.Signals(-exit_code).name}"
    return f"with exit code {exit_code}"


def ran_out_of_time(exit_code: int | None) -> bool:
    """Tell whether a process was ended by its limit of processor time."""
    spent = getattr(signal, "SIGXCPU", None)  # Windows has no such limit
    return spent is not None and exit_code == -spent


@contextmanager
def within(budget: DocumentBudget) -> Iterator[None]:
    """Limit a piece of work to its budget of processor time and memory.

    Processor time that runs out ends the process by SIGXCPU. Systems that do not say how large a
    process is have no limit of memory here, and Windows has neither; wall time is for whoever
    waits for the process, on every system.

    Raises:
        BudgetSpent: There was no more memory to be had.
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
        raise BudgetSpent(_MEMORY_SPENT) from None
    finally:
        if resource is not None:
            for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
                _limit(resource, kind, resource.RLIM_INFINITY)


def _limit(resource: ModuleType, kind: int, most: int) -> None:
    """Set the soft limit; a stricter limit that is set already stays."""
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
