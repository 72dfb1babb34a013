"""The lines of a text with their offsets, the same for every kind of line break."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_BREAK: Final = re.compile(r"\r\n?|\n")


class SourceLine(NamedTuple):
    """One line without its line break: `source[start:end] == text`."""

    text: str
    start: int
    end: int

    @property
    def blank(self) -> bool:
        """True when the line shows nothing."""
        return not self.text.strip()

    @property
    def indent(self) -> int:
        """How far the line is indented; a tab goes to the next multiple of 4."""
        wide = self.text.expandtabs(4)
        return len(wide) - len(wide.lstrip())


def lines(source: str, start: int = 0) -> list[SourceLine]:
    """Cut a source into lines, from an offset on."""
    found: list[SourceLine] = []
    for match in _BREAK.finditer(source, start):
        found.append(SourceLine(source[start : match.start()], start, match.start()))
        start = match.end()
    if start < len(source):
        found.append(SourceLine(source[start:], start, len(source)))
    return found
