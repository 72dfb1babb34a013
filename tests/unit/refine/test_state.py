"""Ξ as a value: patches move it, the router types the move, and leaving one out takes it back."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EditOp,
    EffectKind,
    EventMapping,
    HypernymRestriction,
    Patch,
    PromptEdit,
    RoleRule,
    Stage,
    TimeWindow,
)
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Family, Interval, LicenceKind
from abstrag.refine.propose import Delta
from abstrag.refine.state import State, classify, edge_of, replayed, route
from tests.unit.refine.harbour import LOCK, SEWAGE, patch, refiner

START = State("chain")
YEAR = "time:2023-01-01/2023-12-31"
WINDOW = TimeWindow(YEAR, Interval("2023-01-01", "2024-02-03"))
EDIT = PromptEdit("normalize_entities", EditOp.ADD_RULE, "Read initials as names.")
EFFECTS: list[tuple[Stage, Delta, EffectKind]] = [
    (Stage.MAP, Alias("concept:wastewater", "concept:sewage", 0.2), EffectKind.EDGE_ADDITION),
    (Stage.MAP, RoleRule("role:worker", "role:employee", 0.4), EffectKind.EDGE_ADDITION),
    (Stage.EVENT, EventMapping("event:paint", "event:renovate"), EffectKind.EDGE_ADDITION),
    (Stage.QUERY, HypernymRestriction("concept:pier", "concept:x"), EffectKind.QUERY_REWRITE),
    (Stage.QUERY, ClauseCost(query=LOCK, tau=2.0), EffectKind.QUERY_REWRITE),
    (Stage.QUERY, ClauseCost(family=Family.CONCEPT, weight=0.7), EffectKind.BRIDGE_WEIGHT),
    (Stage.CONTEXT, WINDOW, EffectKind.TIME_WINDOW),
]
PATCHES = [patch(stage, delta) for stage, delta, _ in EFFECTS]


@pytest.mark.parametrize(("stage", "delta", "effect"), EFFECTS)
def test_every_kind_of_change_has_its_effect(
    stage: Stage, delta: Delta, effect: EffectKind
) -> None:
    made = patch(stage, delta)
    assert classify(made) is effect
    assert route(START, made) != START
    assert from_json(Patch, to_json(made)) == made


def test_a_prompt_edit_is_an_effect_of_its_own() -> None:
    licence = PATCHES[0].licence
    made = Patch(Stage.MAP, None, licence, 0.5, edit=EDIT)
    assert classify(made) is EffectKind.PROMPT_EDIT
    assert route(START, made).programs.edits == (EDIT,)


@pytest.mark.parametrize(("stage", "delta", "effect"), EFFECTS)
def test_a_change_at_a_strange_stage_changes_nothing(
    stage: Stage, delta: Delta, effect: EffectKind
) -> None:
    strange = Stage.EVENT if stage is not Stage.EVENT else Stage.CONTEXT
    made = patch(strange, delta)
    assert classify(made) is EffectKind.NO_OP
    assert route(START, made) == START


def test_an_empty_patch_changes_nothing() -> None:
    made = Patch(Stage.MAP, None, PATCHES[0].licence, 0.0)
    assert classify(made) is EffectKind.NO_OP
    assert route(START, made) == START


def test_the_order_of_patches_does_not_matter() -> None:
    hashes = {replayed(START, some).hash for some in permutations(PATCHES[:4])}
    assert len(hashes) == 1


def test_a_patch_applied_twice_is_applied_once() -> None:
    assert replayed(START, [*PATCHES, *PATCHES]) == replayed(START, PATCHES)


@given(st.lists(st.sampled_from(PATCHES), unique=True), st.data())
def test_taking_a_patch_back_is_never_having_had_it(some: list[Patch], data: st.DataObject) -> None:
    before = replayed(START, some)
    more = data.draw(st.sampled_from(PATCHES))
    if more not in some:
        after = route(before, more)
        assert after.hash != before.hash
        assert replayed(START, [p for p in [*some, more] if p != more]).hash == before.hash


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(PATCHES), unique=True, min_size=1))
def test_going_back_restores_the_exact_ranking(some: list[Patch]) -> None:
    system, start = refiner().system, refiner().initial
    for query in (SEWAGE, LOCK):
        before = system.scoring(query, start).ranking(10)
        system.scoring(query, replayed(start, some)).ranking(10)
        assert system.scoring(query, replayed(start, [])).ranking(10) == before


def test_an_added_edge_pays_and_names_its_patch() -> None:
    for made in PATCHES[:3]:
        edge = edge_of(made)
        assert edge is not None
        assert not edge.truth_preserving
        assert edge.cost > 0
        assert (edge.licence.kind, edge.licence.reference) == (LicenceKind.PATCH, made.id)
