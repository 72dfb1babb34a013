"""Lexical similarity: BM25 over a document's segments, scaled to [0, 1] for each query."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import numpy as np

from abstrag.language.parser import stop_words
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.search.bm25 import BM25
from abstrag.search.postings import FloatArray, IntArray
from abstrag.search.tables import DocumentTables

_WORD: Final = re.compile(r"\w+")


class Lexical:
    """BM25 of the query's words against the segments' own words and headers.

    Scores are divided by the best one, so that the best segment has 1 and one without any of the
    words has 0; a row of a table is halfway between its own and its table's best. It is a
    similarity: it has a say in Match and meets no literal.
    """

    def __init__(self, index: DocumentIndex) -> None:
        texts = [words(" ".join((*(h.text for h in s.headers), s.text))) for s in index.segments]
        self._bm25 = BM25(texts)
        self._tables = DocumentTables(index.segments)

    def __call__(self, query: Query, positions: IntArray) -> FloatArray:
        """Return one value for each of some segments."""
        asked = [word for word in words(query.reading) if word in self._bm25]
        if not asked:
            return np.zeros(len(positions))
        scores: FloatArray = self._bm25.scores(asked).astype(np.float64)
        top = float(scores.max())
        if top <= 0:
            return np.zeros(len(positions))
        return self._tables.shared(scores)[positions] / top


def words(text: str) -> list[str]:
    """Cut a text into stems of folded words, less the ones that say nothing."""
    empty = stop_words()
    kept = [w for w in _WORD.findall(text.casefold()) if w not in empty]
    return stemmed(kept)


def stemmed(words: list[str]) -> list[str]:
    """Return the stems of folded words."""
    stems: list[str] = _stemmer().stemWords(words)
    return stems


@cache
def _stemmer() -> Any:
    import Stemmer  # type: ignore[import-not-found]

    return Stemmer.Stemmer("english")
