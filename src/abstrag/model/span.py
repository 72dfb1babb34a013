"""Where something stands: spans in the source text, and how reading text maps back onto it."""

from __future__ import annotations

from bisect import bisect_right

from abstrag.model.record import record


@record
class Span:
    """A half-open range of characters in a document's text: `text[start:end]`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"no span: {self.start}..{self.end}")

    def of(self, text: str) -> str:
        """Return the characters the span covers."""
        return text[self.start : self.end]


@record
class OffsetMap:
    """Maps offsets of a reading text onto the source it was made from.

    A run `(a, b)` says: from offset `a` of the reading text on, character `a + i` is character
    `b + i` of the source, until the next run begins. Both sides only ever grow, so a healed
    hyphen or a dropped mark-up character is a new run, and a line break that became a space is not.
    """

    runs: tuple[tuple[int, int], ...]

    def at(self, offset: int) -> int:
        """Return the source offset of one character of the reading text."""
        i = bisect_right(self.runs, offset, key=lambda run: run[0]) - 1
        a, b = self.runs[max(i, 0)]
        return b + offset - a

    def locate(self, start: int, end: int) -> Span:
        """Return the source span of `reading_text[start:end]`."""
        first = self.at(start)
        return Span(first, max(first, self.at(end - 1) + 1) if end > start else first)

    def cut(self, start: int, end: int) -> OffsetMap:
        """Return the alignment of `reading_text[start:end]` taken as a text of its own."""
        inner = tuple((a - start, b) for a, b in self.runs if start < a < end)
        return OffsetMap(((0, self.at(start)), *inner))


@record
class Quote:
    """A piece of text and where it stands; a header cell, a caption, a date line."""

    text: str
    span: Span
