"""How much each literal of a query counts, and which stay when there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Final

from abstrag.config import EVENT_LITERAL_WEIGHT, MAX_LITERALS
from abstrag.model.query import Literal, LiteralKind
from abstrag.search.query.vocabulary import TermLookup

_SUBJECT: Final = 1.3  # what the question is about, against any other literal
_NAMED: Final = 1.25
_LIGHT: Final = 0.35  # words that say little wherever they stand
# Words of questions that hardly tell passages apart: what is asked for ("number", "kind"), and what
# any text does ("use", "describe").
_LIGHT_WORDS: Final = frozenset(
    "amount aspect detail example following information kind mean mention name number question "
    "reason section sort state thing type way describe discuss explain happen occur show turn base "
    "rely follow give get make use".split()
)


def weighted(
    literals: Sequence[Literal], vocabulary: TermLookup, *, subject: Literal | None = None
) -> tuple[Literal, ...]:
    """Weigh literals by type, importance and rarity, keep the most important, let weights sum to 1.

    Of too many, the subject stays whatever it weighs, then names, then numbers and times, then the
    heaviest of the rest.
    """
    merged: dict[tuple[str, ...], Literal] = {}
    for literal in literals:
        merged.setdefault(literal.terms, literal)
    raw = []
    for place, literal in enumerate(merged.values()):
        df, n = vocabulary.frequency(literal.terms), vocabulary.segments
        rarity = log(1 + (n - df + 0.5) / (df + 0.5))
        is_subject = subject is not None and literal.terms == subject.terms
        weight = _importance(literal, is_subject=is_subject) * rarity
        rank = 0 if is_subject else _RANKS.get(literal.kind, 3) if not is_light(literal) else 4
        raw.append((rank, weight, place, literal))
    kept = sorted(raw, key=lambda r: (r[0], -r[1], r[2]))[:MAX_LITERALS]
    kept.sort(key=lambda r: r[2])
    total = sum(weight for _, weight, _, _ in kept)
    return tuple(replace(literal, weight=weight / total) for _, weight, _, literal in kept)


_RANKS: Final = {LiteralKind.ENTITY: 1, LiteralKind.TIME: 2, LiteralKind.QUANTITY: 2}


def is_light(literal: Literal) -> bool:
    """True for a literal that hardly tells one passage from another."""
    return literal.kind in (LiteralKind.CONCEPT, LiteralKind.EVENT) and (
        literal.label.casefold() in _LIGHT_WORDS
    )


def _importance(literal: Literal, *, is_subject: bool) -> float:
    if is_light(literal):
        return _LIGHT
    kind = EVENT_LITERAL_WEIGHT if literal.kind is LiteralKind.EVENT else 1.0
    if literal.kind is LiteralKind.ENTITY:
        kind = _NAMED
    return max(kind, _SUBJECT) if is_subject else kind
