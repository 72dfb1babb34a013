"""The words by which statements contradict each other, read from `words.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from abstrag.errors import ResourceMissing

_FILE: Final = "words.toml"


@dataclass(frozen=True, slots=True)
class ContradictionWords:
    """Negations, directions on scales, and parties that stand opposite each other."""

    negations: frozenset[str]  # words that deny what they belong to
    denying: frozenset[str]  # verbs and adjectives that deny what depends on them
    reservations: frozenset[str]  # words after which a negation does not hold as it stands
    directions: Mapping[str, tuple[tuple[str, int], ...]]  # word → its scales, +1 up or −1 down
    counterparts: Mapping[str, frozenset[str]]  # party → those opposite it


@cache
def vocabulary() -> ContradictionWords:
    """Read the words that ship with the package.

    Raises:
        ResourceMissing: The file is missing or damaged.
    """
    try:
        text = resources.files("abstrag.engine.contradictions").joinpath(_FILE).read_text("utf-8")
        return _of(tomllib.loads(text))
    except (OSError, ValueError, KeyError) as error:
        raise ResourceMissing(
            f"the words in {_FILE!r} cannot be read: {error}", hint="install the package again"
        ) from error


def _of(data: Mapping[str, Any]) -> ContradictionWords:
    directions: dict[str, list[tuple[str, int]]] = {}
    for name, scale in data["scales"].items():
        for side, sign in (("up", 1), ("down", -1)):
            for word in scale[side].split():
                directions.setdefault(word, []).append((name, sign))
    opposite: dict[str, set[str]] = {}
    for pair in data["parties"]["opposite"]:
        for one in pair:
            opposite.setdefault(one, set()).update(other for other in pair if other != one)
    words = data["negation"]
    return ContradictionWords(
        negations=frozenset(words["words"].split()),
        denying=frozenset(words["denying"].split()),
        reservations=frozenset(words["reservations"].split()),
        directions={word: tuple(scales) for word, scales in directions.items()},
        counterparts={name: frozenset(others) for name, others in opposite.items()},
    )
