"""Dense retrieval: cosine between sentence embeddings of the query and of every element."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from abstrag.baselines.pool import Element, Pool
from abstrag.baselines.system import Ranked, best_first
from abstrag.neural.encoder import TextEncoder, Vectors, cosines
from abstrag.neural.passage import passage
from abstrag.neural.whole_text import default_encoder


@dataclass(slots=True)
class Dense:
    """Ranks by cosine; the encoder is the packaged one unless another is given."""

    encoder: TextEncoder | None = None
    name: str = "dense"
    _ids: tuple[str, ...] = ()
    _vectors: Vectors | None = None

    @property
    def fidelity(self) -> str:
        """Which model embeds what."""
        model = (
            f"the encoder {self.encoder.fingerprint!r}"
            if self.encoder
            else "the shipped embedder (all-MiniLM-L6-v2 trained further, on none of SciFact, "
            "QASPER, ContractNLI and TAT-QA), 8 bits, first 256 tokens"
        )
        return f"{model}; cosine of the query with each element after its section's name; no tuning"

    def index(self, document: Pool) -> None:
        """Embed every element."""
        self._ids = document.ids
        self._vectors = self._encoder.embed([element_text(one) for one in document.elements])

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """Return one cosine for each element, in the document's order."""
        if self._vectors is None or not self._ids:
            return np.zeros(0)
        (asked,) = self._encoder.embed([query])
        return cosines(self._vectors, asked)

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return best_first(self._ids, self.scores(query), k)

    @property
    def _encoder(self) -> TextEncoder:
        return self.encoder or default_encoder()


def element_text(element: Element) -> str:
    """Return an element as it is embedded: its section, its headers, its words."""
    return passage(element.text, section=element.section, headers=element.headers)
