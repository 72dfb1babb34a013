"""Lexical similarity: BM25 over a document's segments, scaled to [0, 1] for each query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.language.parser import stop_words
from abstrag.language.words import stemmed
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.tables import DocumentTables

# BM25 as Lucene computes it, over the texts of one document.
#
# The numbers are those of the bm25s library, to the last digit, which a test holds it to. It weighs
# every word of every text beforehand and loads SciPy for that; one question has a few words.

K1: Final = 1.2
B: Final = 0.4  # of full length normalization; candidates differ in length less than documents do

Scores = npt.NDArray[np.float32]


class BM25:
    """For each word the texts that hold it and how often; a word is weighed when it is asked."""

    def __init__(self, texts: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._size = size = len(texts)
        self._lengths = np.fromiter(map(len, texts), np.int64, size)
        self._codes: dict[str, int] = {}
        code = np.fromiter(
            (self._codes.setdefault(w, len(self._codes)) for w in chain.from_iterable(texts)),
            np.int64,
            int(self._lengths.sum()),
        )
        place = np.repeat(np.arange(size), self._lengths)
        both, count = np.unique(code * size + place, return_counts=True)
        self._texts, self._counts = both % max(size, 1), count.astype(np.float32)
        self._cuts = np.searchsorted(both, np.arange(len(self._codes) + 1) * size)

    def __contains__(self, word: str) -> bool:
        return word in self._codes

    def scores(self, words: Sequence[str]) -> Scores:
        """Return one score for each text; a word that no text holds adds nothing."""
        found = np.zeros(self._size, dtype=np.float32)
        for word in words:
            code = self._codes.get(word)
            if code is not None:
                part = slice(self._cuts[code], self._cuts[code + 1])
                found[self._texts[part]] += self._weights(part)
        return found

    def _weights(self, part: slice) -> Scores:
        """Return what a word weighs in the texts that hold it."""
        count, length = self._counts[part], self._lengths[self._texts[part]]
        rarity = np.float32(log(1 + (self._size - len(count) + 0.5) / (len(count) + 0.5)))
        norm = self._k1 * ((1 - self._b) + self._b * length / self._lengths.mean())
        weights: Scores = (rarity * (count / (norm + count))).astype(np.float32)
        return weights


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
