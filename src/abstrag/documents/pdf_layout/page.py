"""What a page holds, in the coordinates of somebody who reads it.

x grows to the right, y grows downwards, and the text of the page stands upright, however the file
turns it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

View = Callable[[float, float, float, float], tuple[float, float, float, float]]


@dataclass(frozen=True, slots=True)
class CharacterStyle:
    """How a run of characters is set; `size` is what the reader sees, in points."""

    font: str
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False


@dataclass(slots=True)
class Word:
    """Characters of one style without a space in them.

    `glued` says that no space parts it from the word before: an exponent, a footnote mark, a bold
    stem.
    """

    text: str
    x0: float
    x1: float
    base: float
    style: CharacterStyle
    glued: bool = False

    @property
    def top(self) -> float:
        """Where capitals end."""
        return self.base - 0.75 * self.style.size

    @property
    def bottom(self) -> float:
        """Where descenders end."""
        return self.base + 0.22 * self.style.size


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A thin drawn line, or the edge of a filled bar, from one corner to the other."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def horizontal(self) -> bool:
        """True for a line that lies."""
        return self.x1 - self.x0 >= self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its upright words in the file's order, those turned on their side, and drawings.

    Of the drawings only those matter that tell something about the text: rules, the middles of
    small dots, which may be bullets, and whether there are any at all.
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    turned: tuple[Word, ...] = ()
    rules: tuple[DrawnLine, ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    drawn: bool = False
