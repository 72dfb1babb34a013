"""Label accuracy, and macro-F1 over the labels that occur: verdicts against people's."""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.bench.metrics.metric import Metric, lacking
from abstrag.bench.record import CaseRecord
from abstrag.errors import NotComputable


def _accuracy(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.label is None:
        raise lacking("Accuracy", "a predicted label", record)
    if record.gold_label is None:
        raise lacking("Accuracy", "a gold label", record)
    return float(record.label == record.gold_label)


ACCURACY = Metric("Accuracy", _accuracy)


def macro_f1(records: Iterable[CaseRecord]) -> float:
    """Return the mean, over the gold labels that occur, of each label's F1."""
    pairs = [(r.label, r.gold_label) for r in records if r.label is not None and r.gold_label]
    if not pairs:
        raise NotComputable("macro-F1 needs predicted and gold labels; no case has both")
    scores = []
    for label in sorted({gold for _, gold in pairs if gold is not None}):
        right = sum(said == gold == label for said, gold in pairs)
        named = sum(said == label for said, _ in pairs) + sum(gold == label for _, gold in pairs)
        scores.append(2 * right / named)
    return sum(scores) / len(scores)
