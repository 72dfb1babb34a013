from __future__ import annotations

from itertools import islice

import pytest

from abstrag.errors import InputError
from abstrag.model.term import Edge, Family
from abstrag.search.bridges.paths import BridgeGraph
from abstrag.search.query.expand import expand
from tests.worlds import edge, literal, query

COMPANY = edge("entity:anthropic", "concept:llm company", free=True)
VISIT = edge("event:visit", "event:collaboration", Family.EVENT)
ASKED = query(literal("concept:llm company"), literal("event:collaboration"))


def test_the_query_itself_comes_first_and_then_what_costs_more() -> None:
    clauses = list(expand(ASKED, BridgeGraph([COMPANY, VISIT])))
    assert [(clause.terms, clause.cost) for clause in clauses] == [
        ((None, None), 0.0),
        (("entity:anthropic", None), 0.0),
        ((None, "event:visit"), 0.9),
        (("entity:anthropic", "event:visit"), 0.9),
    ]


def test_a_clause_names_the_bridges_it_was_made_with() -> None:
    *_, last = expand(ASKED, BridgeGraph([COMPANY, VISIT]))
    assert [(b.source, b.target, b.cost) for b in last.bridges] == [
        ("entity:anthropic", "concept:llm company", 0.0),
        ("event:visit", "event:collaboration", 0.9),
    ]


def test_a_bridge_that_serves_two_literals_is_paid_once() -> None:
    shared = edge("event:visit", "event:meeting", Family.EVENT)
    asked = query(literal("event:meeting"), literal("event:talks"))
    talks = edge("event:meeting", "event:talks", Family.EXPRESSION, free=True)
    costs = {c.terms: c.cost for c in expand(asked, BridgeGraph([shared, talks]))}
    assert costs["event:visit", "event:visit"] == 0.9


def test_a_literal_that_nothing_is_called_by_stays_as_asked() -> None:
    assert [clause.terms for clause in expand(query(literal()), BridgeGraph([COMPANY]))] == [
        (None,)
    ]


def test_the_budget_decides_which_clauses_there_are() -> None:
    graph = BridgeGraph([COMPANY, VISIT])
    assert len(list(expand(ASKED, graph, tau=0.89))) == 2
    assert len(list(expand(ASKED, graph, tau=0.9))) == 4


def test_nothing_is_materialized_beyond_what_is_taken() -> None:
    """Ten literals with 300 alternatives each have 300¹⁰ clauses; five of them are quick."""

    class Hyponyms:
        """Offers alternatives and counts how often it is asked."""

        asked = 0

        def edges_into(self, term: str) -> list[Edge]:
            self.asked += 1
            if "/" in term:
                return []
            return [edge(f"{term}/{i}", term, distance=i / 1000) for i in range(300)]

    source = Hyponyms()
    asked = query(*(literal(f"concept:{i}") for i in range(10)))
    first = list(islice(expand(asked, BridgeGraph(sources=[source])), 5))
    assert [clause.cost for clause in first] == [0.0, 0.65, 0.65, 0.65, 0.65]
    assert source.asked == 10 * 301


def test_a_budget_that_is_none_is_refused_when_the_first_clause_is_wanted() -> None:
    with pytest.raises(InputError, match="budget τ is -1"):
        next(expand(ASKED, BridgeGraph(), tau=-1))
