"""A ranking for every budget of a grid, so that a slider needs to ask only once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from abstrag.config import TAU_MAX

if TYPE_CHECKING:
    from abstrag.engine.searcher import Searcher

GRID: Final = tuple(round(i / 10, 1) for i in range(round(10 * TAU_MAX) + 1))


def sweep(
    searcher: Searcher, query: str, *, k: int, taus: Sequence[float] = GRID
) -> dict[str, Any]:
    """Rank a document under each budget; no judge is asked.

    A budget matters only where it reaches something new, and the τ curve says where that is: in
    between, the ranking stays the same and is computed once.
    """
    steps = [step.tau for step in searcher.budget(query).steps]
    ranked: dict[int, list[dict[str, Any]]] = {}
    rankings = []
    for tau in taus:
        reached = bisect_right(steps, tau)
        if reached not in ranked:
            ranked[reached] = _rows(searcher, query, tau, k)
        rankings.append(ranked[reached])
    return {"taus": list(taus), "rankings": rankings}


def _rows(searcher: Searcher, query: str, tau: float, k: int) -> list[dict[str, Any]]:
    return [
        {
            "segment": hit.segment,
            "relevance": hit.relevance,
            "match": hit.match,
            "utility": hit.utility,
            "gap": hit.gap,
            "reachable": hit.trace.reachable,
        }
        for hit in searcher.search(query, k=k, tau=tau).hits
    ]
