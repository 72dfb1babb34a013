"""A cache of the values used last, each made once however many threads want it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

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
