"""HyDE: search with invented answers, for an answer looks more like an answer than a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.record import record
from abstrag_bench.baselines.backing import CALLS, Backing, QueryMeter
from abstrag_bench.baselines.dense import Dense
from abstrag_bench.baselines.system import Pool, Ranked, best_first

STAGE: Final = "hyde"
_TEMPERATURE: Final = 0.7  # the publication's


@record
class Invented:
    """A passage that would answer the query."""

    passage: str


@dataclass(slots=True)
class Hyde:
    """Ranks by the mean embedding of the query and of the passages invented for it.

    The mean of unit vectors orders the elements as the mean of the cosines does, so the cosines
    are averaged.
    """

    backing: Backing
    dense: Dense = field(default_factory=Dense)
    calls: int = CALLS
    name: str = "hyde"
    _pool: Pool | None = None

    @property
    def fidelity(self) -> str:
        """What differs from the publication."""
        return (
            f"HyDE as a prompt: {self.calls} invented passages at temperature {_TEMPERATURE:g} "
            "(8 in the publication), with a few worked examples (none there), their embeddings "
            "and the query's averaged; the shipped embedder instead of Contriever; within one "
            "document"
        )

    @property
    def state(self) -> str:
        """A hash of the model and the prompt."""
        return self.backing.state(CallRole.ANSWER, STAGE)

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        inputs = {"query": query, "document": document.title}
        program = self.backing.programs[STAGE]
        return [
            program.request(CallRole.ANSWER, inputs, sample=n, temperature=_TEMPERATURE)
            for n in range(self.calls)
        ]

    def index(self, document: Pool) -> None:
        """Embed every element."""
        self._pool = document
        self.dense.index(document)

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return self.search_explained(query, k)[0]

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what was invented and what it took."""
        assert self._pool is not None
        meter = QueryMeter(self.backing, self.calls)
        if not self._pool.elements:
            return [], meter.told()
        inputs = {"query": query, "document": self._pool.title}
        invented = [
            meter.ask(
                STAGE, Invented, inputs, role=CallRole.ANSWER, sample=n, temperature=_TEMPERATURE
            ).passage
            for n in range(self.calls)
        ]
        texts = [query, *(text for text in invented if text.strip())]
        scores = np.mean([self.dense.scores(text) for text in texts], axis=0)
        meter.notes["invented"] = invented
        return best_first(self._pool.ids, scores, k), meter.told()
