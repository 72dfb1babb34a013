"""Candidates of several documents in one pool, with embeddings that come late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstrag.engine.searcher import Searcher
from abstrag.neural.runtime import segment_text
from abstrag.search.dense import DenseSimilarity
from abstrag.search.judging import JointRanking, Share
from abstrag.search.relevance import GENERAL, Preset, Signal
from abstrag.search.scoring import Scoring
from tests.unit.collection.small_library import Counted, Topics, indexes

QUERY = "ships passing the lock at dawn"
SHORT = replace(GENERAL, name="short", judged=1)


def shares(preset: Preset, judge: Counted, encoder: Topics) -> list[Share]:
    """Lay a query over every document of the library; the later ones count for less."""
    return [
        Share(scoring(name, preset, judge, encoder), 0.9**number)
        for number, name in enumerate(indexes())
    ]


def scoring(name: str, preset: Preset, judge: Counted, encoder: Topics) -> Scoring:
    index = indexes()[name]
    made = Searcher(index, preset=preset, judge=judge).scoring(QUERY)
    dense = DenseSimilarity(index, encoder=encoder)
    return replace(made, similarities={**made.similarities, Signal.DENSE: dense})


def everybody() -> list[str]:
    return [segment_text(s) for index in indexes().values() for s in index.segments]


def test_of_all_documents_what_ranks_first_without_the_judge_is_read_by_it() -> None:
    judge = Counted("lock")
    joint = JointRanking(shares(SHORT, judge, Topics()), SHORT)
    judged = joint.judge(3)
    assert 1 < judged.made == len(judge.asked) < len(everybody())
    rows = np.arange(len(joint.owners))
    best = rows[np.lexsort((rows, -joint._promise(rows)))][: judged.made]
    assert sorted(judge.asked) == sorted(joint.hit(row).text for row in best.tolist())
    hits = [joint.hit(row) for row, _ in joint.order()]
    assert "lock" in hits[0].text


@pytest.mark.parametrize("k", [1, 3, 8])
def test_with_late_embeddings_the_best_of_all_are_those_of_judging_everything(k: int) -> None:
    exact = replace(GENERAL, judged=None)
    joint = JointRanking(shares(exact, Counted("lock"), Topics()), exact)
    found = joint.judge(k)
    rows = np.arange(len(joint.owners))
    said = np.array(JointRanking(shares(exact, Counted("lock"), Topics()), exact).ask(rows))
    everything = joint.scores(rows, said)
    expected = sorted(rows.tolist(), key=lambda row: (-everything[row], row))[:k]
    assert list(found.order) == expected
    assert list(found.scores) == [everything[row] for row in expected]


def test_documents_are_judged_side_by_side_as_one_after_the_other() -> None:
    class Threaded(Counted):
        threads = 2

    found = []
    for judge in (Counted("lock"), Threaded("lock")):
        joint = JointRanking(shares(GENERAL, judge, Topics()), GENERAL)
        found.append((joint.ask(joint.rows), sorted(judge.asked)))
    assert found[0] == found[1]
    assert len(found[0][1]) == len(everybody())
