"""A searcher: one indexed document, ready to be asked; everything it answers has one code path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property

from abstrag.bridges.graph import EdgeSource
from abstrag.config import TAU, TAU_MAX
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Clause, Query
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.neural.cached import CachedEncoder, CachedJudge, Memory
from abstrag.neural.embedder import default_embedder
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.judge import default_judge
from abstrag.neural.scorer import SegmentJudge
from abstrag.query.expand import expand
from abstrag.query.normalize import normalize
from abstrag.query.operator import QueryOperator, admitted
from abstrag.query.operators import OPERATORS, standard_operators
from abstrag.query.vocabulary import Vocabulary
from abstrag.rank.aggregate import AGGREGATIONS
from abstrag.rank.company import CompanyJudge, company_of
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
        memory: Memory | None = None,
    ) -> None:
        """Take an index; the shipped judge is used where the preset wants one and none is given.

        `memory` keeps what the shipped models say, so that nothing is computed twice.
        """
        if unknown := without - set(OPERATORS):
            raise InputError(
                f"no query operator is called {sorted(unknown)[0]!r}",
                hint=f"one of: {', '.join(OPERATORS)}",
            )
        self.index = index
        self.preset = preset
        self._given_judge = judge
        self._memory = memory
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
            made[Signal.DENSE] = DenseSimilarity(self.index, encoder=self._encoder)
        return made

    @cached_property
    def judge(self) -> Judge | None:
        """Who judges: the one given, or the shipped one where the preset wants it.

        One that only reads passages reads turns, cells of a table and clauses in company.
        """
        judge = self._given_judge
        if judge is None and self.preset.judge_weight:
            judge = self._shipped_judge()
        segments, genre = self.index.segments, self.index.genre
        if isinstance(judge, SegmentJudge) and any(company_of(s, genre) for s in segments):
            return CompanyJudge(judge, segments, genre)
        return judge

    def _shipped_judge(self) -> SegmentJudge:
        judge: SegmentJudge = default_judge()
        if self._memory is not None:
            content = self.index.document.content_hash
            judge = CachedJudge(judge, self._memory, content_hash=content)
        return judge.reading(self.index.document.title)

    @cached_property
    def _encoder(self) -> TextEncoder:
        encoder = default_embedder()
        if self._memory is None:
            return encoder
        content = self.index.document.content_hash
        return CachedEncoder(encoder, self._memory, content_hash=content)

    def normalize(self, text: str, *, today: date | None = None) -> Query:
        """Turn a question or claim into typed, weighted literals."""
        return normalize(text, self.vocabulary, today=today)

    def search(
        self, text: str, *, k: int = DEFAULT_K, tau: float = TAU, fill: bool = False
    ) -> Ranking:
        """Rank the document's segments; hits carry exact quotes, factors and traces.

        A segment that scores nothing is no hit, unless `fill` asks for k whatever they score.
        """
        return self.scoring(text, tau=tau).ranking(k, fill=fill)

    def explain(self, text: str, segment: str, *, tau: float = TAU) -> Hit:
        """Return the full trace of one segment, whether it is found or not."""
        return self.scoring(text, tau=tau).hit(self.position(segment))

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
        scoring = self.scoring(text, tau=tau)
        if segment is not None:
            return why_not(scoring, self.position(segment), k=k)
        assert passage is not None
        return why_not_text(scoring, passage, k=k)

    def budget(self, text: str) -> BudgetCurve:
        """Say at which budget each segment enters."""
        query = self.normalize(text)
        sources = self._sources(query, TAU_MAX)
        return budget_curve(self.index, self.costed, query, sources=sources)

    def support(self, text: str, *, k: int = DEFAULT_K, tau: float = TAU) -> SupportSet:
        """Return hits that can be believed together."""
        scoring = self.scoring(text, tau=tau)
        return support_set(scoring.ranking(4 * k).hits, self.costed.graph, k=k, tau=tau)

    def document_score(
        self, text: str, *, aggregation: str = "top_k_mean", tau: float = TAU
    ) -> float:
        """Return how relevant the whole document is: top_k_mean, top_1 or log_sum_exp."""
        if aggregation not in AGGREGATIONS:
            choices = ", ".join(AGGREGATIONS)
            raise InputError(f"no aggregation is called {aggregation!r}", hint=f"one of: {choices}")
        ranking = self.scoring(text, tau=tau).ranking(len(self.index.records), fill=True)
        return AGGREGATIONS[aggregation]([hit.relevance for hit in ranking.hits])

    def clauses(self, text: str, *, tau: float = TAU, most: int = 20) -> tuple[Clause, ...]:
        """Return the cheapest alternatives of a query within a budget."""
        query = self.normalize(text)
        graph = self.costed.graph.with_sources(*self._sources(query, tau))
        stream = expand(query, graph, tau=tau)
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

    def scoring(self, text: str, *, tau: float = TAU) -> Scoring:
        """Lay a query over the document: what ranks, explains and tells why not."""
        query = self.normalize(text)
        return Scoring(
            self.index,
            self.costed,
            query,
            tau=tau,
            preset=self.preset,
            sources=self._sources(query, tau),
            similarities=self._similarities,
            judge=self.judge,
        )

    def _sources(self, query: Query, tau: float) -> tuple[EdgeSource, ...]:  # noqa: ARG002
        """What offers edges besides the document's own map, for one query and budget."""
        return self._operators
