"""Every choice of one offer for each literal, cheapest first, computed as they are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from abstrag.search.bridges.cost import Aggregator, additive
from abstrag.search.bridges.offers import Combination, Offer, in_order, price, shared_by
from abstrag.search.bridges.paths import Prices


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
