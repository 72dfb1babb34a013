"""Reading queries with a model: it cuts them into literals and proposes alternatives."""

from __future__ import annotations

from datetime import date
from typing import Final

from abstrag.engine.kept import LruCache
from abstrag.model.query import Query
from abstrag.search.bridges.graph import EdgeSource
from abstrag.search.prompted_judge import PromptedJudge
from abstrag.search.query.prompted.expand import ExpandQuery, ProposedEdges
from abstrag.search.query.prompted.normalize import Normalized, NormalizeQuery
from abstrag.search.query.vocabulary import Vocabulary

_KEPT: Final = 256  # queries whose reading stays at hand


class PromptedReader:
    """Reads the queries about one document with a model, each query once; threads may share it."""

    def __init__(
        self,
        normalizer: NormalizeQuery | None,
        expander: ExpandQuery | None,
        judge: PromptedJudge | None = None,
    ) -> None:
        """Take what reads and what proposes; `judge` is who judges beside, for the notes."""
        self._judge = judge
        self._normalizer = normalizer
        self._expander = expander
        self._read: LruCache[Normalized] = LruCache(_KEPT)
        self._proposed: LruCache[ProposedEdges] = LruCache(_KEPT)

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the models' answers could not be used so far, in words."""
        said = (
            (
                sum(read.dropped for read in self._read.values()),
                "dropped, because the query does not say it: {} of the model's conditions",
            ),
            (
                sum(proposed.dropped for proposed in self._proposed.values()),
                "dropped, as free text or over the budget: {} of the model's alternatives",
            ),
            (
                self._judge.memory.unanswered if self._judge else 0,
                "without a judgement, so taken to meet nothing: {} of the segments",
            ),
        )
        return tuple(what.format(count) for count, what in said if count)

    def normalize(self, text: str, vocabulary: Vocabulary, *, today: date | None) -> Query | None:
        """Turn a question or claim into literals; None where no model has that role."""
        read = self._normalizer
        if read is None:
            return None
        key = (text, today)
        return self._read.get(key, lambda: read(text, vocabulary, today=today)).query

    def sources(
        self, query: Query, vocabulary: Vocabulary, *, tau: float
    ) -> tuple[EdgeSource, ...]:
        """Return what a model proposes for a query within a budget, as sources of edges."""
        expand = self._expander
        if expand is None:
            return ()
        return (self._proposed.get((query, tau), lambda: expand(query, vocabulary, tau=tau)),)
