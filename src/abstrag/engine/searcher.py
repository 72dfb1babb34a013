"""A searcher: one indexed document, ready to be asked; everything it answers has one code path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property

from abstrag.config import TAU
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Clause, Query
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.query.expand import expand
from abstrag.query.normalize import normalize
from abstrag.query.operator import QueryOperator, admitted
from abstrag.query.operators import OPERATORS, standard_operators
from abstrag.query.vocabulary import Vocabulary
from abstrag.rank.aggregate import AGGREGATIONS
from abstrag.rank.costed_index import CostedIndex
from abstrag.rank.curve import budget_curve
from abstrag.rank.dense import DenseSimilarity
from abstrag.rank.judging import Judge
from abstrag.rank.lexical import Lexical
from abstrag.rank.match import Signal, Similarity
from abstrag.rank.relevance import Preset
from abstrag.rank.scoring import Scoring
from abstrag.rank.support import support_set
from abstrag.rank.why_not import why_not, why_not_text

DEFAULT_K = 10


class Searcher:
    """Answers questions about one document.

    The costed index, the vocabulary and the lexical similarity are built once, when first needed;
    a searcher is cheap to keep and safe to share between threads that only ask.
    """

    def __init__(
        self,
        index: DocumentIndex,
        *,
        preset: Preset,
        without: frozenset[str] = frozenset(),
        judge: Judge | None = None,
    ) -> None:
        if unknown := without - set(OPERATORS):
            raise InputError(
                f"no query operator is called {sorted(unknown)[0]!r}",
                hint=f"one of: {', '.join(OPERATORS)}",
            )
        self.index = index
        self.preset = preset
        self.judge = judge
        self._without = without

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The document's terms as a query sees them."""
        return Vocabulary.of(self.index)

    @cached_property
    def _operators(self) -> tuple[QueryOperator, ...]:
        return standard_operators(self.vocabulary, without=self._without)

    @cached_property
    def costed(self) -> CostedIndex:
        """The costed inverted index over the edges the operators admit."""
        edges = admitted(self.index.map.edges, self._operators)
        return CostedIndex.of(replace(self.index, map=replace(self.index.map, edges=edges)))

    @cached_property
    def _similarities(self) -> Mapping[Signal, Similarity]:
        made: dict[Signal, Similarity] = {}
        if self.preset.lexical_weight:
            made[Signal.LEXICAL] = Lexical(self.index)
        if self.preset.dense_weight:
            made[Signal.DENSE] = DenseSimilarity(self.index)
        return made

    def normalize(self, text: str, *, today: date | None = None) -> Query:
        """Turn a question or claim into typed, weighted literals."""
        return normalize(text, self.vocabulary, today=today)

    def search(
        self, text: str, *, k: int = DEFAULT_K, tau: float = TAU, fill: bool = False
    ) -> Ranking:
        """Rank the document's segments; hits carry exact quotes, factors and traces.

        A segment that scores nothing is no hit, unless `fill` asks for k whatever they score.
        """
        return self._scoring(text, tau).ranking(k, fill=fill)

    def explain(self, text: str, segment: str, *, tau: float = TAU) -> Hit:
        """Return the full trace of one segment, whether it is found or not."""
        return self._scoring(text, tau).hit(self.position(segment))

    def why_not(
        self,
        text: str,
        *,
        passage: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float = TAU,
    ) -> WhyNot:
        """Say the one first cause why a passage is not among the first k hits."""
        if (passage is None) == (segment is None):
            raise InputError(
                "why-not needs either the words of a passage or a segment id",
                hint='--text "…" or --span s12',
            )
        scoring = self._scoring(text, tau)
        if segment is not None:
            return why_not(scoring, self.position(segment), k=k)
        assert passage is not None
        return why_not_text(scoring, passage, k=k)

    def budget(self, text: str) -> BudgetCurve:
        """Say at which budget each segment enters."""
        query = self.normalize(text)
        return budget_curve(self.index, self.costed, query, sources=self._operators)

    def support(self, text: str, *, k: int = DEFAULT_K, tau: float = TAU) -> SupportSet:
        """Return hits that can be believed together."""
        scoring = self._scoring(text, tau)
        return support_set(scoring.ranking(4 * k).hits, self.costed.graph, k=k, tau=tau)

    def document_score(
        self, text: str, *, aggregation: str = "top_k_mean", tau: float = TAU
    ) -> float:
        """Return how relevant the whole document is: top_k_mean, top_1 or log_sum_exp."""
        if aggregation not in AGGREGATIONS:
            choices = ", ".join(AGGREGATIONS)
            raise InputError(f"no aggregation is called {aggregation!r}", hint=f"one of: {choices}")
        ranking = self._scoring(text, tau).ranking(len(self.index.records), fill=True)
        return AGGREGATIONS[aggregation]([hit.relevance for hit in ranking.hits])

    def clauses(self, text: str, *, tau: float = TAU, most: int = 20) -> tuple[Clause, ...]:
        """Return the cheapest alternatives of a query within a budget."""
        graph = self.costed.graph.with_sources(*self._operators)
        stream = expand(self.normalize(text), graph, tau=tau)
        return tuple(clause for clause, _ in zip(stream, range(most), strict=False))

    def position(self, segment: str) -> int:
        """Return where a segment stands; its id is as `show` prints it."""
        for position, record in enumerate(self.index.records):
            if record.segment.id == segment:
                return position
        raise InputError(
            f"{self.index.document.id!r} has no segment {segment!r}",
            hint=f"abstrag show {self.index.document.id}",
        )

    def _scoring(self, text: str, tau: float) -> Scoring:
        return Scoring(
            self.index,
            self.costed,
            self.normalize(text),
            tau=tau,
            preset=self.preset,
            sources=self._operators,
            similarities=self._similarities,
            judge=self.judge,
        )
