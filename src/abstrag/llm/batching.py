"""Batching: how many things are asked about in one call, and how long the reply may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abstrag.errors import InputError

_FRAME: Final = 128  # tokens of a reply about nothing
_MOST: Final = 4096
_ITEMS: Final = ("segments", "pairs")  # what programs are asked about


def room(inputs: Sequence[Mapping[str, Any]], each: int) -> int:
    """Return how many tokens a reply to any of these may take, at so many for each item.

    A reply about few things is kept short: a small model would fill whatever room there is.
    """
    items = max((len(one.get(name, ())) for one in inputs for name in _ITEMS), default=0)
    return min(_MOST, _FRAME + each * items)


@dataclass(frozen=True, slots=True)
class Batching:
    """Cuts a sequence into runs of neighbours by their number and by their tokens.

    Neighbours stay together and the cut depends on nothing but sizes, so an unchanged document is
    cut the same way again and its calls are found in the log.
    """

    tokens: int = 1600  # of the things themselves, not of the program around them
    items: int = 20

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.items < 1:
            raise InputError(
                f"a batch of {self.items} items and {self.tokens} tokens holds nothing"
            )

    def cut(self, sizes: Sequence[int], *, most: int | None = None) -> list[range]:
        """Return the runs; something larger than a batch has one of its own."""
        items = self.items if most is None else max(1, min(self.items, most))
        runs: list[range] = []
        first = filled = 0
        for place, size in enumerate(sizes):
            if place > first and (place - first == items or filled + size > self.tokens):
                runs.append(range(first, place))
                first, filled = place, 0
            filled += size
        if first < len(sizes):
            runs.append(range(first, len(sizes)))
        return runs
