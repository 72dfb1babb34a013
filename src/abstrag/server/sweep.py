"""A ranking for every budget of a grid, so that a slider needs to ask only once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from abstrag.config import TAU_MAX

if TYPE_CHECKING:
    from abstrag.workspace.document import SearchableDocument

GRID: Final = tuple(round(i / 10, 1) for i in range(round(10 * TAU_MAX) + 1))


def sweep(
    document: SearchableDocument, query: str, *, k: int, taus: Sequence[float] = GRID
) -> dict[str, Any]:
    """Rank a document under each budget, as a search under that budget would.

    A budget matters only where it reaches something new, and the τ curve says where that is: in
    between, the ranking stays the same and is computed once.
    """
    steps = [step.tau for step in document.budget(query).steps]
    ranked: dict[int, list[dict[str, Any]]] = {}
    rankings = []
    for tau in taus:
        reached = bisect_right(steps, tau)
        if reached not in ranked:
            ranked[reached] = _rows(document, query, tau, k)
        rankings.append(ranked[reached])
    return {"taus": list(taus), "rankings": rankings}


def _rows(document: SearchableDocument, query: str, tau: float, k: int) -> list[dict[str, Any]]:
    return [
        {
            "segment": hit.segment,
            "relevance": hit.relevance,
            "match": hit.match,
            "utility": hit.utility,
            "gap": hit.gap,
            "judgement": hit.judgement,
            "reachable": hit.trace.reachable,
        }
        for hit in document.search(query, k=k, tau=tau).hits
    ]
