"""Patches live in the audit log: they last, they come back the same, and they can be taken back."""

from pathlib import Path

import pytest

from abstrag.engine.refinement import Refiner
from abstrag.errors import InputError, PolicyError
from abstrag.policy.audit import Validation
from abstrag.policy.store import PolicyStore
from abstrag.refine.feedback import Episode
from abstrag.refine.patch_log import PatchLog, text_hash
from tests.unit.refine.harbour import EMPLOYEE, EVIDENCE, LOCK, SECOND, SEWAGE, refiner, searcher


@pytest.fixture
def patch_log(tmp_path: Path) -> PatchLog:
    return PatchLog(PolicyStore.open(tmp_path, "harbour"))


def _rank(one: Refiner, query: str) -> int | None:
    hits = one.search(query, k=3).hits
    return next((n for n, hit in enumerate(hits, 1) if hit.text == EVIDENCE[query]), None)


def test_the_next_query_profits_in_another_process(patch_log: PatchLog) -> None:
    assert _rank(refiner(patch_log), SECOND) is None
    made = refiner(patch_log).refine(SEWAGE)
    other = refiner(PatchLog(PolicyStore.open(patch_log.store.root, "harbour")))
    assert other.state.hash == made.state_after
    assert _rank(other, SECOND) == 1


def test_another_family_and_another_text_have_patches_of_their_own(patch_log: PatchLog) -> None:
    refiner(patch_log).refine(SEWAGE)
    assert PatchLog(PolicyStore.open(patch_log.store.root, "office")).kept() == ()
    assert patch_log.kept("another text's hash") == ()
    assert len(patch_log.kept(text_hash(searcher().index))) == 1


def test_a_revert_restores_the_exact_state_and_ranking(patch_log: PatchLog) -> None:
    one = refiner(patch_log)
    state, ranking = one.state, one.search(SEWAGE)
    (patch,) = one.refine(SEWAGE).patches
    assert one.search(SEWAGE) != ranking
    patch_log.revert(patch.id[:6])
    assert one.state == state
    assert one.state.hash == state.hash
    assert one.search(SEWAGE) == ranking


def test_what_was_taken_back_can_be_learnt_again(patch_log: PatchLog) -> None:
    one = refiner(patch_log)
    (patch,) = one.refine(SEWAGE).patches
    patch_log.revert(patch.id)
    assert refiner(patch_log).refine(SEWAGE).patches == (patch,)
    assert [kept.id for kept in patch_log.kept()] == [patch.id]


@pytest.mark.parametrize("name", ["", "no such patch"])
def test_only_a_patch_in_force_can_be_taken_back(patch_log: PatchLog, name: str) -> None:
    refiner(patch_log).refine(SEWAGE)
    with pytest.raises(PolicyError):
        patch_log.revert(name)


def test_accepted_and_refused_share_one_log_with_reasons(patch_log: PatchLog) -> None:
    refiner(patch_log).refine(SEWAGE)
    refiner(patch_log).refine(EMPLOYEE)
    tried = [e for e in patch_log.store.entries() if e.payload["action"] == "apply"]
    assert [e.validation_status for e in tried] == [Validation.ACCEPTED, Validation.REJECTED]
    assert all(e.payload.keys() == tried[0].payload.keys() for e in tried)
    assert "spreads out" in tried[1].reason


def test_solved_queries_are_the_controls_of_the_next(patch_log: PatchLog) -> None:
    refiner(patch_log).refine(SEWAGE)
    refiner(patch_log).refine(LOCK)
    made = refiner(patch_log).refine(EMPLOYEE)
    assert set(made.steps[0].controls) == {SEWAGE, LOCK}
    refiner(patch_log).refine(LOCK)
    assert [e.query for e in patch_log.solved(text_hash(searcher().index))] == [SEWAGE, LOCK]


def test_every_query_a_run_leaves_solved_is_a_control(patch_log: PatchLog) -> None:
    run = refiner(patch_log).run([Episode("harbour", q) for q in (LOCK, SEWAGE, EMPLOYEE)])
    assert run.solved == (LOCK, SEWAGE)
    assert [e.query for e in patch_log.solved(text_hash(searcher().index))] == [LOCK, SEWAGE]


def test_gold_that_names_no_segment_is_refused() -> None:
    with pytest.raises(InputError, match="'s99'"):
        refiner().refine(SEWAGE, gold=["s5", "s99"])


def test_without_a_patch_log_a_refiner_remembers_for_itself() -> None:
    one = refiner()
    one.refine(SEWAGE)
    assert _rank(one, SECOND) == 1
    assert _rank(refiner(), SECOND) is None
