"""Labels: accuracy, and precision, recall and F1 of each class; verdicts against people's.

Data sets spell the three verdicts in their own ways; the same verdict counts as the same label.
A judge may abstain. Accuracy is over all cases, with the label it would give if it had to; the
shares of cases that it answers and that it gets wrong stand beside it, so that neither abstaining
nor guessing looks like skill.
"""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.errors import InputError, NotComputable
from abstrag.model.answer import Label
from abstrag.model.record import record
from abstrag_bench.metrics.metric import Metric, lacking
from abstrag_bench.record import CaseRecord


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


@record
class VerdictScore:
    """The verdicts of a system over all cases with a gold label, abstentions counted.

    `accuracy` counts the label it would give if it had to. The others count what it says: the
    share of cases it answers, the share of all cases it gets wrong by what it says, and the share
    of refutations it says are such; None where there are none.
    """

    cases: int
    accuracy: float
    answered: float
    wrong: float
    refutations: int
    refutations_recalled: float | None


def _labels(name: str, one: CaseRecord) -> tuple[str | None, str, str]:
    """Return what was said, what would have been said without abstaining, and what is right."""
    forced = one.leaning or one.label
    if forced is None:
        raise lacking(name, "a predicted label", one)
    if one.gold_label is None:
        raise lacking(name, "a gold label", one)
    said = None if one.label is None else spelled(one.label)
    return said, spelled(forced), spelled(one.gold_label)


def _accuracy(one: CaseRecord, k: int) -> float:  # noqa: ARG001
    _, forced, gold = _labels("Accuracy", one)
    return float(forced == gold)


def _answered(one: CaseRecord, k: int) -> float:  # noqa: ARG001
    return float(_labels("Answered", one)[0] is not None)


def _wrong(one: CaseRecord, k: int) -> float:  # noqa: ARG001
    said, _, gold = _labels("Wrong", one)
    return float(said is not None and said != gold)


ACCURACY = Metric("Accuracy", _accuracy)
ANSWERED = Metric("Answered", _answered)
WRONG = Metric("Wrong", _wrong)


def verdict_score(records: Iterable[CaseRecord]) -> VerdictScore | None:
    """Return how good a system's verdicts are with and without abstaining; None without any."""
    found = []
    for one in records:
        try:
            found.append(_labels("a verdict", one))
        except NotComputable:
            continue
    if not found:
        return None
    refuted = [said for said, _, gold in found if gold == Label.REFUTES.value]
    recalled = sum(said == Label.REFUTES.value for said in refuted)
    return VerdictScore(
        cases=len(found),
        accuracy=sum(forced == gold for _, forced, gold in found) / len(found),
        answered=sum(said is not None for said, _, _ in found) / len(found),
        wrong=sum(said is not None and said != gold for said, _, gold in found) / len(found),
        refutations=len(refuted),
        refutations_recalled=recalled / len(refuted) if refuted else None,
    )


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
