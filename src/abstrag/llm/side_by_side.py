"""Doing several calls at a time, and stopping all of them at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from abstrag.errors import ModelError, OverBudget

_GLANCE_S: Final = 0.1
_FAREWELL_S: Final = 2.0  # how long an interrupt waits for calls under way to let go

Asked = TypeVar("Asked")
Got = TypeVar("Got")


def side_by_side(
    complete: Callable[[Asked, threading.Event], Got], requests: Sequence[Asked], *, at_most: int
) -> list[Got | ModelError]:
    """Complete requests in threads; results are in the order of the requests.

    A `ModelError` stands in the place of its request. `OverBudget` lets the calls under way finish
    and is raised then. Anything else, an interrupt above all, calls them off and is raised at once.
    The threads are daemons, so not even a thread that hangs keeps the program from ending.

    Args:
        complete: Completes one; it should end at once when the event it is given is set.
        requests: What is to be completed.
        at_most: How many at a time.
    """
    batch = _Batch(complete, requests)
    threads = [
        threading.Thread(target=batch.work, name=f"model-{number}", daemon=True)
        for number in range(min(at_most, len(requests)))
    ]
    try:
        for thread in threads:
            thread.start()
        return batch.gathered(threads)
    except BaseException:
        batch.enough.set()
        batch.stop.set()
        for thread in threads:
            if thread.is_alive():
                thread.join(_FAREWELL_S / len(threads))
        raise


class _Batch(Generic[Asked, Got]):
    """Requests on their way through the threads."""

    def __init__(
        self, complete: Callable[[Asked, threading.Event], Got], requests: Sequence[Asked]
    ) -> None:
        self.stop = threading.Event()  # ends what is under way
        self.enough = threading.Event()  # begins nothing more
        self._complete = complete
        self._requests = requests
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[int, Got | BaseException]] = queue.SimpleQueue()
        for number in range(len(requests)):
            self._waiting.put(number)

    def work(self) -> None:
        """Take requests until there are no more."""
        while not self.enough.is_set():
            try:
                number = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self._done.put((number, self._complete(self._requests[number], self.stop)))
            except BaseException as error:  # it is raised in the caller's thread
                if isinstance(error, OverBudget):
                    self.enough.set()
                self._done.put((number, error))

    def gathered(self, threads: Sequence[threading.Thread]) -> list[Got | ModelError]:
        """Wait for all results, in small pieces so that an interrupt gets through."""
        results: dict[int, Got | ModelError] = {}
        over: OverBudget | None = None
        while len(results) < len(self._requests):
            working = any(thread.is_alive() for thread in threads)
            try:
                wait = _GLANCE_S if working else 0.0
                number, result = self._done.get(timeout=wait)
            except queue.Empty:
                if working:
                    continue
                break
            if isinstance(result, OverBudget):
                over = over or result
            elif isinstance(result, ModelError) or not isinstance(result, BaseException):
                results[number] = result
            else:
                raise result
        if over is not None:
            raise over
        return [results[number] for number in range(len(self._requests))]
