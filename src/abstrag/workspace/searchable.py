"""What can be asked: one document or many, opened under one set of options.

Every front end asks through these, so every front end gets the same answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from abstrag.engine.searcher import DEFAULT_K
from abstrag.errors import InputError
from abstrag.model.ranking import Hit, Ranking, WhyNot
from abstrag.model.term import AbstractionMap
from abstrag.search.relevance import Preset
from abstrag.workspace.options import SearchOptions

if TYPE_CHECKING:
    from abstrag.collection.map import CollectionMap
    from abstrag.collection.results import CollectionRanking, CollectionWhyNot
    from abstrag.workspace.workspace import Workspace


class Searchable(ABC):
    """One document or a collection; a document is a collection of one.

    What it was opened with stays: documents that change, patches and edits that are kept later are
    seen by whoever opens it again.
    """

    workspace: Workspace
    options: SearchOptions

    @property
    def preset(self) -> Preset:
        """How the factors are weighed."""
        return self.options.preset

    @abstractmethod
    def search(
        self, query: str, *, k: int = DEFAULT_K, tau: float | None = None
    ) -> Ranking | CollectionRanking:
        """Rank segments as evidence for a question or a claim."""

    @abstractmethod
    def explain(self, query: str, segment: str, *, tau: float | None = None) -> Hit:
        """Return the full trace of one segment; of a collection it is named DOCUMENT:SEGMENT."""

    @abstractmethod
    def why_not(
        self,
        query: str,
        *,
        passage: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
    ) -> WhyNot | CollectionWhyNot:
        """Say the one first cause why a passage is not among the first k hits."""

    @property
    @abstractmethod
    def map(self) -> AbstractionMap | CollectionMap:
        """What is called the same, and what is a kind of what."""

    def hit(self, query: str, named: str, *, tau: float | None = None) -> Hit:
        """Return a hit by its rank, 1 for the best, or any segment by its id."""
        if not (named.isdecimal() and int(named)):
            return self.explain(query, named, tau=tau)
        hits = self.search(query, k=int(named), tau=tau).hits
        if len(hits) < int(named):
            raise InputError(f"there is no hit number {named}; the search found {len(hits)}")
        last = hits[-1]
        return last if isinstance(last, Hit) else last.hit

    def _tau(self, tau: float | None) -> float:
        return self.options.tau if tau is None else tau
