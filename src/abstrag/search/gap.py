"""Gap: how much has to be assumed before a segment answers a query (sections 3.3 and 3.5).

Gap is b* where all literals can be met within the budget. Where they cannot, the paper has one cap
for everything; here the segments in between are told apart by a smooth part, which starts above
what a met query normally costs and ends at the cap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstrag.config import COST_UNIT, KAPPA, MAX_GAP
from abstrag.search.lookup import FAR, Lookup
from abstrag.search.postings import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Gaps:
    """Gap of every segment a query touched, with what it is made of; arrays are in step.

    `rest_gap` and `rest_share` are those of every segment that was not touched.
    """

    segments: IntArray
    reachable: BoolArray
    share: FloatArray
    soft: FloatArray
    gap: FloatArray
    rest_gap: float
    rest_share: float

    def column(self, segment: int) -> int | None:
        """Return where in the arrays a segment stands; None when it was not touched."""
        at = int(np.searchsorted(self.segments, segment))
        found = at < len(self.segments) and int(self.segments[at]) == segment
        return at if found else None


def gaps(lookup: Lookup, *, hard: bool = False) -> Gaps:
    """Compute Gap for every touched segment; `hard` gives the paper's, b* or the cap."""
    weights = [literal.weight for literal in lookup.query.literals]
    share = np.zeros(len(lookup.segments))
    saved = np.zeros(len(lookup.segments))
    for weight, row in zip(weights, lookup.distances, strict=True):
        met = row < FAR
        share += weight * met
        saved += weight * np.where(met, 1.0 - row / COST_UNIT / MAX_GAP, 0.0)
    # counted from the full cap downwards, so that rounding cannot lift anything above the cap
    soft = np.clip(1.0 - saved, 0.0, 1.0)
    costs = lookup.bridge_costs
    reachable = costs < FAR
    other = np.full(len(soft), MAX_GAP) if hard else KAPPA + (MAX_GAP - KAPPA) * soft
    gap = np.minimum(np.where(reachable, costs / COST_UNIT, MAX_GAP), other)
    return Gaps(
        segments=lookup.segments,
        reachable=reachable,
        share=np.minimum(share, 1.0),
        soft=soft,
        gap=gap,
        # a query that asks nothing is met by everything: Cost(∅) = 0
        rest_gap=MAX_GAP if weights else 0.0,
        rest_share=0.0 if weights else 1.0,
    )
