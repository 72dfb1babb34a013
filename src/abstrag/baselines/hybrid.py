"""BM25 and dense retrieval side by side: z-scores over the document, added up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from abstrag.baselines.bm25 import Bm25
from abstrag.baselines.pool import Pool
from abstrag.baselines.system import Ranked, System, best_first
from abstrag.search.match import standardized


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
