"""What this process holds in memory: the values used last, and how often Python clears cycles.

Python looks for objects that only hold one another whenever some hundred have been made. Records
are made by the thousand and none holds another that holds it, so most of this looking is in vain.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock
from typing import Final, Generic, TypeVar

_RARELY: Final = 50_000  # objects made before Python looks again
_TURN: Final = Lock()
_usual: list[tuple[int, int, int]] = []  # what to go back to, once for each that runs


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python from looking for cycles: for a short piece of work that makes none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def relax_collector() -> None:
    """Let Python look for cycles rarely from now on: in a process that does nothing but index.

    Going back to the usual after each document would let it look at once, for by then more than
    usual have been made.
    """
    with _TURN:
        gc.freeze()
        gc.set_threshold(_RARELY, *gc.get_threshold()[1:])


@contextmanager
def collector_relaxed() -> Iterator[None]:
    """Let Python look for cycles rarely; several threads may be in here at a time."""
    with _TURN:
        _usual.append(_usual[-1] if _usual else gc.get_threshold())
        gc.set_threshold(_RARELY, *_usual[-1][1:])
    try:
        yield
    finally:
        with _TURN:
            usual = _usual.pop()
            if not _usual:
                gc.set_threshold(*usual)


V = TypeVar("V")


class LruCache(Generic[V]):
    """A small cache: what was used longest ago goes first.

    The first thread that asks for a key makes the value; the others wait for that one. A value
    that cannot be made is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Future[V]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key, making it when it is not there."""
        with self._lock:
            found = self._made.get(key)
            future: Future[V] = found if found is not None else Future()
            self._made[key] = future
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        if found is None:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    if self._made.get(key) is future:
                        del self._made[key]
                future.set_exception(error)
                raise
        return future.result()

    def values(self) -> tuple[V, ...]:
        """Return the values that are made and still kept, the one used longest ago first."""
        with self._lock:
            made = list(self._made.values())
        return tuple(future.result() for future in made if future.done())

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)
