"""Dense similarity: the cosine of query and segment in the space of a sentence embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.neural.encoder import TextEncoder, Vectors, cosines
from abstrag.neural.runtime import segment_text
from abstrag.neural.whole_text import default_encoder
from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.tables import DocumentTables


class DenseSimilarity:
    """Cosine of the query's text with segments' texts, a negative one counted as 0.

    A row of a table is as near as it is itself, or as what its table is about. A text is embedded
    when it is first asked about. It is a similarity: it has a say in Match and meets no literal.
    """

    def __init__(self, index: DocumentIndex, *, encoder: TextEncoder | None = None) -> None:
        self._segments = index.segments
        self._tables = DocumentTables(index.segments)
        self._given_encoder = encoder
        self._asked: dict[str, Vectors] = {}
        self._known: dict[int, Vectors] = {}  # by position
        self._known_cards: dict[int, Vectors] = {}  # by table

    @cached_property
    def encoder(self) -> TextEncoder:
        """What embeds; the packaged model is loaded only here."""
        return self._given_encoder or default_encoder()

    def __call__(self, query: Query, positions: IntArray) -> FloatArray:
        """Return one value for each of some segments."""
        if not len(positions):
            return np.zeros(0)
        asked = self._query(query.reading)
        own = self._embedded(self._known, positions.tolist(), self._text)
        near: FloatArray = np.maximum(cosines(own, asked), 0.0)
        of = self._tables.of(positions)
        (rows,) = np.nonzero(of >= 0)
        if len(rows):
            tables, where = np.unique(of[rows], return_inverse=True)
            cards = self._embedded(
                self._known_cards, tables.tolist(), self._tables.cards.__getitem__
            )
            near[rows] = np.maximum(near[rows], cosines(cards, asked)[where])
        return near

    def _text(self, position: int) -> str:
        return segment_text(self._segments[position])

    def _embedded(
        self, known: dict[int, Vectors], wanted: Sequence[int], text: Callable[[int], str]
    ) -> Vectors:
        """Return one vector for each number, embedding the texts of those not yet known."""
        new = [number for number in dict.fromkeys(wanted) if number not in known]
        if new:
            known.update(zip(new, self.encoder.embed([text(n) for n in new]), strict=True))
        return np.stack([known[number] for number in wanted])

    def _query(self, text: str) -> Vectors:
        """Return the vector of a query; that of the last one is kept, for it comes in parts."""
        known = self._asked
        if text not in known:
            known = self._asked = {text: self.encoder.embed([text])[0]}
        return known[text]
