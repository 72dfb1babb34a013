"""Figures and units that differ: "3.5 days, not one week"; "5 mg, not 5 g"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.answers.contradictions.statement import (
    PERIODS,
    ComparedSentence,
    FoundDifference,
    about_the_same,
    alike,
)
from abstrag.files import read_data_file
from abstrag.language.quantities import CURRENCY_CODES, UNIT_WORDS, QuantityExpression
from abstrag.language.words import NOUNS
from abstrag.model.answer import DifferenceKind
from abstrag.model.term import Quantity

# Quantities as stretches of one scale, so that "3.5 days" and "one week" can be compared.

_UNITS: Final = {
    unit: (dimension, float(size))
    for dimension, sizes in read_data_file("abstrag.answers.contradictions", "units.toml").items()
    for unit, size in sizes.items()
}
_CURRENCIES: Final = frozenset(CURRENCY_CODES.values())
INFINITE: Final = float("inf")
ROUGH: Final = 0.1  # of its value that "about" leaves open
CLOSE: Final = 0.005  # of its value that rounding leaves open at least

# What stands right before (or after) a number and makes a bound of it.
_AT_LEAST: Final = re.compile(
    r"\b(?:at least|no (?:less|fewer) than|not (?:less|fewer) than|a minimum of|minimum|from)\s*$",
    re.I,
)
_MORE: Final = re.compile(
    r"(?:\b(?:more|greater|longer|higher|larger|older|faster|better|later|heavier) than|\bover|"
    r"\babove|\bexceed(?:s|ed|ing)?|\bbeyond|\bin excess of|\bupwards? of|>|≥)\s*$",
    re.I,
)
_AT_MOST: Final = re.compile(
    r"(?:\b(?:at most|up to|no (?:more|later|longer|greater|higher) than|"
    r"not (?:more|later|longer|to exceed|exceed(?:ing)?)(?: than)?|a maximum of|maximum)|≤)\s*$",
    re.I,
)
_LESS: Final = re.compile(
    r"(?:\b(?:less|fewer|lower|smaller|shorter|younger|sooner|earlier|slower) than|\bunder|"
    r"\bbelow|<)\s*$",
    re.I,
)
_ABOUT: Final = re.compile(
    r"(?:\b(?:about|approximately|around|roughly|nearly|almost|some|circa|ca\.|c\.|an estimated|"
    r"close to|just (?:over|under)|an average of|averaging)|[~≈])\s*$",
    re.I,
)
_OR_MORE: Final = re.compile(r"^\s*(?:or (?:more|greater|older|longer|above|higher)|\+)", re.I)
_OR_LESS: Final = re.compile(r"^\s*or (?:less|fewer|younger|below|shorter|lower)", re.I)
_BEFORE: Final = 24  # characters before a number in which its bound finds room


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity of a dimension, as the least and the most it may be."""

    dimension: str
    low: float
    high: float
    bound: str  # "least", "most", "about", or "" for a plain figure

    def apart(self, other: Amount) -> bool:
        """True when both cannot be."""
        return self.high < other.low or other.high < self.low

    def within(self, other: Amount) -> bool:
        """True when this being so, the other is."""
        return other.low <= self.low + _play(self.low) and self.high <= other.high + _play(
            self.high
        )


def _play(value: float) -> float:
    """Return what does not count as a difference of bounds."""
    return 0.0 if abs(value) == INFINITE else abs(value) * CLOSE


def dimension_of(unit: str) -> tuple[str, float] | None:
    """Return what a unit measures and its size; None for a bare count or a unit unknown."""
    if unit in _CURRENCIES:
        return f"money in {unit}", 1.0
    return _UNITS.get(unit)


def amount_of(text: str, one: QuantityExpression) -> Amount:
    """Read a quantity with the bound that stands around it."""
    dimension, size = dimension_of(one.quantity.unit) or (one.quantity.unit, 1.0)
    value = one.quantity.value * size
    before, after = text[max(0, one.start - _BEFORE) : one.start], text[one.end : one.end + 12]
    slack = _slack(text[one.start : one.end], one.quantity.value) * size
    # "no more than" has "more than" in it, so the bounds that include their figure come first
    if _AT_LEAST.search(before) or _OR_MORE.search(after):
        return Amount(dimension, value, INFINITE, "least")
    if _AT_MOST.search(before) or _OR_LESS.search(after):
        return Amount(dimension, -INFINITE, value, "most")
    if _MORE.search(before):
        return Amount(dimension, value + slack / 10, INFINITE, "least")
    if _LESS.search(before):
        return Amount(dimension, -INFINITE, value - slack / 10, "most")
    if _ABOUT.search(before):
        slack = max(slack, abs(value) * ROUGH)
        return Amount(dimension, value - slack, value + slack, "about")
    return Amount(dimension, value - slack, value + slack, "")


def _slack(text: str, value: float) -> float:
    """Return what rounding leaves open: half of the last digit that is written."""
    digits = re.search(r"\d[\d,]*(?:\.(?P<behind>\d+))?", text)
    if digits is None:
        return abs(value) * CLOSE
    plain = digits[0].replace(",", "")
    written = float(plain)
    factor = abs(value / written) if written else 1.0  # "2.5 million"
    if digits["behind"]:
        return factor * 0.5 / float(10 ** len(digits["behind"]))
    zeros = len(plain) - len(plain.rstrip("0"))
    least = 0.5 if zeros == 0 else 0.0
    return factor * max(least, min(written * CLOSE, 0.5 * float(10**zeros)))


SHARED: Final = 0.5  # of the claim's words that a sentence about the same thing has
SURE: Final = 0.7  # the same, to be certain of it
_ONE: Final = re.compile(rf"\ban?\s(?P<unit>{'|'.join(PERIODS)})\b", re.I)
_RELATIVE: Final = re.compile(r"\b(?:per|each|every|once|twice|times)\s*$", re.I)
_ORDINARY: Final = frozenset({"times", "fold"})


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A quantity at its place, and what it counts or measures."""

    start: int
    end: int
    quantity: Quantity
    amount: Amount
    counted: str  # the noun a bare count belongs to, else empty
    shown: str  # the figure with that noun
    governors: tuple[tuple[str, str], ...]  # words above it, nearest first


def figures_of(statement: ComparedSentence) -> list[StatedFigure]:
    """Return the figures of a statement, "a week" included."""
    found = [*statement.quantities, *_single_periods(statement)]
    return [_figure(statement, one) for one in sorted(found, key=lambda one: one.start)]


def _single_periods(statement: ComparedSentence) -> Iterator[QuantityExpression]:
    for one in _ONE.finditer(statement.text):
        before = statement.text[: one.start()]
        if not _RELATIVE.search(before) and not re.search(r"(?:\d|\$)\S*\s?$", before):
            unit = UNIT_WORDS.get(one["unit"].lower(), one["unit"].lower())
            yield QuantityExpression(one.start(), one.end(), Quantity(1.0, unit))


def _figure(statement: ComparedSentence, one: QuantityExpression) -> StatedFigure:
    words = statement.words
    token = statement.token_at(one.start, one.end)
    noun = None if one.quantity.unit else _counted(statement, token)
    above = [
        (words.key[i], words.pos[i])
        for i in words.up(token)
        if i in statement.content and not one.start <= words.start[i] < one.end
    ]
    end = one.end if noun is None or noun < token else words.end[noun]
    return StatedFigure(
        start=one.start,
        end=one.end,
        quantity=one.quantity,
        amount=amount_of(statement.text, one),
        counted="" if noun is None else words.key[noun],
        shown=" ".join(statement.text[one.start : end].split()),
        governors=tuple(above),
    )


def _counted(statement: ComparedSentence, token: int) -> int | None:
    """Return the noun that a bare number counts."""
    words = statement.words
    head = words.head[token]
    if words.dep[token] in ("nummod", "compound", "amod") and words.pos[head] in NOUNS:
        return head
    after = token + 1
    return after if after < words.size and words.pos[after] == "NOUN" else None


def find_figures(
    claim: ComparedSentence, sentences: Sequence[ComparedSentence]
) -> list[FoundDifference]:
    """Return the figures of a claim that sentences about the same thing state otherwise."""
    stated = {sentence: figures_of(sentence) for sentence in sentences}
    near = about_the_same(claim, sentences, SHARED)
    found = []
    for figure in figures_of(claim):
        if any(_agrees(figure, own) for some in stated.values() for own in some):
            continue
        for shared, sentence in near:
            # what a sentence only compares its own figures with is none of them
            some = [own for own in stated[sentence] if own.start < sentence.compared_from]
            if (made := _difference(claim, figure, some, shared)) is not None:
                found.append(made)
                break
    return found


def _same_scale(a: StatedFigure, b: StatedFigure) -> bool:
    """True when two figures can be compared at all."""
    if a.amount.dimension != b.amount.dimension:
        return False
    if a.amount.dimension:
        return True
    return bool(a.counted) and bool(b.counted) and alike(a.counted, "NOUN", b.counted, "NOUN")


def _agrees(asked: StatedFigure, own: StatedFigure) -> bool:
    """True when what is stated is what the claim says, whatever it is said of."""
    if asked.amount.dimension != own.amount.dimension or _other_unit(asked, own):
        return False
    return not asked.amount.apart(own.amount) and _bounds_agree(asked, own)


def _bounds_agree(asked: StatedFigure, own: StatedFigure) -> bool:
    """False when the evidence gives a bound and the claim another one of the same side.

    "At most $2 million" makes "at most $20 million" true, and is not what it says.
    """
    if asked.amount.bound != own.amount.bound or asked.amount.bound not in ("least", "most"):
        return True
    return own.amount.within(asked.amount) and asked.amount.within(own.amount)


def _difference(
    claim: ComparedSentence, figure: StatedFigure, some: Sequence[StatedFigure], shared: float
) -> FoundDifference | None:
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
    return FoundDifference(kind, figure.shown, best.shown, certain)


def _other_unit(a: StatedFigure, b: StatedFigure) -> bool:
    """True when both have one number and different units of measure."""
    x, y = a.quantity, b.quantity
    if x.unit == y.unit or not x.unit or not y.unit or {x.unit, y.unit} & _ORDINARY:
        return False
    return x.value == y.value and (x.value != 1.0)


def _near(a: StatedFigure, b: StatedFigure) -> float:
    """Return how much of what stands above one figure stands above the other, nearest first."""
    for depth, (key, pos) in enumerate(a.governors[:3]):
        if any(alike(key, pos, *own) for own in b.governors[:4]):
            return 1.0 / (1 + depth)
    return 0.0
