"""How far a worker is with its item: what the work tells, and who hears it.

The work calls `tell` without knowing where it runs. In a worker process the parent hears it;
anywhere else nobody does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OnTold = Callable[[Any, Any], None]  # an item, and what its worker tells of it


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
