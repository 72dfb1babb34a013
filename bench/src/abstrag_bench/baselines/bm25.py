"""BM25 over the elements of one document, with and without stemming."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import bm25s
import numpy as np
import numpy.typing as npt
import Stemmer  # type: ignore[import-not-found]

from abstrag_bench.baselines.system import Pool, Ranked, best_first

K1: Final = 1.2
B: Final = 0.75
STOP_WORDS: Final = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then"
    " there these they this to was will with".split()
)
_WORD: Final = re.compile(r"\w+")


@dataclass(slots=True)
class Bm25:
    """BM25 with the idf of the document itself: each element counts as one text.

    The idf is Lucene's, log(1 + (N − df + ½)/(df + ½)), which never turns negative: inside one
    document half of the elements often share a word.
    """

    k1: float = K1
    b: float = B
    stem: bool = False
    stop: bool = True
    _ids: tuple[str, ...] = ()
    _index: Any = None
    _known: frozenset[str] = frozenset()
    _stemmed: Callable[[list[str]], list[str]] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """`bm25`, or `bm25-stem` when words are cut to their stems."""
        return "bm25-stem" if self.stem else "bm25"

    @property
    def fidelity(self) -> str:
        """How it differs from the textbook."""
        words = "Snowball English stems" if self.stem else "no stemming"
        stop = "33 stop words" if self.stop else "no stop list"
        numbers = f"k1 {self.k1:g}, b {self.b:g}"
        return f"exact BM25 (bm25s, {numbers}), {words}, {stop}, idf per document, headers as words"

    def index(self, document: Pool) -> None:
        """Count the words of every element."""
        texts = [self.words(element.full_text) for element in document.elements]
        self._ids = document.ids
        self._known = frozenset(word for text in texts for word in text)
        self._index = None
        if self._known:
            self._index = bm25s.BM25(method="lucene", k1=self.k1, b=self.b)
            self._index.index(texts, show_progress=False)

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """Return one score for each element, in the document's order."""
        asked = [word for word in self.words(query) if word in self._known]
        if not asked:
            return np.zeros(len(self._ids))
        return np.asarray(self._index.get_scores(asked), dtype=np.float64)

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return best_first(self._ids, self.scores(query), k)

    def words(self, text: str) -> list[str]:
        """Cut a text into the words that count."""
        found = _WORD.findall(text.casefold())
        if self.stop:
            found = [word for word in found if word not in STOP_WORDS]
        if not self.stem:
            return found
        if self._stemmed is None:
            self._stemmed = Stemmer.Stemmer("english").stemWords
        return self._stemmed(found)
