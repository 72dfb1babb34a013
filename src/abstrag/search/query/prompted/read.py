"""NormQuery and Expand_τ in one call: a model reads a query and proposes alternatives at once.

The rules read the query first. The model is shown their conditions and the nearest words of the
document, says which words of the query are conditions, and offers alternatives for the rules' ones.
Both halves of its reply are parsed, typed and priced as those of the programs that do one of the
two: half the calls, and nothing else is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from abstrag.llm.prompt import Prompt
from abstrag.model.query import Query
from abstrag.model.record import record
from abstrag.neural.encoder import TextEncoder
from abstrag.search.query.prompted.expand import (
    AlternativesQuestion,
    ExpandQuery,
    ModelClause,
    ModelClauses,
    ProposedEdges,
)
from abstrag.search.query.prompted.normalize import ModelLiteral, ModelQuery, Normalized, marked
from abstrag.search.query.vocabulary import Vocabulary

_MAX_TOKENS: Final = 1024


@record
class ModelReading:
    """The reply of the program `read_query`."""

    literals: tuple[ModelLiteral, ...]
    answer_type: str
    clauses: tuple[ModelClause, ...]


@dataclass(frozen=True, slots=True)
class QueryReading:
    """A query as a model reads it, and what it proposes; priced when the budget is known."""

    normalized: Normalized
    question: AlternativesQuestion
    clauses: ModelClauses


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """Asks once about a query: its conditions, and alternatives in the words of a document."""

    prompt: Prompt
    encoder: TextEncoder

    def __call__(
        self, own: Query, vocabulary: Vocabulary, *, today: date | None = None
    ) -> QueryReading:
        """Return the rules' query as the model marks it, with its proposals.

        Raises:
            ModelError: The model failed.
        """
        question = self._expand.question(own, vocabulary) or AlternativesQuestion(own.text, {}, {})
        reply = self.prompt.ask(ModelReading, question.inputs, max_tokens=_MAX_TOKENS)
        said = ModelQuery(reply.value.literals, reply.value.answer_type)
        normalized = marked(own, said, vocabulary, call=reply.call, today=today)
        return QueryReading(normalized, question, ModelClauses(reply.value.clauses))

    def proposed(self, reading: QueryReading, *, tau: float) -> ProposedEdges:
        """Return the proposals that are typed, known to the document and within the budget."""
        call = reading.normalized.call
        return self._expand.typed(reading.question, reading.clauses, tau=tau, call=call)

    @property
    def _expand(self) -> ExpandQuery:
        return ExpandQuery(self.prompt, self.encoder)
