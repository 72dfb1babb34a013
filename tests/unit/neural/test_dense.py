"""Dense retrieval: the similarity that has a say in Match, and the baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstrag.model.document import Quote, Span
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.neural.encoder import cosines
from abstrag.neural.runtime import passage, segment_text
from abstrag.neural.whole_text import WholeTextEncoder
from abstrag.search.costed_index import IntArray
from abstrag.search.dense import DenseSimilarity
from abstrag.testing.sample_index import sample_index
from abstrag_bench.baselines.dense import Dense, element_text
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from tests.unit.neural.letters import Letters


def index_of(*texts: str, section: tuple[str, ...] = ()) -> DocumentIndex:
    sample = sample_index()
    first = sample.records[0]
    bare = replace(first.segment, section=section, headers=())
    records = tuple(replace(first, segment=replace(bare, text=text)) for text in texts)
    return replace(sample, records=records)


def asked(text: str) -> Query:
    return Query(text, ())


def some(*positions: int) -> IntArray:
    return np.array(positions, dtype=np.int64)


def pool(*texts: str) -> Pool:
    return Pool("d", "d", tuple(Element(str(i), text) for i, text in enumerate(texts)))


def test_a_passage_comes_after_its_innermost_section_and_its_headers() -> None:
    assert passage("42") == "42"
    assert passage("42", section=("Results", "Cost "), headers=("2024", "Rent")) == (
        "Cost: 2024 Rent 42"
    )
    assert passage("42", section=("Results", " ")) == "42"


def test_segments_and_elements_are_put_alike() -> None:
    segment = index_of("42", section=("Results",)).segments[0]
    segment = replace(segment, headers=(Quote("Rent", Span(0, 4)),))
    element = Element("e", "42", ElementKind.TABLE_CELL, section=("Results",), headers=("Rent",))
    assert segment_text(segment) == element_text(element) == "Results: Rent 42"


def test_equal_passages_score_equally_wherever_they_stand() -> None:
    random = np.random.default_rng(2)
    rows = random.normal(size=(101, 384)).astype(np.float32)
    rows[[3, 50, 100]] = rows[0]
    scores = cosines(rows, rows[1])
    assert len({scores[i] for i in (0, 3, 50, 100)}) == 1
    assert scores.dtype == np.float64
    assert scores.max() == 1.0  # of a vector longer than 1 as well


# --- The similarity -------------------------------------------------------------------------------


def test_similarity_is_the_cosine_and_never_negative() -> None:
    similarity = DenseSimilarity(index_of("aab", "ccc", "-a", ""), encoder=Letters())
    everywhere = some(0, 1, 2, 3)
    assert similarity(asked("a"), everywhere) == pytest.approx([2 / 5**0.5, 0, 0, 0])
    assert similarity(asked(""), everywhere) == pytest.approx([0, 0, 0, 0])


def test_a_segment_is_embedded_once_and_only_when_it_is_asked_about() -> None:
    encoder = Letters()
    index = index_of("a", "b", "c", section=("Methods",))
    similarity = DenseSimilarity(index, encoder=encoder)
    assert encoder.asked == []
    similarity(asked("a?"), some(2, 0))
    assert encoder.asked == ["a?", "Methods: c", "Methods: a"]
    similarity(asked("b?"), some(0, 1, 2))
    assert encoder.asked[3:] == ["b?", "Methods: b"]


def test_values_are_of_the_segments_asked_about_in_that_order() -> None:
    similarity = DenseSimilarity(index_of("a", "b", "ab"), encoder=Letters())
    half = pytest.approx(0.5**0.5)
    assert similarity(asked("a"), some(2, 0)).tolist() == [half, 1.0]
    assert similarity(asked("a"), some(1, 2, 1)).tolist() == [0.0, half, 0.0]
    assert similarity(asked("b"), some(1, 2)).tolist() == [1.0, half]  # a query after another


def test_a_query_that_comes_in_parts_is_embedded_once() -> None:
    encoder = Letters()
    similarity = DenseSimilarity(index_of("a", "b", "c"), encoder=encoder)
    for position in range(3):
        similarity(asked("d"), some(position))
    assert encoder.asked == ["d", "a", "b", "c"]


def test_where_no_segment_is_asked_about_nothing_is_embedded() -> None:
    encoder = Letters()
    assert DenseSimilarity(index_of("a"), encoder=encoder)(asked("a"), some()).shape == (0,)
    assert encoder.asked == []


def test_a_document_without_segments_has_no_similarities(shipped: WholeTextEncoder) -> None:
    assert DenseSimilarity(index_of(), encoder=shipped)(asked("a"), some()).shape == (0,)


# --- The baseline ---------------------------------------------------------------------------------


def test_the_baseline_ranks_by_cosine_and_ties_keep_their_order() -> None:
    system = Dense(Letters())
    system.index(pool("c", "aab", "-a", "a", "a"))
    assert [name for name, _ in system.search("a", 9)] == ["3", "4", "1", "0", "2"]
    assert system.search("a", 1) == [("3", 1.0)]
    assert system.search("a", 9)[-1] == ("2", -1.0)


def test_indexing_a_document_forgets_the_one_before() -> None:
    system = Dense(Letters())
    assert system.search("a", 5) == []
    system.index(pool("a", "b"))
    system.index(pool())
    assert system.search("a", 5) == []


def test_the_baseline_says_which_model_it_is() -> None:
    assert Dense().name == "dense"
    assert "all-MiniLM-L6-v2" in Dense().fidelity
    assert "'letters:1'" in Dense(Letters()).fidelity


def test_the_shipped_model_finds_what_shares_no_word(shipped: WholeTextEncoder) -> None:
    system = Dense(shipped)
    system.index(pool("Sales of bread fell.", "The physician examined her.", "It rained in Rome."))
    assert system.search("A doctor looked at the patient.", 1)[0][0] == "1"
