"""Claims about real-looking documents, and their twins with one thing turned around."""

import json
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from abstrag.answers.contradictions.find import differences
from abstrag.answers.verdicts import ruled
from abstrag.model.answer import DifferenceKind, Label
from abstrag.neural.verdict import default_verdict

PAIRS: Final = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "data" / "flipped_pairs.jsonl")
    .read_text("utf-8")
    .splitlines()
]
MOST_WRONG: Final = 3


def said(claim: str, evidence: str) -> Label | None:
    model = default_verdict()
    found = differences(claim, [evidence])
    verdict, _ = ruled(model(claim, [evidence]), model.threshold, found)
    return verdict.label if verdict else None


def test_there_are_twenty_pairs_of_each_kind() -> None:
    kinds = Counter(one["kind"] for one in PAIRS)
    assert sorted(kinds) == sorted(kind.value for kind in DifferenceKind)
    assert min(kinds.values()) >= 20
    assert len(PAIRS) >= 120


def test_at_most_three_flipped_claims_are_called_supported() -> None:
    wrong = [one for one in PAIRS if said(one["flipped"], one["evidence"]) is Label.SUPPORTS]
    assert len(wrong) <= MOST_WRONG, wrong


def test_most_true_twins_are_still_called_supported() -> None:
    labels = Counter(said(one["claim"], one["evidence"]) for one in PAIRS)
    assert labels[Label.SUPPORTS] >= 0.7 * len(PAIRS)


@pytest.mark.parametrize("kind", list(DifferenceKind))
def test_rules_alone_see_most_flips_of_each_kind_and_none_in_the_twins(
    kind: DifferenceKind,
) -> None:
    own = [one for one in PAIRS if one["kind"] == kind.value]
    seen = [one for one in own if differences(one["flipped"], [one["evidence"]])]
    assert len(seen) >= 0.75 * len(own)
    assert [one for one in own if differences(one["claim"], [one["evidence"]])] == []
