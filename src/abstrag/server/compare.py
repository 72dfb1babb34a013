"""The same question put to BM25 and to a sentence embedder, over the same segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking
from abstrag.neural.encoder import cosines
from abstrag.neural.runtime import segment_text
from abstrag.neural.whole_text import default_encoder
from abstrag.search.lexical import BM25, words

Rival = Callable[[str], npt.NDArray[np.floating[Any]]]  # a question → a score for each segment


def rivals_of(index: DocumentIndex) -> dict[str, Rival]:
    """Build BM25 and the dense retriever for one document, embedding every segment."""
    return {"bm25": _bm25(index), "dense": _dense(index)}


def _bm25(index: DocumentIndex) -> Rival:
    texts = [words(" ".join((*(h.text for h in s.headers), s.text))) for s in index.segments]
    counted = BM25(texts)
    return lambda question: counted.scores(words(question))


def _dense(index: DocumentIndex) -> Rival:
    encoder = default_encoder()
    vectors = encoder.embed([segment_text(segment) for segment in index.segments])
    return lambda question: cosines(vectors, encoder.embed([question])[0])


def compared(
    ranking: Ranking, rivals: Mapping[str, Rival], index: DocumentIndex, query: str, *, k: int
) -> dict[str, Any]:
    """Return our ranking and the first k hits of the others, without those that score nothing."""
    ranked = {"abstrag": [(hit.segment, hit.relevance) for hit in ranking.hits]}
    for name, rival in rivals.items():
        scores = rival(query)
        first = np.argsort(-scores, kind="stable")[:k]
        ranked[name] = [(index.segments[at].id, float(scores[at])) for at in first]
    return {
        "systems": {
            name: [{"segment": segment, "score": score} for segment, score in hits if score > 0]
            for name, hits in ranked.items()
        }
    }
