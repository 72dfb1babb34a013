"""A searcher answers every kind of question about one indexed document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from abstrag.config import TAU, TAU_MAX
from abstrag.errors import InputError
from abstrag.language.words import ENGLISH, key, language_name, language_of, term_id
from abstrag.memory import LruCache
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.model.query import Clause, Query
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.model.segment import SegmentRole
from abstrag.model.term import Edge, TermKind
from abstrag.neural.aligner import default_aligner
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.judge import CachedJudge, SegmentJudge, default_judge
from abstrag.neural.vectors import CachedAligner, CachedEncoder, TextAligner, ValueCache
from abstrag.neural.whole_text import default_encoder
from abstrag.search.alignment import Alignment, conditions
from abstrag.search.bridges.paths import EdgeSource
from abstrag.search.costed_index import CostedIndex
from abstrag.search.curve import budget_curve
from abstrag.search.dense import DenseSimilarity
from abstrag.search.document_words import DocumentWords
from abstrag.search.judging import Judge, NeighbourJudge, neighbours_of
from abstrag.search.lexical import Lexical
from abstrag.search.listing import asks_for_listing, listed_segments
from abstrag.search.lookup import reach_of
from abstrag.search.precedents import unsettled
from abstrag.search.query.definition import ExpandDefinition, Glossary, StatedDefinitions
from abstrag.search.query.expand import expand
from abstrag.search.query.finance import RowNames, StatementRows, finance_terms
from abstrag.search.query.normalize import normalize
from abstrag.search.query.operators import OPERATORS, QueryOperator, admitted, standard_operators
from abstrag.search.query.question import asks_for_overview, said_of_itself
from abstrag.search.query.scope import widened
from abstrag.search.query.stated_names import StatedNames
from abstrag.search.query.vocabulary import Vocabulary
from abstrag.search.relevance import (
    AGGREGATIONS,
    Preset,
    Signal,
    Similarity,
)
from abstrag.search.scoring import Scoring
from abstrag.search.together import hits_together
from abstrag.search.told_events import ToldEvents
from abstrag.search.trace import ALIGN_WORDS
from abstrag.search.why_not import why_not, why_not_text

if TYPE_CHECKING:
    from abstrag.refine.overlay import PatchedIndex
    from abstrag.refine.state import State

Reprice = Callable[[Edge], Edge]


@dataclass(frozen=True, slots=True)
class Repriced:
    """An operator whose edges get other weights, for experiments."""

    operator: QueryOperator
    reprice: Reprice
    name: ClassVar[str] = "repriced"

    def admits(self, edge: Edge) -> bool:
        """Tell whether the operator admits an edge of the map."""
        return self.operator.admits(edge)

    def edges_into(self, term: str) -> Iterable[Edge]:
        """Return what the operator offers, repriced."""
        return map(self.reprice, self.operator.edges_into(term))


_ALONE = "it is searched by words and vectors alone"


def unread_notice(query: str, document_language: str = ENGLISH) -> str:
    """Say that a query or the document it is put to is in another language; "" for English."""
    asked = language_of(query)
    if document_language != ENGLISH:
        return f"the document is in {language_name(document_language)}, which is not read: {_ALONE}"
    if asked != ENGLISH:
        return f"the query is in {language_name(asked)}, which is not read: {_ALONE}"
    return ""


# The state that patches leave an index in.


def state_under(index: DocumentIndex, patches: Sequence[Patch]) -> State | None:
    """Return the state that patches leave an index in; None without any."""
    if not patches:
        return None
    from abstrag.refine.state import State, replayed

    return replayed(State(operators=index.fingerprint), patches)


DEFAULT_K: Final = 10
_QUERIES_KEPT: Final = 64


class QueryReader(Protocol):
    """Reads queries about one document in another way than by rule."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Which answers could not be used, in words."""
        ...

    def normalize(self, own: Query, vocabulary: Vocabulary, *, today: date | None) -> Query | None:
        """Read a query that the rules have read; None leaves it as they did."""
        ...

    def sources(
        self, query: Query, vocabulary: Vocabulary, *, tau: float
    ) -> tuple[EdgeSource, ...]:
        """Return further sources of edges for a query within a budget."""
        ...


class Searcher:
    """Answers questions about one document.

    The costed index, the vocabulary and the lexical similarity are built once, when first needed
    or by `prepare`; a searcher is cheap to keep and safe to share between threads.
    """

    def __init__(
        self,
        index: DocumentIndex,
        *,
        preset: Preset,
        without: frozenset[str] = frozenset(),
        judge: Judge | None = None,
        encoder: TextEncoder | None = None,
        memory: ValueCache | None = None,
        reader: QueryReader | None = None,
        patches: Sequence[Patch] = (),
        reprice: Reprice | None = None,
    ) -> None:
        """Take an index, and what differs from the usual.

        Args:
            index: The document.
            preset: How the factors are weighed.
            without: Query operators to leave out.
            judge: Who judges; the shipped judge where the preset wants one and none is given.
            encoder: Embeds texts; the shipped one unless given.
            memory: Keeps what the shipped models say, so that nothing is computed twice.
            reader: Reads queries in place of, and beside, the rules.
            patches: What refinement changed; it holds for every question.
            reprice: Gives every costed edge another weight, for experiments.
        """
        if unknown := without - set(OPERATORS) - {ALIGN_WORDS}:
            raise InputError(
                f"no query operator is called {sorted(unknown)[0]!r}",
                hint=f"one of: {', '.join((*OPERATORS, ALIGN_WORDS))}",
            )
        self.index = index
        self.preset = preset
        self._given_judge = judge
        self._given_encoder = encoder
        self._memory = memory
        self._without = without
        self._reader = reader
        self._reprice = reprice
        self._state = state_under(index, patches)
        self._queries: LruCache[Query] = LruCache(_QUERIES_KEPT)

    def prepare(self) -> None:
        """Build everything that searches share, before threads use it."""
        _ = self.costed, self._similarities(self.preset)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which answers of the models could not be used so far, in words."""
        return () if self._reader is None else self._reader.notes

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The document's terms as a query sees them."""
        return Vocabulary.of(self.index)

    @cached_property
    def _operators(self) -> tuple[QueryOperator, ...]:
        made = standard_operators(self.vocabulary, without=self._without)
        if self._reprice is None:
            return made
        return tuple(Repriced(operator, self._reprice) for operator in made)

    @cached_property
    def costed(self) -> CostedIndex:
        """The costed inverted index over the edges the operators admit, as patches left it."""
        return self._costed if self._patched is None else self._patched.index

    @cached_property
    def _costed(self) -> CostedIndex:
        edges = admitted(self.index.map.edges, self._operators)
        if self._reprice is not None:
            edges = tuple(map(self._reprice, edges))
        return CostedIndex.of(replace(self.index, map=replace(self.index.map, edges=edges)))

    @cached_property
    def _patched(self) -> PatchedIndex | None:
        if self._state is None:
            return None
        from abstrag.refine.overlay import PatchedIndex

        return PatchedIndex(self._costed, self.index, self._state)

    def _similarities(self, preset: Preset) -> Mapping[Signal, Similarity]:
        made: dict[Signal, Similarity] = {}
        if preset.lexical_weight:
            made[Signal.LEXICAL] = self._lexical
        if preset.dense_weight:
            made[Signal.DENSE] = self._dense
        return made

    @cached_property
    def _dense(self) -> DenseSimilarity:
        return DenseSimilarity(self.index, encoder=self._encoder)

    @cached_property
    def _lexical(self) -> Lexical:
        return Lexical(self.index)

    @cached_property
    def _aligner(self) -> TextAligner:
        aligner = default_aligner()
        if self._memory is None:
            return aligner
        content = self.index.document.content_hash
        return CachedAligner(aligner, self._memory, content_hash=content)

    @cached_property
    def _words(self) -> DocumentWords:
        canonical = [record.canonical for record in self.index.records]
        return DocumentWords(self.index.segments, self._aligner, canonical)

    @cached_property
    def _told(self) -> ToldEvents:
        texts = [segment.text for segment in self.index.segments]
        return ToldEvents(self.index.frames, texts, self.index.mentions)

    def _alignment(self, query: Query, tau: float) -> Alignment | None:
        if not self.preset.alignment_weight:
            return None
        (read,) = self._aligner.read([query.wording])
        asked = conditions(query, read)
        plain = self._definitions.glossed(self._glossary.glossed(query.wording))
        if plain != query.wording:  # what it is about is read off the document's own names
            asked = replace(asked, gist=self._aligner.read([plain])[0].gist)
        links = ALIGN_WORDS not in self._without
        made = Alignment(
            *(self._words, query, asked, self._aligner.constants), links=links, told=self._told
        )
        if self._words.long:
            sources = self._sources(query, tau)
            made = replace(made, reach=reach_of(self.costed, query, tau=tau, sources=sources))
        if self._state is None:
            return made
        programs = self._state.programs
        known = unsettled(programs.precedents, query.text, self.index.document)
        return replace(made, steps=programs.steps, precedents=known)

    @cached_property
    def judge(self) -> Judge | None:
        """The judge: the one given, or the shipped one if the preset uses a judge.

        A judge of passages is given a turn, a table cell or a clause with the text around it.
        """
        judge = self._given_judge
        if judge is None and self.preset.judge_weight:
            judge = self._shipped_judge()
        segments, genre = self.index.segments, self.index.genre
        if isinstance(judge, SegmentJudge) and any(neighbours_of(s, genre) for s in segments):
            return NeighbourJudge(judge, segments, genre)
        return judge

    def _shipped_judge(self) -> SegmentJudge:
        judge: SegmentJudge = default_judge()
        if self._memory is not None:
            content = self.index.document.content_hash
            judge = CachedJudge(judge, self._memory, content_hash=content)
        return judge.reading(self.index.document.title)

    @cached_property
    def _encoder(self) -> TextEncoder:
        encoder = self._given_encoder or default_encoder()
        if self._memory is None:
            return encoder
        content = self.index.document.content_hash
        return CachedEncoder(encoder, self._memory, content_hash=content)

    def normalize(self, text: str, *, today: date | None = None) -> Query:
        """Turn a question or claim into typed, weighted literals.

        The latest queries stay read: a page asks several things about one query, and reading the
        words takes longer than looking them up.
        """
        day = today or date.today()  # "last week" means another one tomorrow
        return self._queries.get((text, day), lambda: self._normalize(text, today))

    @cached_property
    def language(self) -> str:
        """The language that the document is in, as a code."""
        return language_of(self.index.document.text)

    def _normalize(self, text: str, today: date | None) -> Query:
        if notice := unread_notice(text, self.language):
            return replace(normalize(text, self.vocabulary, today=today), notice=notice)
        query = self._glossary.told(self._read_query(text, today))
        reading = self._stated_names.glossed(self._definitions.glossed(query.reading))
        return query if reading == query.reading else replace(query, glossed=reading)

    @cached_property
    def _definitions(self) -> StatedDefinitions:
        return StatedDefinitions.of(self.index, self.vocabulary)

    @cached_property
    def _stated_names(self) -> StatedNames:
        return StatedNames.of(self.index)

    @cached_property
    def _glossary(self) -> Glossary:
        return Glossary.of(self.index)

    def _read_query(self, text: str, today: date | None) -> Query:
        own = self._read_by_rule(text, today)
        if self._reader is None:
            return own
        return self._reader.normalize(own, self.vocabulary, today=today) or own

    def _read_by_rule(self, text: str, today: date | None) -> Query:
        if asks_for_overview(text):
            return self._overview(text, today)
        if self.index.genre is not Genre.REPORT:
            return normalize(text, self.vocabulary, today=today)
        asked = finance_terms().read(text, self._row_names, self._knows)
        query = normalize(asked.literal, self.vocabulary, today=today)
        glossed = "" if asked.glossed == text else asked.glossed
        query = replace(query, text=text, glossed=glossed, figures=asked.figures)
        if not query.scope:
            return query
        return widened(query, self.index.segments, self._statement_rows(asked.figures))

    def _overview(self, text: str, today: date | None) -> Query:
        """Read a question about the whole document as one for what its title names."""
        title = said_of_itself(self.index.document)
        try:
            query = normalize(title, self.vocabulary, today=today)
        except InputError:  # a title without a word to look for
            return normalize(text, self.vocabulary, today=today)
        abstract = any(s.role is SegmentRole.ABSTRACT for s in self.index.segments)
        scope = (SegmentRole.ABSTRACT.value,) if abstract else ()
        return replace(query, text=text, topic=title, scope=scope, answer_type=None)

    @cached_property
    def _row_names(self) -> RowNames:
        return RowNames(self.index.segments)

    @cached_property
    def _statement_rows(self) -> StatementRows:
        return StatementRows(self.index.segments)

    def _knows(self, name: str) -> bool:
        kinds = (TermKind.CONCEPT, TermKind.ENTITY)
        return any(term_id(kind, key(name)) in self.vocabulary.terms for kind in kinds)

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
        alignment = self._alignment(query, TAU_MAX)
        learned = None if alignment is None else alignment.ways
        doubted = None if alignment is None else alignment.doubted
        return budget_curve(
            self.index,
            self.costed,
            query,
            sources=sources,
            learned=learned,
            doubted=doubted,
            of_another=None if alignment is None else alignment.told_of_another,
        )

    def support(self, text: str, *, k: int = DEFAULT_K, tau: float = TAU) -> SupportSet:
        """Return the fewest hits that together meet a query; as the paper has it in its presets."""
        return hits_together(self.scoring(text, tau=tau), k=k)

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

    def scoring(self, text: str, *, tau: float = TAU, preset: Preset | None = None) -> Scoring:
        """Score a query against the document: what ranks, explains and tells why not.

        A patch may grant the query a larger budget than it is asked under. A text in a language
        that is not read is scored by words and vectors, under no budget. `preset` is that of many
        documents that are ranked together.
        """
        granted = self._state.programs.budget(text) if self._state else None
        tau = tau if granted is None else max(tau, granted)
        query = self.normalize(text)
        preset = preset or (self.preset.plain if query.notice else self.preset)
        return Scoring(
            self.index,
            self.costed,
            query,
            tau=0.0 if query.notice else tau,
            preset=preset,
            sources=() if query.notice else self._sources(query, tau),
            similarities=self._similarities(preset),
            judge=self.judge if preset.judge_weight else None,
            alignment=self._alignment(query, tau) if preset.alignment_weight else None,
            printed=self._statement_rows(query.figures, query.sources) if query.figures else (),
            defining=() if query.notice else self._definitions.no_answers(query.text),
            applying=() if query.notice else self._definitions.applying(query.text),
            listings=() if query.scope or asks_for_listing(query.text) else self._listings,
        )

    @cached_property
    def _listings(self) -> tuple[int, ...]:
        """Where entries of a bibliography and lines of a list of contents stand."""
        return listed_segments(self.index.segments)

    def _sources(self, query: Query, tau: float) -> tuple[EdgeSource, ...]:
        """Return the sources of edges besides the document's own map, for a query and budget."""
        offered: tuple[EdgeSource, ...] = self._operators
        if (defined := ExpandDefinition.of(query, self._definitions)).edges:
            offered = (*offered, defined)
        if self._reader is not None:
            offered = (*offered, *self._reader.sources(query, self.vocabulary, tau=tau))
        return offered if self._patched is None else self._patched.sources(offered)
