"""HyDE: search with invented answers, for an answer looks more like an answer than a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.record import record
from abstrag_bench.baselines.backing import CALLS, PromptedBaseline, QueryMeter
from abstrag_bench.baselines.dense import Dense
from abstrag_bench.baselines.system import Pool, Ranked, best_first

_TEMPERATURE: Final = 0.7  # the publication's


@record
class HypotheticalPassage:
    """A passage that would answer the query."""

    passage: str


@dataclass(slots=True)
class Hyde(PromptedBaseline):
    """Ranks by the mean embedding of the query and of the passages invented for it.

    The mean of unit vectors orders the elements as the mean of the cosines does, so the cosines
    are averaged.
    """

    STAGE = "hyde"
    ROLE = CallRole.ANSWER

    dense: Dense = field(default_factory=Dense)
    calls: int = CALLS
    name: str = "hyde"

    @property
    def fidelity(self) -> str:
        """What differs from the publication."""
        return (
            f"HyDE as a prompt: {self.calls} invented passages at temperature {_TEMPERATURE:g} "
            "(8 in the publication), with a few worked examples (none there), their embeddings "
            "and the query's averaged; the shipped embedder instead of Contriever; within one "
            "document"
        )

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        inputs = {"query": query, "document": document.title}
        return [self.request(inputs, sample=n, temperature=_TEMPERATURE) for n in range(self.calls)]

    def index(self, document: Pool) -> None:
        """Embed every element."""
        self._pool = document
        self.dense.index(document)

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what was invented and what it took."""
        meter = QueryMeter(self.backing, self.calls)
        if not self.pool.elements:
            return [], meter.told()
        inputs = {"query": query, "document": self.pool.title}
        invented = [
            meter.ask(
                self.STAGE,
                HypotheticalPassage,
                inputs,
                role=self.ROLE,
                sample=n,
                temperature=_TEMPERATURE,
            ).passage
            for n in range(self.calls)
        ]
        texts = [query, *(text for text in invented if text.strip())]
        scores = np.mean([self.dense.scores(text) for text in texts], axis=0)
        meter.notes["invented"] = invented
        return best_first(self.pool.ids, scores, k), meter.told()
