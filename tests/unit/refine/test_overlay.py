"""What each kind of patch does to a search."""

from abstrag.model.patch import (
    Alias,
    ClauseCost,
    HypernymRestriction,
    RoleRule,
    Stage,
    TimeWindow,
)
from abstrag.model.ranking import GapTrace
from abstrag.model.term import Family, Interval
from abstrag.refine.overlay import away, mentions_of, reach
from abstrag.refine.propose import Delta
from abstrag.refine.state import route
from tests.unit.refine.harbour import SEWAGE, patch, refiner, searcher

RESIGNED = "Who resigned in 2023?"
YEAR = "time:2023-01-01/2023-12-31"


def _trace(query: str, position: int, *changes: tuple[Stage, Delta]) -> GapTrace:
    one = refiner()
    state = one.initial
    for stage, delta in changes:
        state = route(state, patch(stage, delta))
    return one.system.scoring(query, state).hit(position).trace


def _met(trace: GapTrace) -> dict[str, bool]:
    return {each.literal.label: each.met for each in trace.literals}


def test_an_alias_lets_one_word_serve_for_another() -> None:
    alias = Alias("concept:wastewater", "concept:sewage", 0.2)
    assert not _met(_trace(SEWAGE, 4))["sewage"]
    trace = _trace(SEWAGE, 4, (Stage.MAP, alias))
    assert _met(trace)["sewage"]
    assert trace.literals[0].distance == 0.85


def test_a_surface_becomes_a_mention_wherever_it_stands() -> None:
    query = "Who may swim near the blue gate?"
    alias = Alias("entity:swim", "concept:blue", 0.05, surface="may swim")
    trace = _trace(query, 9, (Stage.MAP, alias))
    found = next(t for t in trace.literals if t.literal.label == "blue")
    assert found.via == "entity:swim"
    assert found.mention is not None
    assert (found.mention.start, found.mention.end) == (7, 15)


def test_surfaces_are_whole_words_whatever_their_case() -> None:
    places = mentions_of([("the LOCK", "entity:x")], searcher().index.segments)
    assert [m.segment for m in places] == [7, 8, 9]
    assert mentions_of([("loc", "entity:x")], searcher().index.segments) == ()
    assert mentions_of([("", "entity:x")], searcher().index.segments) == ()


def test_a_restriction_bars_a_costed_step_and_no_other() -> None:
    query = "Is there a structure at the harbour?"
    before = _trace(query, 0)
    way = next(t for t in before.literals if t.literal.label == "structure")
    assert way.bridges, "the report's pier or lighthouse is a structure by WordNet"
    barred = [
        (Stage.QUERY, HypernymRestriction(bridge.source, bridge.target))
        for bridge in way.bridges
        if bridge.family is Family.CONCEPT
    ]
    after = next(t for t in _trace(query, 0, *barred).literals if t.literal.label == "structure")
    assert set(after.bridges).isdisjoint(way.bridges)


def test_a_dearer_family_makes_its_bridges_dearer() -> None:
    query = "Is there a structure at the harbour?"
    dearer = ClauseCost(family=Family.CONCEPT, weight=0.75)
    before, after = _trace(query, 0), _trace(query, 0, (Stage.QUERY, dearer))
    old, new = (
        next(t.distance for t in found.literals if t.literal.label == "structure")
        for found in (before, after)
    )
    assert old is not None
    assert new is not None
    assert round(new - old, 4) == 0.1


def test_a_new_price_holds_for_patched_edges_too() -> None:
    changes = (
        (Stage.MAP, RoleRule("role:worker", "concept:sewage", 0.0)),
        (Stage.QUERY, ClauseCost(family=Family.INTENT, weight=1.0)),
    )
    trace = _trace(SEWAGE, 10, *changes)
    assert trace.literals[0].distance == 1.0


def test_a_granted_budget_holds_for_its_query_alone() -> None:
    one = refiner()
    state = route(one.initial, patch(Stage.QUERY, ClauseCost(query=SEWAGE, tau=2.5)))
    assert one.system.scoring(SEWAGE.upper(), state).tau == 2.5
    assert one.system.scoring(RESIGNED, state).tau == 1.5


def test_a_wider_window_serves_times_next_door_at_a_price() -> None:
    window = TimeWindow(YEAR, Interval("2023-01-01", "2024-02-03"))
    before, after = _trace(RESIGNED, 13), _trace(RESIGNED, 13, (Stage.CONTEXT, window))
    own = [t for t in after.literals if t.literal.label == "2023"]
    assert own[0].distance == round(0.35 + 33 / 365, 4)
    assert before.literals[-1].distance is None


def test_days_between_times() -> None:
    year = Interval("2023-01-01", "2023-12-31")
    assert away(Interval("2024-01-01", "2024-01-01"), year) == 0
    assert away(Interval("2024-02-03", "2024-02-03"), year) == 33
    assert away(Interval("2022-12-30", "2022-12-30"), year) == 1
    assert reach(year) == 365
    assert reach(Interval("2023-05-01", "2023-05-01")) == 31


def test_a_state_that_changes_nothing_shares_everything() -> None:
    one = refiner()
    assert one.system.scoring(SEWAGE, one.initial).index is searcher().costed
