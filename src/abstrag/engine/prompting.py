"""Prompting: what models do for indexing and search, put together from models and programs.

A role that has no model works by rule. The index role builds maps and reads queries, the judge role
decides on what was proposed and judges segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from abstrag.engine.searcher import Searcher
from abstrag.indexing.prompted.prompts import IndexPrompts, Plan
from abstrag.llm.budget import Estimate, tokens_in
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program, Prompt
from abstrag.memory import LruCache
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.model.query import Query
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.vectors import ValueCache
from abstrag.neural.whole_text import default_encoder
from abstrag.policy.load import load_programs
from abstrag.search.bridges.paths import EdgeSource
from abstrag.search.calibration import calibration_of
from abstrag.search.prompted_judge import MAX_TOKENS, PromptedJudge
from abstrag.search.query.prompted.expand import ExpandQuery, ProposedEdges
from abstrag.search.query.prompted.normalize import Normalized, NormalizeQuery
from abstrag.search.query.prompted.read import QueryReading, ReadQuery
from abstrag.search.query.vocabulary import Vocabulary
from abstrag.search.relevance import Preset, judged_preset, most_texts

_KEPT: Final = 256  # queries whose reading stays at hand


class PromptedReader:
    """Reads the queries about one document with a model, each query once; threads may share it."""

    def __init__(
        self,
        normalizer: NormalizeQuery | None,
        expander: ExpandQuery | None,
        judge: PromptedJudge | None = None,
        *,
        together: ReadQuery | None = None,
    ) -> None:
        """Create a reader from what reads queries and what proposes alternatives.

        Args:
            normalizer: Says what the conditions of a query are.
            expander: Proposes alternatives.
            judge: Who judges beside, for the notes.
            together: Does both in one call, in the place of the two.
        """
        self._judge = judge
        self._together = together
        self._readings: LruCache[QueryReading] = LruCache(_KEPT)
        self._normalizer = normalizer
        self._expander = expander
        self._read: LruCache[Normalized] = LruCache(_KEPT)
        self._proposed: LruCache[ProposedEdges] = LruCache(_KEPT)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which answers of the models could not be used so far, in words."""
        said = (
            (
                sum(read.dropped for read in self._read.values())
                + sum(reading.normalized.dropped for reading in self._readings.values()),
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

    def normalize(self, own: Query, vocabulary: Vocabulary, *, today: date | None) -> Query | None:
        """Read a query that the rules have read; None where no model has that role."""
        if both := self._together:
            reading = self._readings.get(own, lambda: both(own, vocabulary, today=today))
            return reading.normalized.query
        read = self._normalizer
        if read is None:
            return None
        key = (own.text, today)
        made = self._read.get(key, lambda: read(own.text, vocabulary, today=today, own=own))
        return made.query

    def sources(
        self, query: Query, vocabulary: Vocabulary, *, tau: float
    ) -> tuple[EdgeSource, ...]:
        """Return what a model proposes for a query within a budget, as sources of edges."""
        if both := self._together:
            reading = self._reading(query) or both(query, vocabulary)
            key = (query, tau)
            return (self._proposed.get(key, lambda: both.proposed(reading, tau=tau)),)
        expand = self._expander
        if expand is None:
            return ()
        return (self._proposed.get((query, tau), lambda: expand(query, vocabulary, tau=tau)),)

    def _reading(self, query: Query) -> QueryReading | None:
        """Return the model's reading of a query, found by the query's text."""
        found = (one for one in self._readings.values() if one.question.text == query.text)
        return next(reversed(list(found)), None)


_BATCH: Final = 16  # segments a ranking asks its judge about at a time
_QUERY_TOKENS: Final = 2560  # of the two replies on the query side


@dataclass(frozen=True)
class Prompting:
    """Models with the programs they run and the encoder that proposes to them."""

    models: Models
    programs: Mapping[str, Program]
    encoder: TextEncoder

    @classmethod
    def of(
        cls,
        models: Models,
        *,
        programs: Mapping[str, Program] | None = None,
        encoder: TextEncoder | None = None,
    ) -> Prompting:
        """Use these models; programs and encoder are the installed ones unless given."""
        return cls(
            models,
            load_programs() if programs is None else programs,
            default_encoder() if encoder is None else encoder,
        )

    @cached_property
    def index(self) -> IndexPrompts | None:
        """Return what an index chain needs; None when no model has the index role."""
        own = self.models.get(CallRole.INDEX)
        if own is None:
            return None
        index: LanguageModel = own
        return IndexPrompts.of(
            self.programs, lambda role: self.models.get(role) or index, self.encoder
        )

    def searcher(
        self,
        index: DocumentIndex,
        *,
        preset: Preset,
        without: frozenset[str] = frozenset(),
        memory: ValueCache | None = None,
        patches: Sequence[Patch] = (),
        judge: bool = True,
    ) -> Searcher:
        """Make a searcher that reads queries and judges segments with the models there are.

        Without `judge` no model judges, whatever the preset.
        """
        prompt = self._judging() if judge else None
        judged = self.preset(preset, judge=judge)
        own = None
        if prompt:
            own = PromptedJudge.of(
                index,
                prompt,
                coverage=judged.coverage,
                calibration=calibration_of(prompt),
                threads=self.models.concurrency,
            )
        return Searcher(
            index,
            preset=judged,
            without=without,
            judge=own,
            encoder=self.encoder,
            memory=memory,
            reader=PromptedReader(self.normalizer, self.expander, own),
            patches=patches,
        )

    def preset(self, preset: Preset, *, judge: bool = True) -> Preset:
        """Return the preset to search with; a model that judges is used in every preset."""
        return judged_preset(preset) if judge and self._judging() else preset

    def _judging(self) -> Prompt | None:
        """Return the prompted judge; None where its judgements carry no information."""
        prompt = self._prompt("entailment", CallRole.JUDGE)
        curve = calibration_of(prompt) if prompt else None
        return None if curve is not None and not curve.tells else prompt

    @property
    def normalizer(self) -> NormalizeQuery | None:
        """What cuts a query into literals."""
        prompt = self._prompt("normalize_query", CallRole.INDEX)
        return NormalizeQuery(prompt) if prompt else None

    @property
    def expander(self) -> ExpandQuery | None:
        """What proposes alternatives of a query."""
        prompt = self._prompt("expand_query", CallRole.INDEX)
        return ExpandQuery(prompt, self.encoder) if prompt else None

    def estimate(self, plans: Iterable[Plan]) -> Estimate:
        """Price plans; what the log holds already is free."""
        total = Estimate()
        for plan in plans:
            if plan.exact:
                total += self.models.estimate(plan.requests)
            elif plan.requests:
                total += self.models.guess(
                    plan.requests[0].role,
                    plan.calls,
                    sum(map(tokens_in, plan.requests)),
                    sum(request.max_tokens for request in plan.requests),
                )
        return total

    def estimate_search(
        self, *indexes: DocumentIndex, singly: bool = False, paragraphs: int | None = None
    ) -> Estimate:
        """Say what one search of a document, or of several together, takes at most.

        Args:
            indexes: The documents that are opened.
            singly: The judge may be asked about segments one at a time: where one is explained, or
                where those that are judged together are of several documents.
            paragraphs: How much of all of them is judged; None for everything.
        """
        total = Estimate(most=True)
        for stage in ("normalize_query", "expand_query"):
            if prompt := self._prompt(stage, CallRole.INDEX):
                sent = tokens_in(prompt.program.request(prompt.role, {})) + _QUERY_TOKENS
                guess = self.models.guess(CallRole.INDEX, 1, sent, _QUERY_TOKENS, most=True)
                total = sum((guess for _ in indexes), total)
        if judge := self._judging():
            lengths = [len(s.text) for index in indexes for s in index.segments]
            read = len(lengths) if paragraphs is None else most_texts(paragraphs) + 1
            least = sorted(lengths, reverse=True)[:read][-1:] or [0]
            for index in indexes:
                longest = [s for s in index.segments if len(s.text) >= least[0]]
                calls, sent = PromptedJudge.of(index, judge).most_calls(
                    longest, 1 if singly else _BATCH
                )
                reply = calls * MAX_TOKENS
                total += self.models.guess(CallRole.JUDGE, calls, sent, reply, most=True)
        return total

    def _prompt(self, stage: str, role: CallRole) -> Prompt | None:
        model = self.models.get(role)
        return None if model is None else Prompt(self.programs[stage], model, role)
