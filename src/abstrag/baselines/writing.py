"""How a system turns its ranking into an answer: by the shared generator, or with a say in it.

The generator is the same for all. A method that has its own way with passages before or after
generation says so here, and gets the generator handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from abstrag.baselines.pool import Element
from abstrag.baselines.system import Ranked


@dataclass(frozen=True, slots=True)
class Written:
    """A generated answer or label; `decided` is False when the passages were not enough."""

    text: str
    decided: bool
    calls: int = 1  # to a model, that it took


Write = Callable[[Sequence[Element]], Written]  # one call of the shared generator


@runtime_checkable
class Writes(Protocol):
    """A system with a way of its own from a ranking to an answer."""

    @property
    def most_writes(self) -> int:
        """The most model calls one answer takes, those of the generator included."""
        ...

    def write(self, query: str, ranked: Ranked, top: int, write: Write) -> Written:
        """Return the answer from the first `top` elements of a ranking."""
        ...
