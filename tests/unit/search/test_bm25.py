"""BM25 gives what the library it replaces gives."""

import bm25s
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from abstrag.search.lexical import BM25, K1, B

WORDS = st.sampled_from(["goodwill", "sale", "debt", "bond", "tax", "lease"])
TEXTS = st.lists(st.lists(WORDS, max_size=30), min_size=1, max_size=12).filter(any)


@given(texts=TEXTS, asked=st.lists(WORDS, min_size=1, max_size=8))
def test_scores_are_those_of_bm25s_to_the_last_digit(
    texts: list[list[str]], asked: list[str]
) -> None:
    ours = BM25(texts)
    theirs = bm25s.BM25(method="lucene", k1=K1, b=B)
    theirs.index(texts, show_progress=False)
    known = [word for word in asked if word in ours]
    assert known == [word for word in asked if any(word in text for text in texts)]
    if known:
        assert ours.scores(known).tolist() == theirs.get_scores(known).tolist()


def test_a_word_that_no_text_holds_adds_nothing() -> None:
    ours = BM25([["tax", "sale"], ["sale"]])
    assert ours.scores(["bond", "tax"]).tolist() == ours.scores(["tax"]).tolist()
    assert "bond" not in ours


def test_texts_without_words_score_nothing() -> None:
    assert BM25([[], []]).scores(["tax"]).tolist() == [0.0, 0.0]
    assert BM25([]).scores(["tax"]).tolist() == []


def test_a_word_asked_twice_counts_twice() -> None:
    ours = BM25([["tax", "sale"], ["sale"]])
    assert np.allclose(ours.scores(["tax", "tax"]), 2 * ours.scores(["tax"]))
