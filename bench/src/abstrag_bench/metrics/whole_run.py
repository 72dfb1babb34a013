"""Figures of a whole run, not means over cases: the FEVEROUS evidence score, and gain over cost.

Of a ranking the first five sentences and the first 25 other elements count for FEVEROUS. Precision
is against everything any set names, recall is 1 when one set is complete, and F1 is that of the two
means.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from abstrag.errors import NotComputable
from abstrag.model.record import record
from abstrag_bench.metrics.catalogue import SUFF
from abstrag_bench.metrics.metric import Values, lacking
from abstrag_bench.record import CaseRecord

# Cost-normalized sufficiency gain: what a mechanism closes, over what its bridges cost.
#
# ΔSuff@K / (1 + bridge cost) between a run with the mechanism and one without, over the cases
# that the run with it closes. A case where nothing was retrieved, or whose cost was not recorded,
# has no value and is not counted.


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


MAX_SENTENCES: Final = 5
MAX_OTHERS: Final = 25


@record
class FeverousScore:
    """Macro precision, macro recall and their F1 over `cases` cases."""

    precision: float
    recall: float
    f1: float
    cases: int


def feverous_score(records: Iterable[CaseRecord]) -> FeverousScore:
    """Score a run the way the shared task does."""
    precisions, recalls = [], []
    for one in records:
        if not one.gold:
            continue
        predicted = truncated(one.shown)
        gold = set(one.gold)
        right = sum(span in gold for span in predicted)
        precisions.append(right / len(predicted) if predicted else 1.0)
        sets = one.gold_sets or (one.gold,)
        recalls.append(float(any(set(predicted).issuperset(group) for group in sets)))
    if not precisions:
        raise NotComputable("the FEVEROUS score needs cases with gold spans; there are none")
    p, r = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return FeverousScore(p, r, 2 * p * r / (p + r) if p + r else 0.0, len(precisions))


def truncated(ranked: Iterable[str]) -> list[str]:
    """Keep as many elements of each sort as the shared task looks at."""
    left = {True: MAX_SENTENCES, False: MAX_OTHERS}
    kept = []
    for span in ranked:
        sentence = "_sentence_" in span
        if left[sentence]:
            left[sentence] -= 1
            kept.append(span)
    return kept
