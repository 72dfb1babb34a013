"""Dense similarity: the cosine of query and segment in the space of a sentence embedder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.neural.embedder import default_embedder
from abstrag.neural.encoder import TextEncoder, Vectors, cosines
from abstrag.neural.passage import segment_text
from abstrag.rank.postings import FloatArray, IntArray
from abstrag.rank.tables import Tables


class DenseSimilarity:
    """Cosine of the query's text with segments' texts, a negative one counted as 0.

    A row of a table is as near as it is itself, or as what its table is about. A text is embedded
    when it is first asked about. It is a similarity: it has a say in Match and meets no literal.
    """

    def __init__(self, index: DocumentIndex, *, encoder: TextEncoder | None = None) -> None:
        self._segments = index.segments
        self._tables = Tables(index.segments)
        self._given_encoder = encoder
        self._asked: dict[str, Vectors] = {}
        self._known: dict[str, Vectors] = {}

    @cached_property
    def encoder(self) -> TextEncoder:
        """What embeds; the packaged model is loaded only here."""
        return self._given_encoder or default_embedder()

    def __call__(self, query: Query, positions: IntArray) -> FloatArray:
        """Return one value for each of some segments."""
        if not len(positions):
            return np.zeros(0)
        asked = self._query(query.text)
        texts = [segment_text(self._segments[p]) for p in positions.tolist()]
        near: FloatArray = np.maximum(cosines(self._embedded(texts), asked), 0.0)
        tables = self._tables.of(positions)
        (rows,) = np.nonzero(tables >= 0)
        if len(rows):
            cards = [self._tables.cards[table] for table in tables[rows].tolist()]
            near[rows] = np.maximum(near[rows], cosines(self._embedded(cards), asked))
        return near

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self.encoder.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def _query(self, text: str) -> Vectors:
        """Return the vector of a query; that of the last one is kept, for it comes in parts."""
        known = self._asked
        if text not in known:
            known = self._asked = {text: self.encoder.embed([text])[0]}
        return known[text]
