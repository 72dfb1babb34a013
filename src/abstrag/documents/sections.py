"""Section paths: which headings stand above a block."""

from __future__ import annotations

from typing import Final

TITLE: Final = 0  # the level of a document's title: a heading, but no section


class Sections:
    """Follows the headings of a document and knows the path to where we are.

    A heading closes every open section of its own level or deeper. Levels may be skipped, as
    people do; a title stands above all sections and is not part of any path.
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above the next block, outermost first."""
        return tuple(heading for _, heading in self._open)

    def enter(self, level: int, heading: str) -> tuple[str, ...]:
        """Open a section and return the path above its heading."""
        self.leave(level)
        above = self.path
        if level > TITLE:
            self._open.append((level, heading))
        return above

    def leave(self, level: int) -> None:
        """Close every section of this level or deeper."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
