"""From source characters to reading text: white space folded, hyphens at line ends healed.

Every loader that has a source text and a range of it uses this, so that there is one answer to the
question how a quotation's offsets map back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from abstrag.model.document import OffsetMap

_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BREAK: Final = re.compile(r"[-‐\u00ad][ \t]*\r?\n[ \t]*([^\W_]+)")  # what follows half a word
_PIECE: Final = re.compile(r"[^\s\u00ad]+|(?P<space>\s+)")  # soft hyphens are left out


class Hyphens:
    r"""Decides, for one document, whether a hyphen at a line end belongs to the word.

    The document itself is the dictionary: "well-\nknown" keeps its hyphen when the text writes
    "well-known" elsewhere, and loses it when it writes "wellknown", or neither.
    """

    def __init__(self, source: str) -> None:
        self._words = frozenset(w.casefold() for w in _WORD.findall(_without_broken(source)))

    def keep(self, left: str, right: str) -> bool:
        """True when `left-right` is one hyphenated word, False when the hyphen is a line break."""
        if not right[:1].islower():
            return True
        joined, hyphenated = f"{left}{right}".casefold(), f"{left}-{right}".casefold()
        return hyphenated in self._words and joined not in self._words


def reading_text(
    source: str, ranges: Iterable[tuple[int, int]], hyphens: Hyphens | None = None
) -> tuple[str, OffsetMap]:
    """Return how the given ranges of the source read, and how that maps back.

    Ranges are in source order and leave out what is not read (mark-up, a running header). Runs of
    white space become one space; the ends are trimmed; soft hyphens vanish; with `hyphens`, words
    broken at line ends are joined.
    """
    pieces: list[str] = []
    runs: list[tuple[int, int]] = []
    length = 0
    pending: int | None = None  # offset of white space that waits for something to follow it

    def put(text: str, at: int) -> None:
        nonlocal length
        if not runs or runs[-1][1] + length - runs[-1][0] != at:
            runs.append((length, at))
        pieces.append(text)
        length += len(text)

    for start, end in ranges:
        for first, last in _unbroken(source, start, end, hyphens) if hyphens else ((start, end),):
            for match in _PIECE.finditer(source, first, last):
                if match.lastgroup is not None:
                    pending = match.start() if pending is None else pending
                    continue
                if pending is not None and pieces:
                    put(" ", pending)
                pending = None
                put(match.group(), match.start())
    text = "".join(pieces)
    return text, OffsetMap(tuple(runs) or ((0, 0),))


def _unbroken(source: str, start: int, end: int, hyphens: Hyphens) -> Iterator[tuple[int, int]]:
    """Go through the ranges that are left when broken words read as one."""
    for word in broken_words(source, start, end):
        left, right = source[word.start : word.hyphen], source[word.right : word.end]
        yield start, word.hyphen + (1 if hyphens.keep(left, right) else 0)
        start = word.right
    yield start, end


class BrokenWord(NamedTuple):
    """A word broken at a line end: where it starts, its hyphen, its second half, its end."""

    start: int
    hyphen: int
    right: int
    end: int


def broken_words(source: str, start: int, end: int) -> Iterator[BrokenWord]:
    """Go through the words that are broken at line ends; of three parts the first two are one.

    The hyphen is looked for first and the word then read backwards from it. A pattern that begins
    with the word would start again at each of its letters, which takes hours in a long one.
    """
    done = start
    for match in _BREAK.finditer(source, start, end):
        at = match.start()
        while at > done and source[at - 1].isalnum():
            at -= 1
        if at < match.start():
            yield BrokenWord(at, match.start(), *match.span(1))
            done = match.end()


def _without_broken(source: str) -> str:
    pieces: list[str] = []
    at = 0
    for word in broken_words(source, 0, len(source)):
        pieces += (source[at : word.start], " ")
        at = word.end
    return "".join((*pieces, source[at:]))


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


_LINE_BREAK: Final = re.compile(r"\r\n?|\n")


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
    for match in _LINE_BREAK.finditer(source, start):
        found.append(SourceLine(source[start : match.start()], start, match.start()))
        start = match.end()
    if start < len(source):
        found.append(SourceLine(source[start:], start, len(source)))
    return found
