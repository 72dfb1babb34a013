"""Measure the verdict model that ships, with the judge's first three passages as evidence.

python tools/measure_verdict.py --data DATA --dataset scifact --split train:report
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.bench.case import Case
from abstrag.bench.datasets.load import load_dataset
from abstrag.model.answer import Label
from abstrag.neural.judge import default_judge
from abstrag.neural.passage import passage
from abstrag.neural.verdict import Verdict, default_verdict

LABELS: Final = (Label.SUPPORTS, Label.REFUTES, Label.NOT_ENOUGH_INFO)
EVIDENCE: Final = 3


def verdict(case: Case) -> Verdict:
    """Ask the judge for the evidence, and the model what it says about the claim."""
    texts = [
        passage(one.text, section=one.section, headers=one.headers)
        for one in case.document.elements
    ]
    order = np.argsort(-np.array(default_judge().score(case.query, texts)), kind="stable")
    return default_verdict()(case.query, [texts[i] for i in order[:EVIDENCE]])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the verdict model.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True)
    given = parser.parse_args()
    cases = [c for c in load_dataset(given.dataset, given.data, given.split).cases if c.label]
    truth = np.array([LABELS.index(Label.read(c.label or "")) for c in cases])
    told = np.array([verdict(case) for case in cases])
    said, sure = told.argmax(axis=1), told.max(axis=1) >= default_verdict().threshold
    print(f"n {len(cases)}, accuracy {100 * np.mean(said == truth):.1f}")
    print(f"largest class {100 * np.bincount(truth).max() / len(truth):.1f}")
    for number, label in enumerate(LABELS):
        if (truth == number).any():
            recall = 100 * np.mean(said[truth == number] == number)
            print(f"recall of {label.value} {recall:.0f}")
    right = 100 * np.mean((said == truth)[sure])
    print(f"speaks {100 * np.mean(sure):.0f} %, then right {right:.0f} %")


if __name__ == "__main__":
    main()
