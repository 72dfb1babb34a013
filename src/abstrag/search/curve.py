"""The τ curve: what each budget reaches, from one look at the largest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from abstrag.config import COST_UNIT, TAU_MAX
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import BudgetCurve, BudgetStep, Entry
from abstrag.search.bridges.paths import EdgeSource
from abstrag.search.costed_index import BoolArray, CostedIndex, IntArray
from abstrag.search.lookup import FAR, Lookup, OfAnother
from abstrag.search.query.scope import in_scope


def budget_curve(
    document: DocumentIndex,
    index: CostedIndex,
    query: Query,
    *,
    sources: Sequence[EdgeSource] = (),
    learned: IntArray | None = None,
    doubted: BoolArray | None = None,
    of_another: OfAnother | None = None,
) -> BudgetCurve:
    """Say at which τ each segment meets the whole query, and what every budget in between does.

    One lookup at the largest budget has all of it: a smaller one only leaves some out. `learned` is
    what meeting literals by single words costs, `doubted` where senses are and `of_another` which
    events are, as `Lookup` takes them.
    """
    lookup = Lookup(
        index,
        query,
        tau=TAU_MAX,
        sources=sources,
        learned=learned,
        doubted=doubted,
        of_another=of_another,
    )
    inside = np.array(
        [in_scope(document.records[p].segment, query.scope) for p in lookup.segments.tolist()],
        dtype=bool,
    )
    costs = np.where(inside, lookup.bridge_costs, FAR) if len(inside) else lookup.bridge_costs
    entries = tuple(
        Entry(document.records[position].segment.id, position, cost / COST_UNIT)
        for cost, position in sorted(zip(costs.tolist(), lookup.segments.tolist(), strict=True))
        if cost < FAR
    )
    table = np.where(inside, lookup.distances, FAR) if len(inside) else lookup.distances
    return BudgetCurve(
        query=query,
        document=document.document.id,
        entries=entries,
        steps=_steps(query, table, costs),
        covers=entries[0].tau if entries else None,
        covers_together=_together(table),
    )


def _together(table: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> float | None:
    """The least τ at which every literal is met by some segment, not all by the same."""
    if not table.size:
        return None
    nearest = table.min(axis=1)
    return None if (nearest >= FAR).any() else float(nearest.max()) / COST_UNIT


def _steps(
    query: Query,
    table: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    costs: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[BudgetStep, ...]:
    """One step for every budget at which something changes."""
    weights = np.array([literal.weight for literal in query.literals])
    changes = np.unique(np.concatenate((table[table < FAR].ravel(), costs[costs < FAR], [0])))
    steps = []
    for units in changes.tolist():
        met = table <= units
        share = weights @ met if len(weights) else np.zeros(table.shape[1])
        steps.append(
            BudgetStep(
                tau=units / COST_UNIT,
                reachable=int((costs <= units).sum()),
                touched=int(met.any(axis=0).sum()),
                best_share=round(float(share.max()), 6) if share.size else 0.0,
            )
        )
    return tuple(steps)
