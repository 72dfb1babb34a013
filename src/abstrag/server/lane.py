"""A lane: a few threads that do one kind of work, and a bounded line in front of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from abstrag.server.refusals import TooBusy

T = TypeVar("T")


class Lane:
    """Runs work in its own threads; who finds the line full is told to come back later.

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
