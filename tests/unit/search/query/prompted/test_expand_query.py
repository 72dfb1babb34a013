"""Expand_τ with a model: proposals become typed edges at our prices, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from abstrag.config import MERGE_CONFIRM, OMEGA, TAU
from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Prompt
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.distances import expression_distance
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.term import Family, LicenceKind, Relation
from abstrag.neural.encoder import Vectors
from abstrag.policy.load import load_program
from abstrag.search.query.prompted.expand import ExpandQuery, ProposedEdges
from abstrag.search.query.vocabulary import Vocabulary
from abstrag.workspace.tour import demo_index

NEAR = frozenset(("partnership", "Antropic", "visit", "anthropic"))


@dataclass(frozen=True)
class Near:
    """An encoder to which a few words mean the same and all others something else."""

    fingerprint: str = "near"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[t in NEAR, t not in NEAR] for t in texts], dtype=np.float32)


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary.of(demo_index())


QUERY = Query(
    "Which partnerships did Antropic make?",
    (
        Literal(LiteralKind.EVENT, "partnership", ("event:partnership",), 0.5),
        Literal(LiteralKind.ENTITY, "Antropic", ("entity:antropic",), 0.5),
    ),
)


def step(operator: str, source: str, target: str, **more: Any) -> dict[str, Any]:
    said = {"operator": operator, "source": source, "confidence": 90}
    return {"literal": _literal(target), **said, **more}


def _literal(label: str) -> str:
    labels = [x.label for x in QUERY.literals]
    return f"q{labels.index(label) + 1}" if label in labels else "q99"


def proposed(*clauses: list[dict[str, Any]], tau: float = TAU) -> ProposedEdges:
    model = ScriptedModel({"expand_query": {"clauses": [{"edges": c} for c in clauses]}})
    prompt = Prompt(load_program("expand_query"), model, CallRole.INDEX)
    return ExpandQuery(prompt, Near())(QUERY, vocabulary(), tau=tau)


def test_an_alias_is_priced_by_spelling() -> None:
    (edge,) = proposed([step("alias", "anthropic", "Antropic")]).edges
    assert (edge.source, edge.family, edge.relation) == (
        "entity:anthropic",
        Family.EXPRESSION,
        Relation.IMPLIES,
    )
    assert edge.distance == pytest.approx(
        expression_distance("anthropic", "antropic", guessed=True), abs=1e-4
    )
    assert edge.licence.kind is LicenceKind.MODEL
    assert not edge.truth_preserving


def test_an_event_is_priced_by_its_family() -> None:
    (edge,) = proposed([step("event", "visit", "partnership")]).edges
    assert (edge.source, edge.cost) == ("event:visit", OMEGA[Family.EVENT])


def test_edges_are_offered_where_the_search_gets_to_the_literal() -> None:
    source = proposed([step("event", "visit", "partnership")])
    (edge,) = source.edges
    assert source.edges_into(edge.target) == (edge,)
    assert source.edges_into("concept:nothing") == ()
    assert not source.admits(edge)


@pytest.mark.parametrize(
    "bad",
    [
        step("event", "a secret cartel", "partnership"),  # no term of the document
        step("event", "visit", "marriage"),  # no condition of the query
        step("event", "visit", "partnership", confidence=40),
        step("alias", "visit", "Antropic"),  # an event is no name
        step("alias", "anthropic", "Antropic", confidence=round(100 * MERGE_CONFIRM) - 1),
        step("time", "2024", "partnership"),  # the calendar is not a matter of opinion
        step("role", "anthropic", "Antropic"),  # a name is no type
    ],
)
def test_what_is_not_a_typed_edge_is_dropped_with_its_clause(bad: dict[str, Any]) -> None:
    good = step("event", "visit", "partnership")
    assert len(proposed([good]).edges) == 1
    found = proposed([good, bad])
    assert (found.edges, found.dropped) == ((), 1)


def test_a_clause_over_the_budget_is_dropped_whole() -> None:
    clause = [step("event", "visit", "partnership"), step("alias", "anthropic", "Antropic")]
    assert len(proposed(clause, tau=2.0).edges) == 2
    assert proposed(clause, tau=1.0).edges == ()


def test_only_terms_of_the_document_are_shown() -> None:
    model = ScriptedModel({"expand_query": {"clauses": []}})
    prompt = Prompt(load_program("expand_query"), model, CallRole.INDEX)
    ExpandQuery(prompt, Near())(QUERY, vocabulary(), tau=TAU)
    (request,) = model.requests
    assert "anthropic" in request.user
    assert "antropic" not in request.user.split('"terms"')[1]
