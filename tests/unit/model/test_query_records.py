from __future__ import annotations

import math

import pytest

from abstrag.errors import InputError
from abstrag.model.query import Bridge, Clause, Literal, LiteralKind, Query
from abstrag.model.ranking import GapTrace
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Family, Mention
from abstrag.search.costed_index import CostedIndex
from abstrag.search.lookup import Lookup, gaps
from abstrag.search.query.expand import expand
from abstrag.search.trace import trace
from tests.worlds import edge, literal, query


def asking(*weights: float) -> Query:
    literals = (Literal(LiteralKind.CONCEPT, f"l{i}", (), w) for i, w in enumerate(weights))
    return Query("asking", tuple(literals))


def test_weights_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(InputError, match=r"weights of query 'asking' sum to 0\.9"):
        asking(0.5, 0.4)


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="literal 'l1' has weight"):
        asking(0.5, weight)


def test_more_than_ten_literals_are_refused() -> None:
    with pytest.raises(InputError, match="has 11 literals"):
        asking(*[1 / 11] * 11)


def test_a_query_may_ask_nothing() -> None:
    assert asking().literals == ()


def test_a_query_a_clause_and_a_trace_survive_json() -> None:
    asked = query(literal("concept:a"), literal("concept:missing"))
    index = CostedIndex([Mention("concept:b", 0, 3, 7)], edges=[edge("concept:b", "concept:a")])
    lookup = Lookup(index, asked)
    shown = trace(lookup, gaps(lookup), 0)
    clause = list(expand(asked, index.graph))[-1]
    assert shown.literals[0].mention == Mention("concept:b", 0, 3, 7)
    assert from_json(GapTrace, to_json(shown)) == shown
    assert from_json(Clause, to_json(clause)) == clause
    assert from_json(Query, to_json(asked)) == asked


def test_reading_a_query_checks_it() -> None:
    with pytest.raises(InputError, match="sum to"):
        from_json(Query, to_json(asking(1.0)).replace('"weight":1.0', '"weight":0.3'))


def test_a_bridge_over_an_edge_costs_what_the_edge_costs() -> None:
    step = edge("a", "b", Family.EXPRESSION, distance=0.1234)
    assert Bridge.over(step).units == step.units == 4734
