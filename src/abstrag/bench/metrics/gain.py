"""Cost-normalized sufficiency gain: what a mechanism closes, over what its bridges cost.

ΔSuff@K / (1 + bridge cost) between a run with the mechanism and one without, over the cases that
the run with it closes. A case where nothing was retrieved, or whose cost was not recorded, has no
value and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.bench.metrics.metric import Values, lacking
from abstrag.bench.metrics.suff import SUFF
from abstrag.bench.record import CaseRecord
from abstrag.errors import NotComputable


def gain(with_it: CaseRecord, without: CaseRecord, *, k: int = 10) -> float:
    """Return the gain of one case that the run with the mechanism closes."""
    if not (with_it.retrieved and without.retrieved):
        raise lacking("the gain", "something retrieved on both sides", with_it)
    if with_it.bridge_cost is None:
        raise lacking("the gain", "the cost of an accepted clause", with_it)
    closed = (SUFF @ k)(with_it)
    if not closed:
        raise NotComputable(
            f"the gain is over closed cases only; case {with_it.case_id!r} is not closed"
        )
    return (closed - (SUFF @ k)(without)) / (1 + with_it.bridge_cost)


def gains(with_it: Iterable[CaseRecord], without: Iterable[CaseRecord], *, k: int = 10) -> Values:
    """Return the gains of all cases both runs have, with what could not be computed."""
    others = {one.case_id: one for one in without}
    by_case: dict[str, float] = {}
    missing: dict[str, int] = {}
    for one in with_it:
        try:
            if one.case_id not in others:
                raise lacking("the gain", "a record without the mechanism", one)
            by_case[one.case_id] = gain(one, others[one.case_id], k=k)
        except NotComputable as error:
            reason = str(error).partition("; case ")[0]
            missing[reason] = missing.get(reason, 0) + 1
    return Values(by_case, missing)
