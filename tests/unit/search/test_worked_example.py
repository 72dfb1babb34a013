"""The paper's example on abstract terms: who collaborated with whom in 2024."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.ranking import GapTrace
from abstrag.model.term import Edge, Family, Frame, Licence, LicenceKind, Mention, Slot
from abstrag.search.costed_index import CostedIndex
from abstrag.search.lookup import Lookup, gaps
from abstrag.search.relevance import PRESETS, relevance
from abstrag.search.trace import stated, trace
from tests.worlds import edge

QUERY = Query(
    "all collaborations between LLM companies and chip suppliers in 2024",
    (
        Literal(
            LiteralKind.EVENT,
            "collaboration",
            ("event:collaboration",),
            0.4,
            slots=("who", "whom"),
        ),
        Literal(LiteralKind.CONCEPT, "LLM company", ("concept:llm company",), 0.2),
        Literal(LiteralKind.CONCEPT, "chip supplier", ("concept:chip supplier",), 0.3),
        Literal(LiteralKind.TIME, "2024", ("time:2024-05-14", "time:2024-05-15"), 0.1),
    ),
)
# The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday.
MENTIONS = [
    Mention("entity:anthropic", 0, 11, 20),
    Mention("event:visit", 0, 21, 28),
    Mention("entity:tsmc", 0, 41, 45),
    Mention("time:2024-05-14", 0, 76, 88),
]
VISITED = Frame(
    "event:visit", 0, 21, 28, (Slot("who", 0, 20, coerced=True), Slot("whom", 29, 75, coerced=True))
)
BACKGROUND = [
    edge("entity:anthropic", "concept:llm company", free=True),
    edge("entity:tsmc", "concept:chip supplier", free=True),
    edge("event:visit", "event:collaboration", Family.EVENT),
]


def explain(edges: list[Edge]) -> GapTrace:
    lookup = Lookup(CostedIndex(MENTIONS, frames=[VISITED], edges=edges), QUERY)
    return trace(lookup, gaps(lookup), 0)


def test_with_the_background_the_gap_is_the_event_bridge_and_two_coerced_slots() -> None:
    shown = explain(BACKGROUND)
    assert shown.reachable
    assert shown.share == 1.0
    assert shown.bridge_cost == shown.gap == 1.10
    paid = [(b.family, b.operator, b.cost, b.details) for b in shown.bridges if b.cost]
    assert paid == [
        (Family.EVENT, "by hand", 0.90, ()),
        (Family.EVENT, "fill_slots", 0.20, ("who coerced", "whom coerced")),
    ]


def test_memberships_are_premises_and_shown_as_such() -> None:
    _, company, supplier, year = explain(BACKGROUND).literals
    assert (company.distance, company.via) == (0.0, "entity:anthropic")
    assert [b.truth_preserving for b in company.bridges] == [True]
    assert supplier.via == "entity:tsmc"
    assert (year.distance, year.via, year.bridges) == (0.0, "time:2024-05-14", ())


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_discount_is_that_of_the_gap_whatever_the_preset(name: str) -> None:
    one = np.ones(1)
    gap = np.array([explain(BACKGROUND).gap])
    rate = PRESETS[name].gap_rate
    assert relevance(one, one, gap, PRESETS[name])[0] == pytest.approx(math.exp(-1.1 * rate))
    if name.startswith("paper"):
        assert rate == 1


def test_without_the_background_the_trace_says_what_is_unmet() -> None:
    shown = explain([])
    assert not shown.reachable
    assert shown.bridge_cost is None
    assert [(each.met, each.distance) for each in shown.literals] == [
        (False, None),
        (False, None),
        (False, None),
        (True, 0.0),
    ]
    assert shown.share == pytest.approx(0.1)
    assert shown.gap == pytest.approx(1.5 + 2.5 * 0.9)


def test_what_the_text_merely_suggests_is_paid_for_and_overruns_the_budget_together() -> None:
    suggested = [
        edge("entity:anthropic", "concept:llm company", distance=0.1),
        edge("entity:tsmc", "concept:chip supplier", distance=0.1),
        edge("event:visit", "event:collaboration", Family.EVENT),
    ]
    shown = explain(suggested)
    assert all(each.met for each in shown.literals)
    assert not shown.reachable
    assert shown.bridge_cost == 2.60
    assert shown.over_budget_by == pytest.approx(1.10)
    assert shown.share == 1.0


def licensed(kind: LicenceKind, edges: list[Edge]) -> list[Edge]:
    return [replace(each, licence=Licence(kind, "elsewhere")) for each in edges]


def test_a_background_states_what_it_carries_over_the_whole_query() -> None:
    assert stated(explain(BACKGROUND))
    for number in range(len(BACKGROUND)):  # one step of its own is enough, wherever it stands
        mixed = licensed(LicenceKind.LEXICON, BACKGROUND)
        mixed[number] = BACKGROUND[number]
        assert stated(explain(mixed))


@pytest.mark.parametrize("kind", [kind for kind in LicenceKind if kind.name != "BACKGROUND"])
def test_what_others_license_no_background_states(kind: LicenceKind) -> None:
    shown = explain(licensed(kind, BACKGROUND))
    assert shown.reachable
    assert not stated(shown)


def test_a_background_states_nothing_that_is_beyond_the_budget_or_incomplete() -> None:
    assert not stated(explain([]))
    assert not stated(explain(BACKGROUND[:2]))  # nothing makes the visit a collaboration
    dear = [*BACKGROUND[:2], edge("event:visit", "event:collaboration", Family.EVENT, distance=1)]
    assert not explain(dear).reachable
    assert not stated(explain(dear))


def test_what_the_text_says_itself_needs_no_background() -> None:
    said = Query(QUERY.text, (replace(QUERY.literals[3], weight=1.0),))
    lookup = Lookup(CostedIndex(MENTIONS, frames=[VISITED], edges=BACKGROUND), said)
    shown = trace(lookup, gaps(lookup), 0)
    assert shown.reachable
    assert not stated(shown)
