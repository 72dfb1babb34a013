"""How often Python looks for objects that only hold one another.

It looks whenever some hundred objects have been made. Records are made by the thousand and none
holds another that holds it, so that most of this looking finds nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

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
