"""Figures and units that differ: "3.5 days, not one week"; "5 mg, not 5 g"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.engine.contradictions.amounts import Amount, amount_of
from abstrag.engine.contradictions.statement import PERIODS, Found, Statement, alike, coverage
from abstrag.language.quantities import QuantityExpression
from abstrag.language.units import UNIT_WORDS
from abstrag.language.words import NOUNS
from abstrag.model.answer import DifferenceKind
from abstrag.model.term import Quantity

SHARED: Final = 0.5  # of the claim's words that a sentence about the same thing has
SURE: Final = 0.7  # the same, to be certain of it
_ONE: Final = re.compile(rf"\ban?\s(?P<unit>{'|'.join(PERIODS)})\b", re.I)
_RELATIVE: Final = re.compile(r"\b(?:per|each|every|once|twice|times)\s*$", re.I)
_ORDINARY: Final = frozenset({"times", "fold"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity at its place, and what it counts or measures."""

    start: int
    end: int
    quantity: Quantity
    amount: Amount
    counted: str  # the noun a bare count belongs to, else empty
    shown: str  # the figure with that noun
    governors: tuple[tuple[str, str], ...]  # words above it, nearest first


def figures_of(statement: Statement) -> list[Figure]:
    """Return the figures of a statement, "a week" included."""
    found = [*statement.quantities, *_single_periods(statement)]
    return [_figure(statement, one) for one in sorted(found, key=lambda one: one.start)]


def _single_periods(statement: Statement) -> Iterator[QuantityExpression]:
    for one in _ONE.finditer(statement.text):
        before = statement.text[: one.start()]
        if not _RELATIVE.search(before) and not re.search(r"(?:\d|\$)\S*\s?$", before):
            unit = UNIT_WORDS.get(one["unit"].lower(), one["unit"].lower())
            yield QuantityExpression(one.start(), one.end(), Quantity(1.0, unit))


def _figure(statement: Statement, one: QuantityExpression) -> Figure:
    words = statement.words
    token = statement.token_at(one.start, one.end)
    noun = None if one.quantity.unit else _counted(statement, token)
    above = [
        (words.key[i], words.pos[i])
        for i in words.up(token)
        if i in statement.content and not one.start <= words.start[i] < one.end
    ]
    end = one.end if noun is None or noun < token else words.end[noun]
    return Figure(
        start=one.start,
        end=one.end,
        quantity=one.quantity,
        amount=amount_of(statement.text, one),
        counted="" if noun is None else words.key[noun],
        shown=" ".join(statement.text[one.start : end].split()),
        governors=tuple(above),
    )


def _counted(statement: Statement, token: int) -> int | None:
    """Return the noun that a bare number counts."""
    words = statement.words
    head = words.head[token]
    if words.dep[token] in ("nummod", "compound", "amod") and words.pos[head] in NOUNS:
        return head
    after = token + 1
    return after if after < words.size and words.pos[after] == "NOUN" else None


def find_figures(claim: Statement, sentences: Sequence[Statement]) -> list[Found]:
    """Return the figures of a claim that sentences about the same thing state otherwise."""
    stated = [(sentence, figures_of(sentence)) for sentence in sentences]
    found = []
    for figure in figures_of(claim):
        if any(_agrees(figure, own) for _, some in stated for own in some):
            continue
        ranked = sorted(
            ((coverage(claim, sentence), _own(sentence, some)) for sentence, some in stated),
            key=lambda one: -one[0],
        )
        for shared, some in ranked:
            if shared < SHARED:
                break
            if (made := _difference(claim, figure, some, shared)) is not None:
                found.append(made)
                break
    return found


def _own(sentence: Statement, some: Sequence[Figure]) -> list[Figure]:
    """Leave out the figures that a sentence only compares its own with."""
    return [figure for figure in some if figure.start < sentence.compared_from]


def _same_scale(a: Figure, b: Figure) -> bool:
    """True when two figures can be compared at all."""
    if a.amount.dimension != b.amount.dimension:
        return False
    if a.amount.dimension:
        return True
    return bool(a.counted) and bool(b.counted) and alike(a.counted, "NOUN", b.counted, "NOUN")


def _agrees(asked: Figure, own: Figure) -> bool:
    """True when what is stated is what the claim says, whatever it is said of."""
    if asked.amount.dimension != own.amount.dimension or _other_unit(asked, own):
        return False
    return not asked.amount.apart(own.amount) and _bounds_agree(asked, own)


def _bounds_agree(asked: Figure, own: Figure) -> bool:
    """False when the evidence gives a bound and the claim another one of the same side.

    "At most $2 million" makes "at most $20 million" true, and is not what it says.
    """
    if asked.amount.bound != own.amount.bound or asked.amount.bound not in ("least", "most"):
        return True
    return own.amount.within(asked.amount) and asked.amount.within(own.amount)


def _difference(
    claim: Statement, figure: Figure, some: Sequence[Figure], shared: float
) -> Found | None:
    same = [own for own in some if _same_scale(figure, own)]
    kind = DifferenceKind.FIGURE
    if not same:
        same = [own for own in some if _other_unit(figure, own)]
        kind = DifferenceKind.UNIT
    elif any(_other_unit(figure, own) for own in same):
        same = [own for own in same if _other_unit(figure, own)]
        kind = DifferenceKind.UNIT
    if not same:
        return None
    ordered = sorted(same, key=lambda own: -_near(figure, own))
    best = ordered[0]
    anchored = _near(figure, best) > 0
    alone = len(same) == 1 and len([f for f in figures_of(claim) if _same_scale(f, figure)]) == 1
    if not (anchored or alone):
        return None
    apart = kind is DifferenceKind.UNIT or figure.amount.apart(best.amount)
    certain = shared >= SURE and apart and (alone or kind is DifferenceKind.UNIT)
    return Found(kind, figure.shown, best.shown, certain)


def _other_unit(a: Figure, b: Figure) -> bool:
    """True when both have one number and different units of measure."""
    x, y = a.quantity, b.quantity
    if x.unit == y.unit or not x.unit or not y.unit or {x.unit, y.unit} & _ORDINARY:
        return False
    return x.value == y.value and (x.value != 1.0)


def _near(a: Figure, b: Figure) -> float:
    """Return how much of what stands above one figure stands above the other, nearest first."""
    for depth, (key, pos) in enumerate(a.governors[:3]):
        if any(alike(key, pos, *own) for own in b.governors[:4]):
            return 1.0 / (1 + depth)
    return 0.0
