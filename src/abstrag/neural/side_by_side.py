"""Many runs of one model on several cores, each run by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Protocol, TypeVar, runtime_checkable

from abstrag.errors import InputError

T = TypeVar("T")
R = TypeVar("R")


@runtime_checkable
class SideBySide(Protocol):
    """A model that several threads may ask at once."""

    @property
    def threads(self) -> int:
        """How many texts it reads side by side."""
        ...


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: the number asked for, or one for every core we may use."""
    if threads is not None and threads < 1:
        raise InputError(f"threads is {threads!r}", hint="at least 1, or None for every core")
    allowed = getattr(os, "sched_getaffinity", None)  # not every system limits a process to some
    return threads or (len(allowed(0)) if allowed else os.cpu_count() or 1)


def side_by_side(
    run: Callable[[T], R], items: Sequence[T], *, threads: int, size: Callable[[T], int]
) -> list[R]:
    """Return what `run` makes of each item, in their order.

    The largest are begun first, so that no core is left alone with one at the end. The runtime lets
    go of the interpreter while it works, so threads are enough.
    """
    workers = min(threads, len(items))
    if workers <= 1:
        return [run(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # loaded when a model runs, as the models are

    order = sorted(range(len(items)), key=lambda i: size(items[i]), reverse=True)
    contexts = [copy_context() for _ in order]  # what holds here holds in a thread
    pool = ThreadPoolExecutor(workers)
    try:
        made = pool.map(lambda context, i: context.run(run, items[i]), contexts, order)
        done = dict(zip(order, made, strict=True))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt need not wait for the rest
    return [done[i] for i in range(len(items))]
