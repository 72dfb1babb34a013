import math

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.search.relevance import standardized
from abstrag_bench.baselines.bm25 import K1, B, Bm25
from abstrag_bench.baselines.dense import Hybrid
from abstrag_bench.baselines.registry import BASELINES, build_baseline
from abstrag_bench.baselines.system import Element, ElementKind, Pool, Ranked, best_first


def pool(*texts: str) -> Pool:
    return Pool("d", "d", tuple(Element(str(i), text) for i, text in enumerate(texts)))


def test_bm25_is_the_formula() -> None:
    texts = ("red fox runs", "red red dog", "blue whale swims far away")
    system = Bm25()
    system.index(pool(*texts))
    mean = sum(len(t.split()) for t in texts) / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def expected(frequency: int, length: int) -> float:
        return idf * frequency / (frequency + K1 * (1 - B + B * length / mean))

    scores = system.scores("red")
    ratio = scores[1] / scores[0]
    assert ratio == pytest.approx(expected(2, 3) / expected(1, 3), rel=1e-5)
    assert scores[2] == 0.0
    assert [name for name, _ in system.search("red", 2)] == ["1", "0"]


def test_stop_words_do_not_count_and_equal_scores_keep_the_order() -> None:
    system = Bm25()
    system.index(pool("the cat", "the dog", "a bird"))
    assert system.search("the", 3) == [("0", 0.0), ("1", 0.0), ("2", 0.0)]
    assert Bm25(stop=False).words("The cat") == ["the", "cat"]


def test_stemming_joins_forms_of_a_word() -> None:
    plain, stemmed = Bm25(), Bm25(stem=True)
    for system in (plain, stemmed):
        system.index(pool("nothing here", "the runner was running"))
    assert plain.search("runs", 1)[0][1] == 0.0
    assert stemmed.search("runs", 1)[0][0] == "1"
    assert (plain.name, stemmed.name) == ("bm25", "bm25-stem")
    assert "stems" in stemmed.fidelity


def test_headers_are_words_of_a_cell() -> None:
    cell = Element("c", "42", ElementKind.TABLE_CELL, headers=("Revenue",))
    system = Bm25()
    system.index(Pool("d", "d", (Element("p", "Other words"), cell)))
    assert system.search("revenue", 1)[0][0] == "c"


def test_documents_of_no_words_are_ranked_all_the_same() -> None:
    system = Bm25()
    system.index(pool("the", "!"))
    assert system.search("cat", 5) == [("0", 0.0), ("1", 0.0)]
    system.index(pool())
    assert system.search("cat", 5) == []


class Fixed:
    """A dense stand-in with scores of its own, which leaves the last element out."""

    name, fidelity = "dense", "a stand-in"

    def __init__(self, *scores: float) -> None:
        self.given = scores

    def index(self, document: Pool) -> None:
        self.ids = document.ids

    def search(self, query: str, k: int) -> Ranked:
        return best_first(self.ids[: len(self.given)], self.given, k)


def test_the_hybrid_adds_z_scores() -> None:
    system = Hybrid(Fixed(0.1, 0.9, 0.2))
    system.index(pool("red fox", "blue dog", "red bird"))
    found = dict(system.search("red", 3))
    lexical = standardized(system.lexical.scores("red"))  # type: ignore[attr-defined]
    dense = standardized(np.array([0.1, 0.9, 0.2]))
    assert found["1"] == pytest.approx(0.5 * lexical[1] + 0.5 * dense[1])
    assert next(iter(Hybrid(Fixed(0.1, 0.9), weight=1.0).fidelity.split())) == "plain"


def test_scores_that_are_all_equal_say_nothing() -> None:
    assert standardized(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert standardized(np.array([])).tolist() == []
    assert standardized(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]


def test_what_a_dense_system_leaves_out_scores_like_its_last() -> None:
    system = Hybrid(Fixed(0.9, 0.1), weight=1.0)
    system.index(pool("a", "b", "c"))
    assert [name for name, _ in system.search("x", 3)] == ["0", "1", "2"]


def test_every_baseline_of_the_paper_has_its_place() -> None:
    wanted = {"bm25", "bm25-stem", "dense", "hybrid", "rerank", "hyde", "ircot", "self-rag", "crag"}
    assert set(BASELINES) == wanted | {"public-dense", "public-hybrid", "public-rerank"}
    for name, entry in BASELINES.items():
        if entry.build is None:
            with pytest.raises(InputError, match=f"'{name}' cannot run here: {entry.reserved}"):
                build_baseline(name)


def test_a_baseline_takes_other_numbers_and_shows_them() -> None:
    assert "k1 0.9, b 0.4" in build_baseline("bm25", {"k1": 0.9, "b": 0.4}).fidelity
    with pytest.raises(InputError, match="no baseline is called 'bm26'"):
        build_baseline("bm26")
