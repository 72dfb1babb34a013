"""A searcher whose queries a model reads: it cuts them into literals and proposes alternatives."""

from __future__ import annotations

from datetime import date

from abstrag.bridges.graph import EdgeSource
from abstrag.engine.searcher import Searcher
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.neural.cached import Memory
from abstrag.query.prompted.expand import ExpandQuery, ProposedEdges
from abstrag.query.prompted.normalize import Normalized, NormalizeQuery
from abstrag.rank.judging import Judge
from abstrag.rank.prompted_judge import PromptedJudge
from abstrag.rank.relevance import Preset


class PromptedSearcher(Searcher):
    """Answers questions about one document with a model at hand; a query is read once."""

    def __init__(
        self,
        index: DocumentIndex,
        *,
        preset: Preset,
        without: frozenset[str] = frozenset(),
        judge: Judge | None = None,
        memory: Memory | None = None,
        normalizer: NormalizeQuery | None = None,
        expander: ExpandQuery | None = None,
    ) -> None:
        super().__init__(index, preset=preset, without=without, judge=judge, memory=memory)
        self._normalizer = normalizer
        self._expander = expander
        self._read: dict[tuple[str, date | None], Normalized] = {}
        self._proposed: dict[tuple[Query, float], ProposedEdges] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the models' answers could not be used so far, in words."""
        marks = sum(read.dropped for read in self._read.values())
        clauses = sum(proposed.dropped for proposed in self._proposed.values())
        passed = self.judge.memory.unanswered if isinstance(self.judge, PromptedJudge) else 0
        said = (
            (marks, "dropped, because the query does not say it: {} of the model's conditions"),
            (clauses, "dropped, as free text or over the budget: {} of the model's alternatives"),
            (passed, "without a judgement, so taken to meet nothing: {} of the segments"),
        )
        return tuple(what.format(count) for count, what in said if count)

    def normalize(self, text: str, *, today: date | None = None) -> Query:
        """Turn a question or claim into typed, weighted literals."""
        if self._normalizer is None:
            return super().normalize(text, today=today)
        if (text, today) not in self._read:
            self._read[text, today] = self._normalizer(text, self.vocabulary, today=today)
        return self._read[text, today].query

    def _sources(self, query: Query, tau: float) -> tuple[EdgeSource, ...]:
        """What offers edges: the operators, and what a model proposes for the query."""
        return (*super()._sources(query, tau), *self._alternatives(query, tau))

    def _alternatives(self, query: Query, tau: float) -> tuple[ProposedEdges, ...]:
        """Return what a model proposes for a query within a budget, as a source of edges."""
        if self._expander is None:
            return ()
        if (query, tau) not in self._proposed:
            self._proposed[query, tau] = self._expander(query, self.vocabulary, tau=tau)
        return (self._proposed[query, tau],)
