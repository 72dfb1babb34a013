"""A searcher under patches: what refinement changed holds for every question that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from abstrag.bridges.graph import EdgeSource
from abstrag.config import TAU
from abstrag.engine.kept import Kept
from abstrag.engine.searcher import Searcher
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.model.query import Query
from abstrag.neural.cached import Memory
from abstrag.rank.judging import Judge
from abstrag.rank.relevance import Preset
from abstrag.rank.scoring import Scoring
from abstrag.refine.overlay import Overlay
from abstrag.refine.router import replayed
from abstrag.refine.state import State

_QUERIES_KEPT: Final = 64
_ANY: Final = "evidence"  # the patched index is the same for every query


class PatchedSearcher(Searcher):
    """Searches, explains and draws curves over a document as patches left it.

    A page asks several things about one query, so the latest queries stay understood: reading the
    words takes longer than looking them up.
    """

    def __init__(
        self,
        index: DocumentIndex,
        *,
        preset: Preset,
        without: frozenset[str] = frozenset(),
        judge: Judge | None = None,
        memory: Memory | None = None,
        patches: Sequence[Patch],
    ) -> None:
        super().__init__(index, preset=preset, without=without, judge=judge, memory=memory)
        self._offers: tuple[EdgeSource, ...] | None = None
        self._understood: Kept[Query] = Kept(_QUERIES_KEPT)
        state = replayed(State(operators=index.fingerprint), patches)
        plain = super().scoring(_ANY)
        under = Overlay(lambda _query: plain).scoring(_ANY, state)
        self._programs = state.programs
        self.costed = under.index
        self._offers = under.sources

    def normalize(self, text: str, *, today: date | None = None) -> Query:
        """Turn a question or claim into typed, weighted literals."""
        read = super().normalize
        day = today or date.today()  # "last week" means another one tomorrow
        return self._understood.get((text, day), lambda: read(text, today=today))

    def scoring(self, text: str, *, tau: float = TAU) -> Scoring:
        """Lay a query over the patched document, at the budget a patch grants it."""
        granted = self._programs.budget(text)
        return super().scoring(text, tau=tau if granted is None else max(tau, granted))

    def _sources(self, query: Query, tau: float) -> tuple[EdgeSource, ...]:
        """What offers edges under the patches."""
        return self._offers if self._offers is not None else super()._sources(query, tau)
