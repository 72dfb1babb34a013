"""Measure the verdict model that ships, with the judge's first passages as evidence.

python tools/measure_verdict.py --data DATA --dataset scifact --split train:report

Prints the figures without abstaining and with the default threshold, of the model alone and with
the rules that see contradictions.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.answers.contradictions.find import differences
from abstrag.answers.verdicts import WEIGHED, forced, ruled
from abstrag.model.answer import Difference, Label
from abstrag.neural.judge import default_judge
from abstrag.neural.runtime import passage
from abstrag.neural.verdict import VerdictProbabilities, default_verdict
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset

LABELS: Final = (Label.SUPPORTS, Label.REFUTES, Label.NOT_ENOUGH_INFO)


def judged(case: Case) -> tuple[VerdictProbabilities, tuple[Difference, ...]]:
    """Ask the judge for the evidence, and model and rules what it says about the claim."""
    texts = [
        passage(one.text, section=one.section, headers=one.headers)
        for one in case.document.elements
    ]
    order = np.argsort(-np.array(default_judge().score(case.query, texts)), kind="stable")
    shown = [int(i) for i in order[:WEIGHED]]
    plain = [case.document.elements[i].text for i in shown]
    told = default_verdict()(case.query, [texts[i] for i in shown])
    return told, differences(case.query, plain)


def show(name: str, cases: list[Case], forced: list[Label], said: list[Label | None]) -> None:
    """Print both kinds of figures, abstentions counted."""
    gold = [Label.read(case.label or "") for case in cases]
    n = len(gold)
    right = sum(a is b for a, b in zip(forced, gold, strict=True))
    spoken = sum(one is not None for one in said)
    wrong = sum(a is not None and a is not b for a, b in zip(said, gold, strict=True))
    print(f"{name}: n {n}, without abstaining {100 * right / n:.1f} right")
    print(f"  answered {100 * spoken / n:.1f}, wrong of all {100 * wrong / n:.1f}")
    for label in LABELS:
        own = [i for i in range(n) if gold[i] is label]
        if own:
            free = 100 * sum(forced[i] is label for i in own) / len(own)
            told = 100 * sum(said[i] is label for i in own) / len(own)
            print(f"  recall of {label.value} ({len(own)}): {free:.0f} forced, {told:.0f} said")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the verdict model.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True)
    given = parser.parse_args()
    cases = [c for c in load_dataset(given.dataset, given.data, given.split).cases if c.label]
    found = [judged(case) for case in cases]
    threshold = default_verdict().threshold
    for name, rules in (("model", False), ("model and rules", True)):
        seen = [(told, some if rules else ()) for told, some in found]
        verdicts = [ruled(told, threshold, some)[0] for told, some in seen]
        said = [one.label if one else None for one in verdicts]
        show(name, cases, [forced(told, some) for told, some in seen], said)


if __name__ == "__main__":
    main()
