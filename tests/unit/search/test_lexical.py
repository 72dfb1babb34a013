"""Lexical similarity: BM25 over one document's segments, told as shares of the best score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from abstrag.config import Settings
from abstrag.indexing.pipeline import index
from abstrag.model.document import Block, BlockKind, Document, OffsetMap, Span
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.search.lexical import Lexical, words


def paragraphs(texts: Sequence[str]) -> DocumentIndex:
    """Return a document of some paragraphs, each a segment."""
    blocks, at = [], 0
    for text in texts:
        span = Span(at, at + len(text))
        blocks.append(Block(BlockKind.PARAGRAPH, text, span, OffsetMap(((0, at),))))
        at += len(text) + 1
    document = Document("d", "d", "\n".join(texts) + "\n", tuple(blocks))
    return index(document, settings=Settings(granularity="paragraph"))


def scores(texts: Sequence[str], asked: str, positions: Sequence[int] | None = None) -> list[float]:
    """Return what some paragraphs score for a query: all of them, or those at some positions."""
    of = np.arange(len(texts)) if positions is None else np.array(positions, dtype=np.int64)
    found: list[float] = Lexical(paragraphs(texts))(Query(asked, ()), of).tolist()
    return found


def test_words_are_folded_stemmed_and_rid_of_those_that_say_nothing() -> None:
    assert words("The Suppliers were supplying CHIPS") == ["supplier", "suppli", "chip"]


def test_the_best_segment_has_one_and_one_without_the_words_none() -> None:
    found = scores(["Chips are scarce.", "Chips and wafers are scarce.", "It rained."], "wafers")
    assert found == [0.0, 1.0, 0.0]


def test_a_query_of_unknown_words_is_like_nothing() -> None:
    assert scores(["Chips are scarce.", "It rained."], "the zeppelin") == [0.0, 0.0]


def test_a_long_segment_with_two_of_the_words_beats_a_short_one_with_one() -> None:
    padding = "Mills by many rivers ground much flour while farmers brought grain from hills. "
    long = padding * 2 + "The zeppelin crossed the estuary."
    short, other = "A zeppelin.", "An estuary lies in the north where few people ever settled."
    found = scores([long, short, other, "It rained.", "It snowed."], "zeppelin estuary")
    assert found[0] == 1.0
    assert found[1] == pytest.approx(max(found[1:]))
    assert 0.0 < found[1] < 1.0


def test_some_segments_have_the_values_they_have_among_all_in_the_order_asked() -> None:
    texts = ["Chips are scarce.", "Chips and wafers.", "Wafers: wafers!", "It rained."]
    everywhere = scores(texts, "wafers and chips")
    assert len(set(everywhere)) == 4
    for positions in ([2, 0], [3, 1, 1], [0]):  # also where the best of all is not asked about
        assert scores(texts, "wafers and chips", positions) == [everywhere[p] for p in positions]
    assert scores(texts, "wafers", []) == []
    assert scores(texts, "zeppelin", [1, 2]) == [0.0, 0.0]
