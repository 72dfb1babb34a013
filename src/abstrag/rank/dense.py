"""Dense similarity: the cosine of query and segment in the space of a sentence embedder."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.neural.embedder import default_embedder
from abstrag.neural.encoder import TextEncoder, Vectors, cosines
from abstrag.neural.passage import segment_text
from abstrag.rank.postings import FloatArray, IntArray


class DenseSimilarity:
    """Cosine of the query's text with segments' texts, a negative one counted as 0.

    A segment is embedded when it is first asked about, unless the `embeddings` of all are given:
    whoever keeps them has to keep the encoder's fingerprint with them. It is a similarity: it has a
    say in Match and meets no literal.
    """

    def __init__(
        self,
        index: DocumentIndex,
        *,
        encoder: TextEncoder | None = None,
        embeddings: Vectors | None = None,
    ) -> None:
        self._segments = index.segments
        self._given_encoder = encoder
        self._asked: dict[str, Vectors] = {}
        self._known: dict[int, Vectors] = {}
        if embeddings is not None:
            if embeddings.ndim != 2 or len(embeddings) != len(self._segments):
                raise InputError(
                    f"{index.document.id!r} has {len(self._segments)} segments, and the embeddings "
                    f"given for it have the shape {embeddings.shape}",
                    hint="embed the segments again",
                )
            self._known = dict(enumerate(embeddings))

    @cached_property
    def encoder(self) -> TextEncoder:
        """What embeds; the packaged model is loaded only here."""
        return self._given_encoder or default_embedder()

    def embeddings(self, positions: IntArray) -> Vectors:
        """Return one row for each of some segments, as `segment_text` puts them."""
        new = [p for p in dict.fromkeys(positions.tolist()) if p not in self._known]
        if new:
            made = self.encoder.embed([segment_text(self._segments[p]) for p in new])
            self._known.update(zip(new, made, strict=True))
        return np.stack([self._known[p] for p in positions.tolist()])

    def _query(self, text: str) -> Vectors:
        """Return the vector of a query; that of the last one is kept, for it comes in parts."""
        known = self._asked
        if text not in known:
            known = self._asked = {text: self.encoder.embed([text])[0]}
        return known[text]

    def __call__(self, query: Query, positions: IntArray) -> FloatArray:
        """Return one value for each of some segments."""
        if not len(positions):
            return np.zeros(0)
        asked, rows = self._query(query.text), self.embeddings(positions)
        if rows.shape[1] != len(asked):
            raise InputError(
                f"the segments have embeddings of {rows.shape[1]} dimensions and the "
                f"query has {len(asked)}: they come from two models",
                hint="embed the segments again",
            )
        return np.maximum(cosines(rows, asked), 0.0)
