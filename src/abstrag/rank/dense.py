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
from abstrag.rank.postings import FloatArray


class DenseSimilarity:
    """Cosine of the query's text with every segment's, a negative one counted as 0.

    The segments are embedded once, when the first query comes, unless their `embeddings` are given:
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
        if embeddings is not None:
            if embeddings.ndim != 2 or len(embeddings) != len(self._segments):
                raise InputError(
                    f"{index.document.id!r} has {len(self._segments)} segments, and the embeddings "
                    f"given for it have the shape {embeddings.shape}",
                    hint="embed the segments again",
                )
            self.embeddings = embeddings  # what cached_property would otherwise compute

    @cached_property
    def encoder(self) -> TextEncoder:
        """What embeds; the packaged model is loaded only here."""
        return self._given_encoder or default_embedder()

    @cached_property
    def embeddings(self) -> Vectors:
        """One row for each segment, as `segment_text` puts it."""
        return self.encoder.embed([segment_text(segment) for segment in self._segments])

    def __call__(self, query: Query) -> FloatArray:
        """Return one value for each segment."""
        (asked,) = self.encoder.embed([query.text])
        if self.embeddings.shape[1] != len(asked):
            raise InputError(
                f"the segments have embeddings of {self.embeddings.shape[1]} dimensions and the "
                f"query has {len(asked)}: they come from two models",
                hint="embed the segments again",
            )
        return np.maximum(cosines(self.embeddings, asked), 0.0)
