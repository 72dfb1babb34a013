"""Retrieve and rerank: who is asked about, and in what order they come out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from abstrag.errors import InputError
from abstrag_bench.baselines.dense import Rerank
from abstrag_bench.baselines.system import Element, Pool, VersionedSystem


class Vowels:
    """Scores a passage by its share of the letter o, and remembers what it was asked."""

    fingerprint = "vowels:1"

    def __init__(self, *, wants_title: bool = False) -> None:
        self.wants_title = wants_title
        self.asked: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked += passages
        return [one.count("o") / len(one) for one in passages]


def pool(*texts: str, section: tuple[str, ...] = ()) -> Pool:
    elements = (Element(str(i), text, section=section) for i, text in enumerate(texts))
    return Pool("d", "Title", tuple(elements))


TEXTS = ("red fox", "red red deer", "blue whale", "red ooo", "green", "red oo fox")


def test_the_judge_orders_the_candidates_of_bm25() -> None:
    judge = Vowels()
    system = Rerank(judge, candidates=3)
    system.index(pool(*TEXTS))
    ranked = system.search("red", 9)
    assert sorted(judge.asked) == ["red fox", "red ooo", "red red deer"]
    assert [name for name, _ in ranked] == ["3", "0", "1", "5", "2", "4"]
    assert ranked[0] == ("3", 3 / 7)
    assert [score for _, score in ranked[3:]] == [-1.0, -2.0, -3.0]
    assert system.search("red", 2) == ranked[:2]


def test_equal_judgements_keep_the_order_of_bm25() -> None:
    system = Rerank(Vowels())
    system.index(pool("red deer and crabs", "red red", "red deer and crabs"))
    assert [name for name, _ in system.search("red", 3)] == ["1", "0", "2"]


def test_passages_are_put_as_the_judge_knows_them() -> None:
    plain, titled = Vowels(), Vowels(wants_title=True)
    for judge in (plain, titled):
        system = Rerank(judge)
        system.index(pool("red", section=("Results", "Cost")))
        system.search("red", 1)
    assert plain.asked == ["Cost: red"]
    assert titled.asked == ["Title: Cost: red"]


def test_indexing_a_document_forgets_the_one_before() -> None:
    system = Rerank(Vowels())
    assert system.search("red", 3) == []
    system.index(pool("red", "blue"))
    system.index(pool("red"))
    assert [name for name, _ in system.search("red", 3)] == ["0"]
    system.index(pool())
    assert system.search("red", 3) == []


def test_it_says_what_it_is() -> None:
    system = Rerank(Vowels(), candidates=7)
    assert isinstance(system, VersionedSystem)
    assert (system.name, system.state) == ("rerank", "vowels:1")
    assert "BM25's best 7" in system.fidelity
    assert "'vowels:1'" in system.fidelity
    assert "shipped" in Rerank().fidelity  # known without loading it


def test_no_candidates_are_refused() -> None:
    with pytest.raises(InputError, match="candidates is 0"):
        Rerank(candidates=0)
