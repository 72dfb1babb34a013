from __future__ import annotations

import pytest

from abstrag.model.document import Span
from abstrag.model.index import Context, FieldValue
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.ranking import LiteralTrace
from abstrag.model.term import Edge, Family, Frame, Mention, Slot
from abstrag.search.costed_index import CostedIndex
from abstrag.search.lookup import FAR, Lookup, gaps
from abstrag.search.trace import trace
from tests.worlds import edge, literal, query

HEADER_DATE = FieldValue("anchor", "2024-05-15", 0.9, Span(0, 10), "time:2024")
MEETING = literal("event:meeting", kind=LiteralKind.EVENT, slots=("who", "whom"))


def distances(index: CostedIndex, asked: Query, tau: float = 1.5) -> dict[int, list[int]]:
    lookup = Lookup(index, asked, tau=tau)
    return dict(zip(lookup.segments.tolist(), lookup.distances.T.tolist(), strict=True))


def first(index: CostedIndex, asked: Query) -> LiteralTrace:
    lookup = Lookup(index, asked)
    return trace(lookup, gaps(lookup), 0).literals[0]


def told(*frames: Frame, edges: tuple[Edge, ...] = ()) -> CostedIndex:
    mentions = [Mention(frame.event, frame.segment, 0, 5) for frame in frames]
    return CostedIndex(mentions, frames=frames, edges=edges)


def frame(*slots: Slot, event: str = "event:meeting", artifact: bool = False) -> Frame:
    return Frame(event, 0, 0, 5, slots, artifact)


def test_segments_that_hold_nothing_of_the_query_are_not_touched() -> None:
    index = CostedIndex([Mention("concept:a", 0, 0, 1), Mention("concept:b", 7, 0, 1)])
    assert distances(index, query(literal("concept:b"))) == {7: [0]}


def test_each_segment_gets_its_cheapest_way() -> None:
    index = CostedIndex(
        [
            Mention("concept:b", 0, 0, 1),
            Mention("concept:c", 0, 2, 3),
            Mention("concept:c", 1, 0, 1),
        ],
        edges=[
            edge("concept:b", "concept:a", Family.EXPRESSION),
            edge("concept:c", "concept:a", Family.CONCEPT),
        ],
    )
    assert distances(index, query(literal("concept:a"))) == {0: [3500], 1: [6500]}


def test_a_header_of_a_cell_is_part_of_it_and_free() -> None:
    index = CostedIndex([Mention("concept:revenue", 0, 0, 7, header=1)])
    shown = first(index, query(literal("concept:revenue")))
    assert shown.distance == 0.0
    assert shown.mention is not None
    assert shown.mention.header == 1


def test_what_only_the_context_says_pays_for_the_context() -> None:
    index = CostedIndex([], contexts=[Context(time=(HEADER_DATE,))])
    shown = first(index, query(literal("time:2024", kind=LiteralKind.TIME)))
    assert shown.distance == 0.5
    assert shown.context == HEADER_DATE
    (bridge,) = shown.bridges
    assert (bridge.family, bridge.cost, bridge.segment) == (Family.CONTEXT, 0.5, 0)
    assert bridge.licence is not None
    assert bridge.licence.span == HEADER_DATE.span


def test_the_segments_own_words_are_preferred_to_its_context() -> None:
    index = CostedIndex([Mention("time:2024", 0, 4, 8)], contexts=[Context(time=(HEADER_DATE,))])
    shown = first(index, query(literal("time:2024")))
    assert shown.distance == 0.0
    assert shown.context is None


def test_a_context_value_for_two_literals_is_paid_by_each() -> None:
    index = CostedIndex([], contexts=[Context(time=(HEADER_DATE,))])
    lookup = Lookup(index, query(literal("time:2024"), literal("time:2024")))
    assert lookup.bridge_costs.tolist() == [10_000]


def test_a_path_leans_on_the_context_once() -> None:
    """An edge of the context family has used it up, so the context cannot end that path."""
    index = CostedIndex(
        [],
        contexts=[Context(time=(HEADER_DATE,))],
        edges=[edge("time:2024", "time:fiscal 2024", Family.CONTEXT)],
    )
    assert distances(index, query(literal("time:fiscal 2024")), tau=4.0) == {}


def test_the_joint_minimum_leans_on_the_context_once_a_path_too() -> None:
    index = CostedIndex(
        [Mention("concept:year", 0, 0, 4)],
        contexts=[Context(time=(HEADER_DATE,))],
        edges=[
            edge("time:2024", "time:fiscal 2024", Family.CONTEXT),  # 0.50, and 0.50 to end there
            edge("concept:year", "time:fiscal 2024", Family.CONCEPT, distance=0.55),
        ],
    )
    lookup = Lookup(index, query(literal("time:fiscal 2024")))
    shown = trace(lookup, gaps(lookup), 0)
    assert shown.bridge_cost == shown.literals[0].distance == 1.2


def test_a_directly_matched_event_with_all_slots_filled_is_free() -> None:
    index = told(frame(Slot("who", 0, 1), Slot("whom", 2, 3)))
    assert distances(index, query(MEETING)) == {0: [0]}


@pytest.mark.parametrize(
    ("slots", "units"),
    [
        ((), 2000),
        ((Slot("who", 0, 1),), 1000),
        ((Slot("who", 0, 1), Slot("whom", 2, 3, coerced=True)), 1000),
        ((Slot("who", 0, 1, coerced=True), Slot("when", 2, 3)), 2000),
        ((Slot("who", 0, 1, coerced=True), Slot("who", 2, 3), Slot("whom", 4, 5)), 0),
    ],
)
def test_each_slot_unfilled_or_coerced_adds_up_without_the_weight(
    slots: tuple[Slot, ...], units: int
) -> None:
    assert distances(told(frame(*slots)), query(MEETING)) == {0: [units]}


def test_an_artifact_is_free_to_who_asks_for_it_and_pays_on_the_edge_to_what_it_implies() -> None:
    minutes = frame(Slot("who", 0, 1), Slot("whom", 2, 3), event="event:minutes", artifact=True)
    implied = edge("event:minutes", "event:meeting", Family.EVENT, distance=0.3)
    index = told(minutes, edges=(implied,))
    slots = ("who", "whom")
    asked = literal("event:minutes", kind=LiteralKind.EVENT, slots=slots)
    assert distances(index, query(asked)) == {0: [0]}
    assert distances(index, query(MEETING)) == {0: [12_000]}


def test_the_best_telling_of_an_event_counts() -> None:
    poor, good = frame(Slot("who", 0, 1, coerced=True)), frame(Slot("who", 0, 1))
    shown = first(told(poor, good), query(MEETING))
    assert shown.distance == 0.1
    assert shown.frame == good
    assert shown.bridges[-1].details == ("whom unfilled",)


def test_a_bridged_event_pays_weight_and_slots() -> None:
    index = told(
        frame(Slot("who", 0, 1), event="event:visit"),
        edges=(edge("event:visit", "event:meeting", Family.EVENT),),
    )
    assert distances(index, query(MEETING)) == {0: [9000 + 1000]}


def test_an_event_that_is_named_but_not_told_fills_no_slot() -> None:
    index = CostedIndex([Mention("event:meeting", 0, 0, 7)])
    shown = first(index, query(MEETING))
    assert shown.distance == 0.2
    assert shown.bridges[0].details == ("who unfilled", "whom unfilled")


def test_a_segment_that_tells_an_event_is_held_to_its_telling() -> None:
    """A bare mention beside a frame is the frame's own trigger and fills nothing by itself."""
    index = CostedIndex(
        [Mention("event:meeting", 0, 0, 7), Mention("event:meeting", 1, 0, 7)],
        frames=[frame(Slot("who", 0, 1))],
    )
    assert distances(index, query(MEETING)) == {0: [1000], 1: [2000]}


def test_an_event_of_the_context_has_no_slots_filled() -> None:
    value = FieldValue("section", "Meetings", 1.0, term="event:meeting")
    index = CostedIndex([], contexts=[Context(scope=(value,))])
    shown = first(index, query(MEETING))
    assert shown.distance == 0.7
    (bridge,) = shown.bridges
    assert (bridge.weight, bridge.distance) == (0.5, 0.2)


def test_slots_matter_to_event_literals_only() -> None:
    assert distances(told(frame()), query(literal("event:meeting"))) == {0: [0]}


def test_what_a_segment_adds_may_take_a_literal_over_the_budget() -> None:
    index = told(frame())
    assert distances(index, query(MEETING), tau=0.2) == {0: [2000]}
    assert distances(index, query(MEETING), tau=0.19) == {0: [FAR]}


def test_terms_of_a_segment_are_its_words_and_its_context() -> None:
    index = CostedIndex(
        [Mention("concept:a", 0, 0, 1)], frames=[frame()], contexts=[Context(time=(HEADER_DATE,))]
    )
    assert index.terms_of(0) == {"concept:a", "event:meeting", "time:2024"}
    assert index.terms_of(1) == frozenset()


def test_a_literal_without_terms_is_met_by_nothing() -> None:
    index = CostedIndex([Mention("concept:a", 0, 0, 1)])
    nothing = Literal(LiteralKind.ENTITY, "Nobody", (), 1.0)
    assert distances(index, query(nothing)) == {}


def test_queries_with_the_same_sources_share_what_the_sources_said() -> None:
    class Source:
        asked = 0

        def edges_into(self, term: str) -> list[Edge]:
            self.asked += 1
            return [edge("concept:b", term)] if term == "concept:a" else []

    index, source = CostedIndex([Mention("concept:b", 0, 0, 1)]), Source()
    for _ in range(2):
        lookup = Lookup(index, query(literal("concept:a")), sources=(source,))
        assert lookup.distances.tolist() == [[6500]]
    assert source.asked == 2  # about a and about b
    assert Lookup(index, query(literal("concept:a"))).distances.tolist() == [[]]


def test_segments_in_the_same_state_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    solve = Lookup.joint

    def counting(self: Lookup, *args: object, **named: object) -> object:
        calls.append(1)
        return solve(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Lookup, "joint", counting)
    index = CostedIndex(
        [Mention("concept:c", s, 0, 1) for s in range(50)],
        edges=[
            edge("concept:c", "concept:hub", Family.CONCEPT),
            edge("concept:hub", "concept:a", Family.EXPRESSION),
            edge("concept:hub", "concept:b", Family.EXPRESSION, distance=0.1),
        ],
    )
    lookup = Lookup(index, query(literal("concept:a"), literal("concept:b")), tau=4.0)
    assert set(lookup.bridge_costs.tolist()) == {6500 + 3500 + 4500}
    assert len(calls) == 1
