from __future__ import annotations

from abstrag.model.document import Span
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.ranking import Hit
from abstrag.model.segment import SegmentRole
from abstrag.model.term import Edge, Family, Mention
from abstrag.search.bridges.paths import BridgeGraph
from abstrag.search.costed_index import CostedIndex
from abstrag.search.lookup import Lookup, gaps
from abstrag.search.together import support_set
from abstrag.search.trace import trace
from tests.worlds import edge

QUERY = Query(
    "supplier in 2024",
    (
        Literal(LiteralKind.CONCEPT, "supplier", ("concept:supplier",), 0.5),
        Literal(LiteralKind.TIME, "2024", ("time:2024-01", "time:2024-02"), 0.5),
    ),
)
MEMBERS = [
    edge("entity:tsmc", "concept:supplier", free=True),
    edge("entity:samsung", "concept:supplier", free=True),
]


def hits(*segments: tuple[str, ...], edges: list[Edge], tau: float = 1.5) -> list[Hit]:
    mentions = [Mention(term, s, 0, 1) for s, terms in enumerate(segments) for term in terms]
    lookup = Lookup(CostedIndex(mentions, edges=edges), QUERY, tau=tau)
    found = gaps(lookup)
    return [
        Hit(
            document="d",
            position=s,
            segment=f"s{s}",
            quote="",
            span=Span(0, 0),
            role=SegmentRole.TEXT,
            section=(),
            page=None,
            match=1.0,
            utility=1.0,
            gap=0.0,
            relevance=1.0,
            trace=trace(lookup, found, s),
        )
        for s in range(len(segments))
    ]


def test_a_hit_that_binds_a_literal_to_another_entity_is_left_out() -> None:
    found = hits(
        ("entity:tsmc",), ("entity:samsung", "time:2024-01"), ("entity:tsmc",), edges=MEMBERS
    )
    support = support_set(found, BridgeGraph(MEMBERS), k=5)
    assert [hit.position for hit in support.hits] == [0, 2]
    assert support.bindings == ("entity:tsmc", None)
    assert [(out.position, out.reason) for out in support.left_out] == [
        (1, "binds 'supplier' to something else")
    ]


def test_a_hit_that_binds_a_literal_to_another_time_is_left_out() -> None:
    found = hits(("time:2024-01",), ("time:2024-02",), edges=[])
    support = support_set(found, BridgeGraph(), k=5)
    assert [hit.position for hit in support.hits] == [0]


def test_two_names_of_one_thing_do_not_contradict() -> None:
    same = edge("entity:tsmc", "entity:taiwan semi", both_ways=True, free=True)
    edges = [*MEMBERS, same]
    found = hits(("entity:tsmc",), ("entity:taiwan semi",), edges=edges)
    support = support_set(found, BridgeGraph(edges), k=5)
    assert len(support.hits) == 2
    assert support.bindings[0] == "entity:taiwan semi"


def test_a_hit_that_fits_either_way_narrows_nothing_it_need_not() -> None:
    found = hits(
        ("entity:samsung", "entity:tsmc"), ("entity:tsmc",), ("entity:samsung",), edges=MEMBERS
    )
    support = support_set(found, BridgeGraph(MEMBERS), k=5)
    assert [hit.position for hit in support.hits] == [0, 1]


def test_a_mere_concept_binds_nothing() -> None:
    found = hits(("concept:supplier",), ("entity:tsmc",), edges=MEMBERS)
    assert len(support_set(found, BridgeGraph(MEMBERS), k=5).hits) == 2


def test_bridges_of_all_hits_together_stay_within_the_budget_and_count_once() -> None:
    paid = [
        edge("concept:vendor", "concept:supplier", Family.CONCEPT, distance=0.1),
        edge("concept:maker", "concept:supplier", Family.CONCEPT, distance=0.15),
    ]
    found = hits(("concept:vendor",), ("concept:maker",), ("concept:vendor",), edges=paid)
    support = support_set(found, BridgeGraph(paid), k=5)
    assert [hit.position for hit in support.hits] == [0, 2]
    assert support.cost == 0.75
    assert support.left_out[0].reason == "takes the bridges over budget by 0.05"


def test_no_more_than_k_hits_are_taken() -> None:
    found = hits(*[("entity:tsmc",)] * 4, edges=MEMBERS)
    assert len(support_set(found, BridgeGraph(MEMBERS), k=3).hits) == 3


def test_nothing_found_supports_nothing() -> None:
    assert support_set([], BridgeGraph(), k=3).hits == ()
