"""Lexical similarity: BM25 over one document's segments, told as shares of the best score."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from abstrag.config import Settings
from abstrag.indexing.pipeline import index
from abstrag.model.document import Block, BlockKind, Document
from abstrag.model.query import Query
from abstrag.model.span import Alignment, Span
from abstrag.rank.lexical import Lexical, words


def scores(texts: Sequence[str], asked: str) -> list[float]:
    """Return what each of some paragraphs scores for a query."""
    blocks, at = [], 0
    for text in texts:
        span = Span(at, at + len(text))
        blocks.append(Block(BlockKind.PARAGRAPH, text, span, Alignment(((0, at),))))
        at += len(text) + 1
    document = Document("d", "d", "\n".join(texts) + "\n", tuple(blocks))
    whole = index(document, settings=Settings(granularity="paragraph"))
    found: list[float] = Lexical(whole)(Query(asked, ())).tolist()
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
