"""How a file of ours is locked: by the system, so that a lock falls open when its process dies."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

_PAUSE_S: Final = 0.05  # Windows tells nobody when a lock is free


@contextmanager
def file_locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock that only those respect who ask for it; the file is made where there is none.

    Raises:
        BlockingIOError: Somebody else holds it, and `wait` is False.
        OSError: The file cannot be written.
    """
    take = _taker()
    with path.open("w") as handle:
        while not take(handle.fileno(), wait):
            if not wait:
                raise BlockingIOError(f"{str(path)!r} is locked")
            time.sleep(_PAUSE_S)
        yield


def _taker() -> Callable[[int, bool], bool]:
    """Return how this system locks a file: by `flock`, or by the first byte on Windows."""
    try:
        return _by_flock(importlib.import_module("fcntl"))
    except ImportError:
        return _by_first_byte(importlib.import_module("msvcrt"))


def _by_flock(fcntl: ModuleType) -> Callable[[int, bool], bool]:
    def take(descriptor: int, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    return take


def _by_first_byte(msvcrt: ModuleType) -> Callable[[int, bool], bool]:
    def take(descriptor: int, _wait: bool) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    return take
