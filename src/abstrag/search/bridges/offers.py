"""Offers: the ways to meet a literal, as the parts that combinations are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from abstrag.search.bridges.cost import Aggregator, additive, total
from abstrag.search.bridges.paths import PathLabel, Prices


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to meet one literal; without a label the literal stays as asked.

    `private` is what this literal alone pays: its own edges, and what a segment adds (context,
    slots). `at` is the caller's to find its way back.
    """

    label: PathLabel | None
    private: int
    shared: frozenset[int] = frozenset()
    at: int = 0


class Combination(NamedTuple):
    """One offer for each literal, and what they cost together."""

    units: int
    offers: tuple[Offer, ...]


def price(offer: Offer, paid: frozenset[int], prices: Prices, aggregator: Aggregator) -> int:
    """Return what an offer still costs when these shared edges are already paid for."""
    return aggregator(
        offer.private, total((prices[key] for key in offer.shared - paid), aggregator)
    )


def in_order(
    row: Iterable[Offer], paid: frozenset[int], prices: Prices, aggregator: Aggregator
) -> list[Offer]:
    """Sort offers by what they still cost; of equal ones the first stays first."""
    return sorted(row, key=lambda offer: price(offer, paid, prices, aggregator))


def undominated(
    row: Iterable[Offer], prices: Prices, aggregator: Aggregator = additive
) -> list[Offer]:
    """Drop every offer that another one can replace in any combination at no greater cost."""
    kept: list[Offer] = []
    for offer in in_order(row, frozenset(), prices, aggregator):
        if not any(price(k, offer.shared, prices, aggregator) <= offer.private for k in kept):
            kept.append(offer)
    return kept


def shared_by(row: Sequence[Offer]) -> frozenset[int]:
    """Return the shared edges that some offer of a literal uses."""
    return frozenset(chain.from_iterable(offer.shared for offer in row))
