"""Labels: accuracy, and precision, recall and F1 of each class; verdicts against people's.

Data sets spell the three verdicts in their own ways; the same verdict counts as the same label.
"""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.bench.metrics.metric import Metric, lacking
from abstrag.bench.record import CaseRecord
from abstrag.errors import InputError, NotComputable
from abstrag.model.answer import Label
from abstrag.model.record import record


@record
class ClassScore:
    """One label: how often people gave it and a system said it, and how the two agree.

    Recall is the accuracy on the cases people gave the label to. Precision is None for a label the
    system never said.
    """

    label: str
    gold: int
    said: int
    right: int
    precision: float | None
    recall: float
    f1: float


def _accuracy(one: CaseRecord, k: int) -> float:  # noqa: ARG001
    if one.label is None:
        raise lacking("Accuracy", "a predicted label", one)
    if one.gold_label is None:
        raise lacking("Accuracy", "a gold label", one)
    return float(spelled(one.label) == spelled(one.gold_label))


ACCURACY = Metric("Accuracy", _accuracy)


def class_scores(records: Iterable[CaseRecord]) -> tuple[ClassScore, ...]:
    """Return the scores of each gold label that occurs, over the cases that have both labels."""
    pairs = [
        (spelled(one.label), spelled(one.gold_label))
        for one in records
        if one.label is not None and one.gold_label is not None
    ]
    return tuple(_scores(label, pairs) for label in _ordered({gold for _, gold in pairs}))


def macro_f1(records: Iterable[CaseRecord]) -> float:
    """Return the mean, over the gold labels that occur, of each label's F1."""
    scores = class_scores(records)
    if not scores:
        raise NotComputable("macro-F1 needs predicted and gold labels; no case has both")
    return sum(one.f1 for one in scores) / len(scores)


def spelled(label: str) -> str:
    """Return a label in its one spelling; one that is none of the three stays as it is."""
    try:
        return Label.read(label).value
    except InputError:
        return label


def _scores(label: str, pairs: list[tuple[str, str]]) -> ClassScore:
    right = sum(said == gold == label for said, gold in pairs)
    said = sum(one == label for one, _ in pairs)
    gold = sum(one == label for _, one in pairs)
    precision = right / said if said else None
    return ClassScore(label, gold, said, right, precision, right / gold, 2 * right / (said + gold))


def _ordered(labels: set[str]) -> list[str]:
    """Put the three verdicts first, in their order, and others behind them by name."""
    known = [label.value for label in Label if label.value in labels]
    return [*known, *sorted(labels.difference(known))]
