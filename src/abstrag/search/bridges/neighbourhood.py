"""What the literals of one query reach within one budget: each alone, and all in company."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain

from abstrag.search.bridges.cost import Aggregator, additive
from abstrag.search.bridges.graph import BridgeGraph
from abstrag.search.bridges.paths import PathLabel, Prices, TermReach, reach


class Neighbourhood:
    """The reaches of several literals up to a limit, computed as they are asked for.

    `alone` is enough for each literal's own distance. `together` also keeps the dearer ways that
    may pay off because another literal takes the same edge; it differs from `alone` only for
    literals with an edge in `shared`.
    """

    def __init__(
        self,
        graph: BridgeGraph,
        starts: Sequence[tuple[str, ...]],
        *,
        limit: int,
        aggregator: Aggregator = additive,
    ) -> None:
        self.graph = graph
        self.starts = starts
        self.limit = limit
        self.aggregator = aggregator

    @cached_property
    def alone(self) -> tuple[TermReach, ...]:
        """Each literal's reach by itself."""
        return tuple(
            reach(self.graph, terms, limit=self.limit, aggregator=self.aggregator)
            for terms in self.starts
        )

    @cached_property
    def users(self) -> Mapping[int, int]:
        """How many literals may use each paid edge."""
        return Counter(chain.from_iterable(found.crossed for found in self.alone))

    @cached_property
    def shared(self) -> Prices:
        """The paid edges that two or more literals may use, with their prices."""
        prices = ChainMap(*(dict(found.crossed) for found in self.alone))
        return {key: prices[key] for key, literals in self.users.items() if literals > 1}

    @cached_property
    def together(self) -> tuple[TermReach, ...]:
        """Each literal's reach with every way that may be the best in company."""
        return tuple(
            found
            if self.shared.keys().isdisjoint(found.crossed)
            else reach(
                self.graph,
                terms,
                limit=self.limit,
                shared=self.shared,
                aggregator=self.aggregator,
            )
            for terms, found in zip(self.starts, self.alone, strict=True)
        )

    def least(self, label: PathLabel) -> int:
        """Return the least a literal pays for a path, whoever shares it, as part of any whole.

        Where costs add up and an edge's is divided among all who may use it, the parts of a whole
        are never more than the whole.
        """
        if self.aggregator is not additive:
            return label.private
        return label.private + sum(self.shared[key] // self.users[key] for key in label.shared)
