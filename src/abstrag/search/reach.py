"""Where bridges lead before the words of a long document are looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from abstrag.config import COST_UNIT, MAX_GAP
from abstrag.model.query import Query
from abstrag.search.bridges.paths import EdgeSource
from abstrag.search.costed_index import CostedIndex
from abstrag.search.document_words import SegmentReach
from abstrag.search.lookup import Lookup


def reach_of(
    index: CostedIndex, query: Query, *, tau: float, sources: Sequence[EdgeSource]
) -> SegmentReach:
    """Return the segments that bridges reach within a budget, and what each literal costs there."""
    laid = Lookup(index, query, tau=tau, sources=sources)
    return SegmentReach(laid.segments, np.minimum(laid.distances / COST_UNIT, MAX_GAP))
