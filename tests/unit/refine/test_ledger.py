"""Patches live in the audit log: they last, they come back the same, and they can be taken back."""

from pathlib import Path

import pytest

from abstrag.engine.refinement import Refiner
from abstrag.errors import InputError, PolicyError
from abstrag.policy.audit import Validation
from abstrag.policy.store import PolicyStore
from abstrag.refine.feedback import Episode
from abstrag.refine.ledger import PatchLedger, text_hash
from tests.unit.refine.harbour import EMPLOYEE, EVIDENCE, LOCK, SECOND, SEWAGE, refiner, searcher


@pytest.fixture
def ledger(tmp_path: Path) -> PatchLedger:
    return PatchLedger(PolicyStore.open(tmp_path, "harbour"))


def _rank(one: Refiner, query: str) -> int | None:
    hits = one.search(query, k=3).hits
    return next((n for n, hit in enumerate(hits, 1) if hit.text == EVIDENCE[query]), None)


def test_the_next_query_profits_in_another_process(ledger: PatchLedger) -> None:
    assert _rank(refiner(ledger), SECOND) is None
    made = refiner(ledger).refine(SEWAGE)
    other = refiner(PatchLedger(PolicyStore.open(ledger.store.root, "harbour")))
    assert other.state.hash == made.state_after
    assert _rank(other, SECOND) == 1


def test_another_family_and_another_text_have_patches_of_their_own(ledger: PatchLedger) -> None:
    refiner(ledger).refine(SEWAGE)
    assert PatchLedger(PolicyStore.open(ledger.store.root, "office")).kept() == ()
    assert ledger.kept("another text's hash") == ()
    assert len(ledger.kept(text_hash(searcher().index))) == 1


def test_a_revert_restores_the_exact_state_and_ranking(ledger: PatchLedger) -> None:
    one = refiner(ledger)
    state, ranking = one.state, one.search(SEWAGE)
    (patch,) = one.refine(SEWAGE).patches
    assert one.search(SEWAGE) != ranking
    ledger.revert(patch.id[:6])
    assert one.state == state
    assert one.state.hash == state.hash
    assert one.search(SEWAGE) == ranking


def test_what_was_taken_back_can_be_learnt_again(ledger: PatchLedger) -> None:
    one = refiner(ledger)
    (patch,) = one.refine(SEWAGE).patches
    ledger.revert(patch.id)
    assert refiner(ledger).refine(SEWAGE).patches == (patch,)
    assert [kept.id for kept in ledger.kept()] == [patch.id]


@pytest.mark.parametrize("name", ["", "no such patch"])
def test_only_a_patch_in_force_can_be_taken_back(ledger: PatchLedger, name: str) -> None:
    refiner(ledger).refine(SEWAGE)
    with pytest.raises(PolicyError):
        ledger.revert(name)


def test_accepted_and_refused_share_one_log_with_reasons(ledger: PatchLedger) -> None:
    refiner(ledger).refine(SEWAGE)
    refiner(ledger).refine(EMPLOYEE)
    tried = [e for e in ledger.store.entries() if e.payload["action"] == "apply"]
    assert [e.validation_status for e in tried] == [Validation.ACCEPTED, Validation.REJECTED]
    assert all(e.payload.keys() == tried[0].payload.keys() for e in tried)
    assert "spreads out" in tried[1].reason


def test_solved_queries_are_the_controls_of_the_next(ledger: PatchLedger) -> None:
    refiner(ledger).refine(SEWAGE)
    refiner(ledger).refine(LOCK)
    made = refiner(ledger).refine(EMPLOYEE)
    assert set(made.steps[0].controls) == {SEWAGE, LOCK}
    refiner(ledger).refine(LOCK)
    assert [e.query for e in ledger.solved(text_hash(searcher().index))] == [SEWAGE, LOCK]


def test_every_query_a_run_leaves_solved_is_a_control(ledger: PatchLedger) -> None:
    run = refiner(ledger).run([Episode("harbour", q) for q in (LOCK, SEWAGE, EMPLOYEE)])
    assert run.solved == (LOCK, SEWAGE)
    assert [e.query for e in ledger.solved(text_hash(searcher().index))] == [LOCK, SEWAGE]


def test_gold_that_names_no_segment_is_refused() -> None:
    with pytest.raises(InputError, match="'s99'"):
        refiner().refine(SEWAGE, gold=["s5", "s99"])


def test_without_a_ledger_a_refiner_remembers_for_itself() -> None:
    one = refiner()
    one.refine(SEWAGE)
    assert _rank(one, SECOND) == 1
    assert _rank(refiner(), SECOND) is None
