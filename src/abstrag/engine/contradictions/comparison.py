"""Directions that differ: "increased" in the claim, "decreased" in the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.engine.contradictions.figures import SHARED, SURE
from abstrag.engine.contradictions.polarity import denies
from abstrag.engine.contradictions.statement import Found, Statement, alike, coverage
from abstrag.engine.contradictions.vocabulary import vocabulary
from abstrag.model.answer import DifferenceKind

_THING: Final = frozenset({"NOUN", "PROPN", "VERB", "ADJ"})
_REACH: Final = 2  # steps in the parse from a direction to what it is said of


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction word, where it points on its scales, and the words it is tied to."""

    token: int
    scales: tuple[tuple[str, int], ...]
    tied: frozenset[tuple[str, str]]


def directions_of(statement: Statement) -> list[Direction]:
    """Return the direction words of a statement."""
    words, known = statement.words, vocabulary().directions
    found = []
    for i in range(words.size):
        scales = known.get(words.lower[i]) or known.get(words.key[i])
        if scales is None or (words.lower[i] in ("more", "less") and _bound(statement, i)):
            continue
        found.append(Direction(i, scales, _tied(statement, i)))
    return found


def _bound(statement: Statement, token: int) -> bool:
    """True for "more than 30", which is a bound of a figure and no direction."""
    words = statement.words
    after = words.lower[token + 1 : token + 2]
    return after == ["than"] and token + 2 < words.size and words.pos[token + 2] == "NUM"


def _tied(statement: Statement, token: int) -> frozenset[tuple[str, str]]:
    """Return the content words within a few steps of a direction word."""
    words = statement.words
    reached, edge = {token}, {token}
    for _ in range(_REACH):
        edge = {n for i in edge for n in (words.head[i], *words.children[i])} - reached
        reached |= edge
    return frozenset(
        (words.key[i], words.pos[i])
        for i in reached
        if i in statement.content and words.pos[i] in _THING and i != token
    )


def find_comparisons(claim: Statement, sentences: Sequence[Statement]) -> list[Found]:
    """Return the directions of a claim that sentences about the same thing turn around."""
    near = [(coverage(claim, one), one) for one in sentences]
    near = sorted((one for one in near if one[0] >= SHARED), key=lambda one: -one[0])
    if denies(claim) or any(denies(one) for _, one in near):
        return []  # "did not fall" may be "rose", or not
    for asked in directions_of(claim):
        opposite: list[tuple[float, Statement, Direction]] = []
        for shared, sentence in near:
            own = [(d, _meeting(asked, d)) for d in directions_of(sentence)]
            if any(met > 0 for _, met in own):
                opposite = []
                break
            opposite += [(shared, sentence, d) for d, met in own if met < 0 and _ties(asked, d)]
        if opposite:
            shared, sentence, direction = opposite[0]
            alone = len(opposite) == 1
            return [
                Found(
                    DifferenceKind.COMPARISON,
                    _shown(claim, asked),
                    _shown(sentence, direction),
                    alone and shared >= SURE,
                )
            ]
    return []


def _meeting(a: Direction, b: Direction) -> int:
    """Return 1 when two directions point the same way on some scale, −1 when only opposite ways."""
    ways = {x * y for name, x in a.scales for other, y in b.scales if name == other}
    return 0 if not ways else max(ways)


def _ties(a: Direction, b: Direction) -> int:
    """Return how many words of one direction's surroundings the other's have too."""
    return sum(any(alike(*x, *y) for y in b.tied) for x in a.tied)


def _shown(statement: Statement, direction: Direction) -> str:
    """Return a direction with the noun it modifies."""
    words, token = statement.words, direction.token
    inside = {token}
    if words.dep[token] == "amod" and token < words.head[token] <= token + 3:
        inside.add(words.head[token])
    return statement.shown(inside)
