"""Candidates of several documents in one pool, with embeddings that come late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstrag.collection.pooled import Laid, Pooled
from abstrag.engine.searcher import Searcher
from abstrag.neural.passage import segment_text
from abstrag.rank.dense import DenseSimilarity
from abstrag.rank.match import Signal
from abstrag.rank.relevance import GENERAL, Preset
from abstrag.rank.scoring import Scoring
from tests.unit.collection.shelves import Counted, Topics, indexes

QUERY = "ships passing the lock at dawn"
LATE = replace(GENERAL, name="late", judged=1)


def laid(preset: Preset, judge: Counted, encoder: Topics) -> list[Laid]:
    """Lay a query over every document of the library; the later ones count for less."""
    return [
        Laid(scoring(name, preset, judge, encoder), 0.9**number)
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
    pooled = Pooled(laid(LATE, judge, encoder), LATE)
    judged = pooled.judge(3)
    passages = [text for text in encoder.embedded if text != QUERY]
    assert 1 < judged.made == len(judge.asked) < len(passages) <= len(everybody())
    assert len(passages) == len(set(passages))
    rows = np.arange(len(pooled.owners))
    best = rows[np.lexsort((rows, -pooled._promise(rows, True)))][: judged.made]
    expected = [pooled.hit(row).text for row in best.tolist()]
    assert sorted(judge.asked) == sorted(expected)
    hits = [pooled.hit(row) for row, _ in pooled.order()]
    assert "lock" in hits[0].text
    assert encoder.embedded.count(QUERY) == len(indexes())
    assert sorted(everybody()) == sorted(text for text in encoder.embedded if text != QUERY)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_with_late_embeddings_the_best_of_all_are_those_of_judging_everything(k: int) -> None:
    exact = replace(GENERAL, judged=None)
    pooled = Pooled(laid(exact, Counted("lock"), Topics()), exact)
    found = pooled.judge(k)
    rows = np.arange(len(pooled.owners))
    said = np.array(Pooled(laid(exact, Counted("lock"), Topics()), exact)._ask(rows))
    everything = pooled.scores(rows, said)
    expected = sorted(rows.tolist(), key=lambda row: (-everything[row], row))[:k]
    assert list(found.order) == expected
    assert list(found.scores) == [everything[row] for row in expected]
