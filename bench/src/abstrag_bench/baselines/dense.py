"""Dense retrieval: alone, added to BM25, and BM25 or another reranked by a cross-encoder."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from abstrag.errors import InputError
from abstrag.neural.encoder import TextEncoder, Vectors, cosines
from abstrag.neural.judge import PairScorer, default_judge
from abstrag.neural.runtime import passage
from abstrag.neural.whole_text import default_encoder
from abstrag.search.relevance import standardized
from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.system import Element, Pool, Ranked, System, best_first


@dataclass(slots=True)
class Hybrid:
    """Adds the z-scores of a lexical and a dense system; `weight` is the dense one's share."""

    dense: System
    lexical: System = field(default_factory=Bm25)
    weight: float = 0.5
    _ids: tuple[str, ...] = ()

    name: str = "hybrid"

    @property
    def fidelity(self) -> str:
        """What is mixed with what."""
        return (
            f"plain score fusion: {1 - self.weight:g} · z({self.lexical.name}) + "
            f"{self.weight:g} · z({self.dense.name}), z over the document's elements"
        )

    def index(self, document: Pool) -> None:
        """Let both take the document in."""
        self.lexical.index(document)
        self.dense.index(document)
        self._ids = document.ids

    def search(self, query: str, k: int) -> Ranked:
        """Rank by the mixed score."""
        lexical = standardized(self._all(self.lexical, query))
        dense = standardized(self._all(self.dense, query))
        return best_first(self._ids, (1 - self.weight) * lexical + self.weight * dense, k)

    def _all(self, system: System, query: str) -> npt.NDArray[np.float64]:
        found = dict(system.search(query, len(self._ids)))
        lowest = min(found.values(), default=0.0)  # what a system leaves out scores like its last
        return np.array([found.get(name, lowest) for name in self._ids])


@dataclass(slots=True)
class Rerank:
    """Ranks the best `candidates` of `first` by the judge alone, everything else behind them.

    The judge is the packaged one unless another is given. What was not judged keeps the order of
    `first` and gets scores below 0, which no judgement reaches.
    """

    judge: PairScorer | None = None
    candidates: int = 32
    name: str = "rerank"
    first: System = field(default_factory=Bm25)
    _texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError(f"candidates is {self.candidates}", hint="at least 1")

    @property
    def fidelity(self) -> str:
        """Which model ranks what."""
        model = f"{self.judge.fingerprint!r}" if self.judge else "shipped as evidence judge"
        finder = "BM25" if isinstance(self.first, Bm25) else self.first.name
        return (
            f"plain retrieve and rerank: {finder}'s best {self.candidates} in the order of the "
            f"cross-encoder {model}, each element after its section's name; nothing else has a say"
        )

    @property
    def state(self) -> str:
        """What the results depend on besides the settings: the judge."""
        return self._judge.fingerprint

    def index(self, document: Pool) -> None:
        """Count the words of every element and keep its text for the judge."""
        title = document.title if self._judge.wants_title else ""
        self._texts = {
            one.id: passage(one.text, section=one.section, headers=one.headers, title=title)
            for one in document.elements
        }
        self.first.index(document)

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        ranked = [name for name, _ in self.first.search(query, len(self._texts))]
        asked, rest = ranked[: self.candidates], ranked[self.candidates :]
        scores = np.array(self._judge.score(query, [self._texts[name] for name in asked]))
        judged = [(asked[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")]
        behind = [(name, -float(place)) for place, name in enumerate(rest, 1)]
        return [*judged, *behind][:k]

    @property
    def _judge(self) -> PairScorer:
        return self.judge or default_judge()


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
