"""The rivals that the studio shows beside our ranking are what they are called."""

from functools import cache

import bm25s
import numpy as np

from abstrag.model.index import DocumentIndex
from abstrag.search.lexical import K1, B, words
from abstrag.server.compare import Rival, rivals_of
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE, demo_index
from abstrag_bench.baselines.dense import Dense
from abstrag_bench.baselines.system import Element, Pool


@cache
def index() -> DocumentIndex:
    return demo_index()


@cache
def rivals() -> dict[str, Rival]:
    return rivals_of(index())


def test_word_matching_is_bm25_over_segments_with_their_headers() -> None:
    texts = [[*(h.text for h in one.headers), one.text] for one in index().segments]
    library = bm25s.BM25(method="lucene", k1=K1, b=B)
    library.index([words(" ".join(text)) for text in texts], show_progress=False)
    for question in (DEMO_QUERY, "When was TSMC founded?"):
        known = [word for word in words(question) if word in library.vocab_dict]
        assert np.allclose(rivals()["bm25"](question), library.get_scores(known), atol=1e-6)


def test_the_dense_one_is_the_dense_baseline() -> None:
    elements = tuple(
        Element(one.id, one.text, section=one.section, headers=tuple(h.text for h in one.headers))
        for one in index().segments
    )
    baseline = Dense()
    baseline.index(Pool("chips", index().document.title, elements))
    assert np.allclose(rivals()["dense"](DEMO_QUERY), baseline.scores(DEMO_QUERY), atol=1e-6)


def test_neither_finds_what_the_demo_is_about() -> None:
    place = [segment.text for segment in index().segments].index(DEMO_SENTENCE)
    for rival in rivals().values():
        scores = rival(DEMO_QUERY)
        assert np.count_nonzero(scores > scores[place]) > 10
