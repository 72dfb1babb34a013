"""A text under construction in which every character knows where it came from."""

from __future__ import annotations

from collections.abc import Sequence

from abstrag.documents.reading import Hyphens, reading_text
from abstrag.model.span import OffsetMap


class Trace:
    """Collects pieces of a source, taken as they are or decoded, in source order."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.origins: list[int] = []
        self.end = 0  # where the last visible piece ends in the source, all of an entity included

    @property
    def text(self) -> str:
        """The characters collected so far."""
        return "".join(self._pieces)

    def __bool__(self) -> bool:
        return any(not piece.isspace() for piece in self._pieces if piece)

    def put(self, text: str, origins: Sequence[int], end: int | None = None) -> None:
        """Put characters whose origins are known one by one."""
        self._pieces.append(text)
        self.origins.extend(origins)
        shown = len(text.rstrip())
        if shown:
            self.end = end if end is not None else origins[shown - 1] + 1

    def keep(self, source: str, start: int, end: int) -> None:
        """Take `source[start:end]` as it is."""
        self.put(source[start:end], range(start, end))

    def decode(self, text: str, start: int, end: int) -> None:
        """Put what `source[start:end]` stands for: an entity, an accent, a macro."""
        last = max(start, end - 1)
        self.put(text, [min(start + i, last) for i in range(len(text))], end)

    def trim(self) -> None:
        """Take back white space at the end: what follows stands right behind the last word."""
        while self._pieces:
            kept = self._pieces[-1].rstrip()
            del self.origins[len(self.origins) - len(self._pieces[-1]) + len(kept) :]
            self._pieces[-1] = kept
            if kept:
                break
            self._pieces.pop()

    def read(self, hyphens: Hyphens | None = None) -> tuple[str, OffsetMap]:
        """Return how the collected text reads and where it stands in the source."""
        text, folded = reading_text(self.text, [(0, len(self.origins))], hyphens)
        return text, self.compose(folded, len(text))

    def verbatim(self) -> tuple[str, OffsetMap]:
        """Return the collected text as it is, white space and all."""
        text = self.text
        return text, self.compose(OffsetMap(((0, 0),)), len(text))

    def compose(self, alignment: OffsetMap, length: int) -> OffsetMap:
        """Turn an alignment of `length` characters onto this text into one onto the source.

        So a text can be made in two steps, each with a trace of its own, and spans still point
        into the first source.
        """
        runs: list[tuple[int, int]] = []
        ends = [a for a, _ in alignment.runs[1:]] + [length]
        for (first, b), end in zip(alignment.runs, ends, strict=True):
            for offset in range(first, end):
                at = self.origins[b + offset - first]
                if not runs or runs[-1][1] + offset - runs[-1][0] != at:
                    runs.append((offset, at))
        return OffsetMap(tuple(runs) or ((0, self.origins[0] if self.origins else 0),))
