"""What an engine promises, wherever its workers are, and what it asks of the work.

An engine does one thing to many items: side by side, with results in the order of the items, and
whatever happens to a worker. Work has to be idempotent, for an item may be begun more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from abstrag.errors import WorkerLost

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
OnTold = Callable[[Any, Any], None]  # an item, and what its worker tells of it


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


# --- What the loop asks of a crew: workers of one kind --------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded what it needs and takes items."""

    worker: int


@dataclass(frozen=True, slots=True)
class ItemDone:
    """A worker has done the oldest item it had."""

    worker: int
    result: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The task raised: on the oldest item a worker had, or already when it was started."""

    worker: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class Died:
    """A worker is gone, with every item it had."""

    worker: int
    how: str


@dataclass(frozen=True, slots=True)
class ItemOverBudget:
    """The oldest item of a worker used up its budget; another try would cost as much again."""

    worker: int
    why: str


@dataclass(frozen=True, slots=True)
class Told:
    """A worker tells how far it is with the oldest item it has."""

    worker: int
    what: Any


Event = Ready | ItemDone | Raised | Died | ItemOverBudget | Told


class Crew(Protocol):
    """Workers of one kind. They do items in the order they are given; the loop decides which."""

    def hire(self) -> int:
        """Begin to start a worker and return its number; it says when it is ready."""
        ...

    def give(self, worker: int, item: Any) -> None:
        """Hand an item to a worker; one that is gone says so in its own time."""
        ...

    def wait(self, seconds: float | None) -> list[Event]:
        """Return what happened, at least one event unless the time is up."""
        ...

    def dismiss(self, worker: int) -> None:
        """End a worker at once, if it is still there; nothing more is heard of it."""
        ...

    def close(self) -> None:
        """End every worker; nobody is left behind."""
        ...


def nobody(_item: Any, _told: Any) -> None:
    """Hear nothing."""


class _Line:
    """The way to whoever listens to this process."""

    def __init__(self) -> None:
        self.send: Callable[[Any], None] | None = None


_LINE = _Line()


def tell(told: Any) -> None:
    """Tell how far the item is that this process is at; it has to survive pickling."""
    if _LINE.send is not None:
        _LINE.send(told)


def connect(send: Callable[[Any], None]) -> None:
    """Let what is told in this process go somewhere."""
    _LINE.send = send
