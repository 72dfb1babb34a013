"""Expand_τ with a model: alternatives that it proposes, parsed into typed edges and priced by us.

A clause is kept only as a set of edges from terms of the document to terms of the query. Whatever
else it says is free text and is dropped. The model's confidence opens or shuts the door (0.85 for
"the same", 0.5 for the rest) and is P(type | role) for a role; every other number is ours. A clause
that costs more than the budget is dropped whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final
from typing import Literal as Choice

import numpy as np

from abstrag.config import MERGE_CONFIRM, OMEGA
from abstrag.language.words import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import Percent
from abstrag.model.distances import (
    abstraction_distance,
    event_distance,
    expression_distance,
    intent_distance,
)
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.record import record
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind
from abstrag.neural.encoder import TextEncoder
from abstrag.search.bridges.paths import budget, total
from abstrag.search.query.vocabulary import Vocabulary

_MAX_TOKENS: Final = 1536
_LOOKED_AT: Final = 300  # terms of a document, the most frequent
_SHOWN: Final = 60  # of those, the nearest to the query
_LIKELY: Final = 0.5
_SENSES: Final = 3  # of each word, the most frequent
_KINDS: Final = ("entity", "concept", "role", "event")
_NOUNS: Final = (TermKind.CONCEPT, TermKind.ROLE)

Operator = Choice["alias", "synonym", "hypernym", "role", "event", "time"]


@record
class ModelEdge:
    """One step of a clause as the program reports it."""

    literal: str
    source: str
    operator: Operator
    confidence: Percent


@record
class ModelClause:
    """One alternative."""

    edges: tuple[ModelEdge, ...]


@record
class ModelClauses:
    """The reply of the program `expand_query`."""

    clauses: tuple[ModelClause, ...]


@dataclass(frozen=True, slots=True)
class ProposedEdges:
    """A query operator of the edges a model proposed for one query."""

    edges: tuple[Edge, ...] = ()
    dropped: int = 0  # clauses that were free text, or over the budget
    _into: Mapping[str, tuple[Edge, ...]] = field(init=False, repr=False, compare=False)

    name: ClassVar[str] = "model"

    def __post_init__(self) -> None:
        into: dict[str, tuple[Edge, ...]] = {}
        for edge in self.edges:
            into[edge.target] = (*into.get(edge.target, ()), edge)
        object.__setattr__(self, "_into", into)

    def admits(self, edge: Edge) -> bool:  # noqa: ARG002
        """Admit nothing of the map: these edges are of the query."""
        return False

    def edges_into(self, term: str) -> tuple[Edge, ...]:
        """Offer the edges that lead to a term."""
        return self._into.get(term, ())


@dataclass(frozen=True, slots=True)
class AlternativesQuestion:
    """A query with the ids of its conditions, and the words of the document shown with it."""

    text: str
    asked: Mapping[str, Literal]
    shown: Mapping[str, tuple[str, ...]]  # word → the terms it names

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of a program that proposes alternatives."""
        return {
            "query": self.text,
            "literals": [
                {"id": name, "kind": literal.kind.value, "label": literal.label}
                for name, literal in self.asked.items()
            ],
            "terms": list(self.shown),
        }


@dataclass(frozen=True, slots=True)
class ExpandQuery:
    """Asks a model for alternatives of a query in the words of a document."""

    prompt: Prompt
    encoder: TextEncoder

    def __call__(self, query: Query, vocabulary: Vocabulary, *, tau: float) -> ProposedEdges:
        """Return the proposals that are typed, known to the document and within the budget.

        Raises:
            ModelError: The model failed.
        """
        question = self.question(query, vocabulary)
        if question is None:
            return ProposedEdges()
        reply = self.prompt.ask(ModelClauses, question.inputs, max_tokens=_MAX_TOKENS)
        return self.typed(question, reply.value, tau=tau, call=reply.call)

    def question(self, query: Query, vocabulary: Vocabulary) -> AlternativesQuestion | None:
        """Return what to ask about a query; None where the document has no term to offer."""
        shown = self._shown(query, vocabulary)
        if not shown:
            return None
        return AlternativesQuestion(
            query.text, {f"q{n}": literal for n, literal in enumerate(query.literals, 1)}, shown
        )

    def typed(
        self, question: AlternativesQuestion, said: ModelClauses, *, tau: float, call: str
    ) -> ProposedEdges:
        """Parse a reply; what is not typed, not known to the document or too dear is dropped."""
        limit, kept, dropped = budget(tau), dict[Edge, None](), 0
        for clause in said.clauses:
            edges = [self._edge(e, question.asked, question.shown, call) for e in clause.edges]
            typed = [edge for edge in edges if edge is not None]
            if not typed or len(typed) < len(edges) or total(e.units for e in typed) > limit:
                dropped += 1
                continue
            kept.update(dict.fromkeys(typed))
        return ProposedEdges(tuple(kept), dropped)

    def _shown(self, query: Query, vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
        """Return the words of the document nearest to the query, each with the terms it names."""
        words: dict[str, list[str]] = {}
        ranked = sorted(vocabulary.postings, key=lambda t: (-vocabulary.frequency([t]), t))
        for term in ranked:
            kind, _, word = term.partition(":")
            if kind in _KINDS and "." not in word and "@" not in word:
                words.setdefault(word, []).append(term)
        looked_at = list(words)[:_LOOKED_AT]
        labels = [literal.label for literal in query.literals]
        if not looked_at or not labels:
            return {}
        vectors = self.encoder.embed([*looked_at, *labels])
        near = np.round(vectors[: len(looked_at)] @ vectors[len(looked_at) :].T, 4).max(axis=1)
        order = np.lexsort((np.arange(len(near)), -near))[:_SHOWN]
        return {looked_at[i]: tuple(words[looked_at[i]]) for i in sorted(order.tolist())}

    def _edge(
        self,
        said: ModelEdge,
        asked: Mapping[str, Literal],
        shown: Mapping[str, tuple[str, ...]],
        call: str,
    ) -> Edge | None:
        """Parse one step; None when it is not one between a term shown and a condition asked."""
        literal = asked.get(said.literal.strip())
        sources = shown.get(key(said.source), ())
        if literal is None or not literal.terms or said.confidence < _least(said.operator):
            return None
        for source, target in _ends(said.operator, literal, sources):
            if source not in literal.terms:
                return self._priced(said, source, target, call)
        return None

    def _priced(self, said: ModelEdge, source: str, target: str, call: str) -> Edge:
        family = _FAMILY[said.operator]
        left, right = (term.partition(":")[2] for term in (source, target))
        return Edge(
            source=source,
            target=target,
            relation=Relation.IMPLIES,
            family=family,
            operator="expand_query",
            weight=OMEGA[family],
            distance=round(self._distance(said, left, right), 4),
            truth_preserving=False,
            confidence=said.confidence,
            licence=Licence(LicenceKind.MODEL, call),
        )

    def _distance(self, said: ModelEdge, left: str, right: str) -> float:
        match said.operator:
            case "alias":
                return expression_distance(left, right, guessed=True)
            case "role":
                return intent_distance(said.confidence, context_sensitive=True)
            case "event":
                return event_distance(unfilled=0, coerced=0, artifact=False)
            case _:
                similar, cosine = _wu_palmer(left, right), None
                if similar is None:
                    a, b = self.encoder.embed([left, right])
                    cosine = float(a @ b)
                one_way = said.operator == "hypernym"
                return abstraction_distance(similar, cosine, one_way=one_way)


# a time is a matter of the calendar, not of opinion: a model's edge between times is not typed
_FAMILY: Final[Mapping[str, Family]] = {
    "alias": Family.EXPRESSION,
    "synonym": Family.CONCEPT,
    "hypernym": Family.CONCEPT,
    "role": Family.INTENT,
    "event": Family.EVENT,
}
_SOURCES: Final[Mapping[str, tuple[TermKind, ...]]] = {
    "alias": (TermKind.ENTITY,),
    "synonym": (*_NOUNS, TermKind.EVENT),
    "hypernym": (*_NOUNS, TermKind.ENTITY, TermKind.EVENT),
    "role": (*_NOUNS, TermKind.ENTITY),
    "event": (TermKind.EVENT, TermKind.CONCEPT),
}
_TARGETS: Final[Mapping[str, tuple[LiteralKind, ...]]] = {
    "alias": (LiteralKind.ENTITY,),
    "synonym": (LiteralKind.CONCEPT, LiteralKind.ROLE, LiteralKind.EVENT, LiteralKind.RELATION),
    "hypernym": (LiteralKind.CONCEPT, LiteralKind.ROLE, LiteralKind.EVENT),
    "role": (LiteralKind.CONCEPT, LiteralKind.ROLE),
    "event": (LiteralKind.EVENT,),
}


def _wu_palmer(left: str, right: str) -> float | None:
    """Return the similarity of the closest senses; None when WordNet lacks one of the two."""
    net = wordnet()
    a, b = (net.synsets(words, Pos.NOUN)[:_SENSES] for words in (left, right))
    if not a or not b:
        return None
    return max(min(1.0, net.wup(x, y)) for x in a for y in b)


def _least(operator: str) -> float:
    return MERGE_CONFIRM if operator in ("alias", "synonym") else _LIKELY


def _ends(operator: str, literal: Literal, sources: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Go through the pairs of ends that an operator may join."""
    if operator not in _FAMILY or literal.kind not in _TARGETS[operator]:
        return
    for kind in _SOURCES[operator]:
        for source in sources:
            if source.startswith(f"{kind.value}:"):
                yield source, literal.terms[0]
