"""Set F1 of the first K spans: against the gold, or against the nearest alternative set.

`Sent-F1@3` is SciFact's (three sentences an abstract, as its protocol allows), `Evid-F1@5` is the
paper's for FEVEROUS: against whichever single evidence set fits best.
"""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.bench.metrics.metric import Metric
from abstrag.bench.record import CaseRecord


def set_f1(predicted: Iterable[str], gold: Iterable[str]) -> float:
    """Return the harmonic mean of precision and recall of two sets."""
    found, wanted = set(predicted), set(gold)
    shared = len(found & wanted)
    return 2 * shared / (len(found) + len(wanted)) if shared else 0.0


def _sentence_f1(record: CaseRecord, k: int) -> float:
    return set_f1(record.ranked[:k], record.gold)


def _evidence_f1(record: CaseRecord, k: int) -> float:
    return max(set_f1(record.ranked[:k], one) for one in record.gold_sets or (record.gold,))


SENTENCE_F1 = Metric("Sent-F1", _sentence_f1, 3, empty=0.0)
EVIDENCE_F1 = Metric("Evid-F1", _evidence_f1, 5, empty=0.0)
