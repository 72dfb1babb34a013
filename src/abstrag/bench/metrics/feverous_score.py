"""The official FEVEROUS evidence score: a figure of a whole run, not a mean over cases.

Of a ranking the first five sentences and the first 25 other elements count. Precision is against
everything any set names, recall is 1 when one set is complete, and F1 is that of the two means.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from abstrag.bench.record import CaseRecord
from abstrag.errors import NotComputable
from abstrag.model.record import record

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
