"""b*: the cheapest set of bridges that meets all literals at once, an edge for two paid once.

Each literal brings offers, one for each way to meet it; a combination picks one offer a literal and
costs its distinct edges. Without the limit on families this is a Steiner tree, and two paths that
meet would never part again. With it they may have to: one has spent the family that the other's way
goes on with. So paths are not merged into a tree; the literals are taken one after the other, and
what a partial combination passes on is the *set* of shared edges it has paid for.

Exact, and fast because little is left to choose: an edge that only one literal could use is that
literal's own, and an offer is out once its fair share of the cost, with the least that the others
pay, is more than each literal by itself would cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain, count
from math import lcm
from typing import Final, NamedTuple

from abstrag.config import MAX_LITERALS
from abstrag.search.bridges.paths import (
    Aggregator,
    Combination,
    Offer,
    Prices,
    additive,
    in_order,
    price,
    shared_by,
    total,
    undominated,
)

# Every choice of one offer for each literal, cheapest first, computed as they are taken.


def combinations(
    rows: Sequence[Sequence[Offer]],
    prices: Prices,
    *,
    limit: int,
    aggregator: Aggregator = additive,
) -> Iterator[Combination]:
    """Yield all combinations within the limit; an edge shared by several offers is paid once.

    What a prefix has spent only grows as it is continued, so following the cheapest prefix first
    brings the combinations out in order. Where each row has an offer at no cost, as every literal
    has that of staying as asked, every prefix ends in a combination of the same cost: the work
    grows with what is taken and not with the product of the rows.
    """
    if not all(rows):
        return
    frontier = _Frontier(rows, prices, limit, aggregator)
    state: tuple[Combination, frozenset[int]] | None = (Combination(0, ()), frozenset())
    while state is not None:
        prefix, paid = state
        if len(prefix.offers) == len(rows):
            yield prefix
        else:
            frontier.follow(prefix, paid)
        state = frontier.pop()


class _Cursor(NamedTuple):
    """The offers that may come next after a prefix, dearer and dearer, and how far we are."""

    prefix: Combination
    paid: frozenset[int]
    ways: Sequence[Offer]
    at: int


class _Frontier:
    """The prefixes yet to be followed, cheapest first and of equal ones the longer.

    A prefix leaves its next-dearer sibling in the queue, not all of them.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Offer]],
        prices: Prices,
        limit: int,
        aggregator: Aggregator,
    ) -> None:
        self._rows = [in_order(row, frozenset(), prices, aggregator) for row in rows]
        self._shared = [shared_by(row) for row in rows]
        self._prices, self._limit, self._aggregator = prices, limit, aggregator
        self._serial = count()
        self._heap: list[tuple[int, int, int, Combination, frozenset[int], _Cursor]] = []

    def pop(self) -> tuple[Combination, frozenset[int]] | None:
        """Take the best prefix, and queue its next sibling."""
        if not self._heap:
            return None
        *_, prefix, paid, cursor = heappop(self._heap)
        self._push(cursor._replace(at=cursor.at + 1))
        return prefix, paid

    def follow(self, prefix: Combination, paid: frozenset[int]) -> None:
        """Queue the best way to go on from a prefix."""
        depth = len(prefix.offers)
        ways = self._rows[depth]
        if paid & self._shared[depth]:  # what is paid for may change which offer is cheapest
            ways = in_order(ways, paid, self._prices, self._aggregator)
        self._push(_Cursor(prefix, paid, ways, 0))

    def _push(self, cursor: _Cursor) -> None:
        if cursor.at == len(cursor.ways):
            return
        offer = cursor.ways[cursor.at]
        more = price(offer, cursor.paid, self._prices, self._aggregator)
        units = self._aggregator(cursor.prefix.units, more)
        if units <= self._limit:
            made = Combination(units, (*cursor.prefix.offers, offer))
            entry = (units, -len(made.offers), next(self._serial), made)
            heappush(self._heap, (*entry, cursor.paid | offer.shared, cursor))


# costs divide evenly among any number of literals when counted in this many parts of a unit
_PARTS: Final = lcm(*range(1, MAX_LITERALS + 1))

Rows = Sequence[Sequence[Offer]]


class _State(NamedTuple):
    """The cheapest way so far to have paid for a set of shared edges."""

    units: int
    parts: int  # the shares of its offers
    offers: tuple[Offer, ...]


def cheapest(
    rows: Rows, prices: Prices, *, limit: int | None = None, aggregator: Aggregator = additive
) -> Combination | None:
    """Return the cheapest combination; None when there is none, or none within the limit."""
    if not all(rows):
        return None
    tidy, most = _reduced(rows, prices, limit, aggregator)
    if not all(tidy):
        return None
    shares = _shares(tidy, prices, aggregator)
    states = {frozenset[int](): _State(0, 0, ())}
    for depth, row in enumerate(tidy):
        # the least that the literals yet to come pay, counted in both ways
        alone = total((min(o.private for o in r) for r in tidy[depth + 1 :]), aggregator)
        parts = sum(map(min, shares[depth + 1 :]))
        reached: dict[frozenset[int], _State] = {}
        for paid, state in states.items():
            for offer, part in zip(row, shares[depth], strict=True):
                if state.parts + part + parts > most * _PARTS:
                    continue
                units = aggregator(state.units, price(offer, paid, prices, aggregator))
                if aggregator(units, alone) > most:
                    continue
                known = reached.get(now := paid | offer.shared)
                if known is None or units < known.units:
                    reached[now] = _State(units, state.parts + part, (*state.offers, offer))
        states = reached
    best = min(states.values(), key=lambda state: state.units, default=None)
    return None if best is None else Combination(best.units, _originals(rows, best.offers))


def _reduced(
    rows: Rows, prices: Prices, limit: int | None, aggregator: Aggregator
) -> tuple[Rows, int]:
    """Drop offers until nothing more can go; returns the rest and the most a best one may cost."""
    # each literal by itself is a combination too, so the best one costs no more
    apart = total(
        (min(price(o, frozenset(), prices, aggregator) for o in row) for row in rows), aggregator
    )
    most = apart if limit is None else min(apart, limit)
    size = -1
    while all(rows) and size != (size := sum(map(len, rows))):
        rows = [*_privatized(rows, prices, aggregator)]
        shares = _shares(rows, prices, aggregator)
        spare = most * _PARTS - sum(map(min, shares))
        rows = [
            [offer for offer, part in zip(row, parts, strict=True) if part - min(parts) <= spare]
            for row, parts in zip(rows, shares, strict=True)
        ]
    return [undominated(row, prices, aggregator) for row in rows], most


def _privatized(rows: Rows, prices: Prices, aggregator: Aggregator) -> Iterator[list[Offer]]:
    """Turn shared edges that only one literal's offers use into private ones."""
    users = Counter(chain.from_iterable(map(shared_by, rows)))
    both = frozenset(key for key, literals in users.items() if literals > 1)
    for row in rows:
        yield [
            o
            if o.shared <= both
            else replace(o, private=price(o, both, prices, aggregator), shared=o.shared & both)
            for o in row
        ]


def _shares(rows: Rows, prices: Prices, aggregator: Aggregator) -> list[list[int]]:
    """Return the share of each offer, in parts of a unit.

    With the cost of an edge divided among all the literals that could use it, the shares of a
    combination never add up to more than its cost. Where costs do not add up, nobody has a share.
    """
    if aggregator is not additive:
        return [[0] * len(row) for row in rows]
    users = Counter(chain.from_iterable(map(shared_by, rows)))
    share = {key: prices[key] * _PARTS // literals for key, literals in users.items()}
    return [[o.private * _PARTS + sum(share[key] for key in o.shared) for o in r] for r in rows]


def _originals(rows: Rows, picks: Sequence[Offer]) -> tuple[Offer, ...]:
    """The caller's own offers: edges that turned private are shared in the caller's eyes."""
    return tuple(
        next(o for o in row if o.label is picked.label and o.at == picked.at)
        for row, picked in zip(rows, picks, strict=True)
    )
