"""Candidates of several documents in one pool, with embeddings that come late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstrag.engine.searcher import Searcher
from abstrag.neural.passage import segment_text
from abstrag.rank.dense import DenseSimilarity
from abstrag.rank.joint import JointRanking, Share
from abstrag.rank.match import Signal
from abstrag.rank.relevance import GENERAL, Preset
from abstrag.rank.scoring import Scoring
from tests.unit.collection.shelves import Counted, Topics, indexes

QUERY = "ships passing the lock at dawn"
LATE = replace(GENERAL, name="late", judged=1)


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


def test_of_all_documents_embeddings_choose_what_the_judge_reads() -> None:
    judge, encoder = Counted("lock"), Topics()
    joint = JointRanking(shares(LATE, judge, encoder), LATE)
    judged = joint.judge(3)
    passages = [text for text in encoder.embedded if text != QUERY]
    assert 1 < judged.made == len(judge.asked) < len(passages) <= len(everybody())
    assert len(passages) == len(set(passages))
    rows = np.arange(len(joint.owners))
    best = rows[np.lexsort((rows, -joint._promise(rows, True)))][: judged.made]
    expected = [joint.hit(row).text for row in best.tolist()]
    assert sorted(judge.asked) == sorted(expected)
    hits = [joint.hit(row) for row, _ in joint.order()]
    assert "lock" in hits[0].text
    assert encoder.embedded.count(QUERY) == len(indexes())
    assert sorted(everybody()) == sorted(text for text in encoder.embedded if text != QUERY)


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
