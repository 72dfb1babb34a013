"""The environments that are open at a place of a LaTeX document."""

from __future__ import annotations

from collections import Counter

from abstrag.documents.latex_blocks import Place
from abstrag.documents.latex_commands import LISTS


class Environments:
    """A stack that knows how many of its lists are open without going through them."""

    def __init__(self) -> None:
        self._open: list[tuple[str, Place]] = []  # names, and the place to go back to
        self._names: Counter[str] = Counter()
        self.lists = 0

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, name: str, place: Place) -> None:
        """Open an environment in which blocks were of this place."""
        self._open.append((name, place))
        self._names[name] += 1
        self.lists += name in LISTS

    def end(self, name: str) -> Place | None:
        """Close an environment and what was left open inside; return the place to go back to."""
        if not self._names[name]:
            return None
        while True:
            closed, place = self._open.pop()
            self._names[closed] -= 1
            self.lists -= closed in LISTS
            if closed == name:
                return place
