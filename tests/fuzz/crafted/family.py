"""A family of crafted files: one idea of an attack, made in several sizes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Made = str | bytes | Mapping[str, bytes]  # a file, or several of which the first is the document
SMALL, MIDDLE, LARGE = (
    (10, 100, 1_000, 5_000),
    (10, 1_000, 10_000, 50_000),
    (1_000, 50_000, 300_000),
)


@dataclass(frozen=True, slots=True)
class Family:
    """What the files are, the suffix of their format, how one is made, and in which sizes."""

    name: str
    kind: str
    make: Callable[[int], Made]
    sizes: tuple[int, ...] = MIDDLE
