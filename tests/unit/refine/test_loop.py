"""The loop: it ends, says how, never loses a solved case, and never visits a state twice."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.errors import InputError
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EffectKind,
    EventMapping,
    Failure,
    Patch,
    Stage,
)
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Family
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.feedback import Episode
from abstrag.refine.gate import potential
from abstrag.refine.limits import RefineBudget
from abstrag.refine.loop import Loop, RefinementRoles
from abstrag.refine.outcome import End, Refinement, Run
from abstrag.refine.propose import Unusable
from abstrag.refine.state import route
from abstrag.search.scoring import Scoring
from tests.unit.refine.harbour import (
    EMPLOYEE,
    EVIDENCE,
    LOCK,
    SECOND,
    SEWAGE,
    Labels,
    evaluator,
    patch,
    refiner,
)

ALIAS = patch(Stage.MAP, Alias("concept:wastewater", "concept:sewage", 0.2))


class Offers:
    """A proposer with a fixed list."""

    def __init__(self, *patches: Patch | Unusable) -> None:
        self.patches = patches

    def __call__(
        self, failure: Failure, stage: Stage, scoring: Scoring
    ) -> Iterable[Patch | Unusable]:
        return self.patches


def _episodes(*queries: str) -> list[Episode]:
    return [Episode("harbour", query) for query in queries]


def _loop(*queries: str, judges: RefinementRoles | None = None) -> Loop:
    one = refiner()
    return Loop(one.system, judges or one.judges, one.initial, _episodes(*queries))


def _offering(*patches: Patch | Unusable, budget: RefineBudget | None = None) -> RefinementRoles:
    made = RefinementRoles.local(evaluator(), Offers(*patches))
    return replace(made, budget=budget or RefineBudget())


def test_a_failing_query_is_mended_and_the_critic_accepts() -> None:
    made = _loop(SEWAGE).refine(_episodes(SEWAGE)[0])
    assert (made.sufficient_before, made.sufficient, made.end) == (False, True, End.ACCEPTED)
    assert [type(p.delta) for p in made.patches] == [Alias]
    assert made.after.hits[0].text == EVIDENCE[SEWAGE]
    assert made.state_before != made.state_after
    (step,) = made.steps
    assert step.attempts[-1].effect is EffectKind.EDGE_ADDITION
    assert [one.evidence for one in step.before] == [False] * 3
    assert any(one.evidence for one in step.attempts[-1].after)


def test_a_refinement_survives_json() -> None:
    made = _loop(SEWAGE).refine(_episodes(SEWAGE)[0])
    assert from_json(Refinement, to_json(made)) == made
    run = _loop(SEWAGE, LOCK).run()
    assert from_json(Run, to_json(run)) == run


def test_a_solved_query_is_left_alone() -> None:
    made = _loop(LOCK).refine(_episodes(LOCK)[0])
    assert made.steps == ()
    assert made.end is End.ACCEPTED
    assert made.state_before == made.state_after


def test_an_over_expanding_patch_leaves_a_fixed_point() -> None:
    made = _loop(EMPLOYEE).refine(_episodes(EMPLOYEE)[0])
    assert made.end is End.FIXED_POINT
    assert not made.accepted
    (attempt,) = made.steps[0].attempts
    assert attempt.verdict.reasons == (f"“{EMPLOYEE}” spreads out: compression 0.00 → -0.67",)


def test_other_queries_profit_without_refinement() -> None:
    run = _loop(SEWAGE, SECOND, LOCK).run()
    assert run.end is End.ACCEPTED
    assert run.potential_before[0] == 1
    assert run.potential_after[0] == 3
    assert [made.query for made in run.refinements] == [SEWAGE]


def test_a_run_that_cannot_solve_all_says_so() -> None:
    run = _loop(EMPLOYEE, LOCK).run()
    assert run.end is End.FIXED_POINT
    assert run.patches == ()
    assert run.potential_before == run.potential_after


def test_attempts_run_out() -> None:
    useless = [
        patch(Stage.MAP, Alias(f"concept:{word}", "concept:sewage", 0.9))
        for word in ("tea", "dawn", "blue", "night")
    ]
    judges = _offering(*useless, budget=RefineBudget(attempts=3))
    made = _loop(SEWAGE, LOCK, judges=judges).refine(_episodes(SEWAGE)[0])
    assert made.end is End.BUDGET
    assert len(made.steps[0].attempts) == 3


def test_a_trigger_has_so_many_cycles_and_no_more() -> None:
    judges = _offering(budget=RefineBudget(cycles=2))
    loop = _loop(EMPLOYEE, judges=judges)
    (episode,) = _episodes(EMPLOYEE)
    assert [loop.refine(episode).end for _ in range(3)] == [
        End.FIXED_POINT,
        End.FIXED_POINT,
        End.BUDGET,
    ]


def test_the_controls_are_solved_cases_and_at_most_three() -> None:
    others = ["Who drinks tea?", "What was painted blue?", "Who may swim near the lock?"]
    evidence = {
        "Who drinks tea?": "Workers drink tea at ten.",
        "What was painted blue?": "The lock was painted blue.",
        "Who may swim near the lock?": "Nobody may swim near the lock.",
        **EVIDENCE,
    }
    judges = RefinementRoles.local(Evaluator(Labels(evidence), k=3))
    made = _loop(SEWAGE, LOCK, *others, judges=judges).refine(_episodes(SEWAGE)[0])
    tried = [one for one in made.steps[0].attempts if one.controls]
    assert tried
    assert all(len(one.controls) == 3 for one in tried)
    assert {name for one in tried for name in one.controls} <= {LOCK, *others}
    assert set(made.steps[0].controls) == {name for one in tried for name in one.controls}


def test_a_patch_is_held_against_the_solved_cases_it_moves_most() -> None:
    tea, blue, swim, vessel = (
        "Who drinks tea?",
        "What was painted blue?",
        "Who may swim near the lock?",
        "Is there a vessel?",
    )
    evidence = {
        tea: "Workers drink tea at ten.",
        blue: "The lock was painted blue.",
        swim: "Nobody may swim near the lock.",
        vessel: "The harbour master counts the boats every morning.",
        **EVIDENCE,
    }
    harm = patch(Stage.MAP, Alias("concept:tea", "concept:vessel", 0.0))
    judges = RefinementRoles.local(Evaluator(Labels(evidence), k=1), Offers(harm))
    made = _loop(SEWAGE, tea, blue, swim, LOCK, vessel, judges=judges).refine(_episodes(SEWAGE)[0])
    (attempt,) = made.steps[0].attempts
    assert attempt.controls[0] == vessel  # the only one whose first hit is another now
    assert attempt.verdict.reasons[0] == f"control “{vessel}” loses its evidence"


def test_a_patch_that_costs_a_control_its_evidence_is_refused() -> None:
    vessel = "Is there a vessel?"  # the boats of s3 are, by WordNet, at a price that tea undercuts
    labels = Labels({**EVIDENCE, vessel: "The harbour master counts the boats every morning."})
    harm = patch(Stage.MAP, Alias("concept:tea", "concept:vessel", 0.0))
    judges = RefinementRoles.local(Evaluator(labels, k=1), Offers(harm))
    made = _loop(SEWAGE, vessel, judges=judges).refine(_episodes(SEWAGE)[0])
    (attempt,) = made.steps[0].attempts[:1]
    assert attempt.verdict.reasons[0] == f"control “{vessel}” loses its evidence"
    assert not made.accepted


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        (patch(Stage.EVENT, ALIAS.delta), "unclassified"),  # type: ignore[arg-type]
        (patch(Stage.MAP, Alias("concept:nowhere", "concept:sewage", 0.1)), "no term"),
        (Unusable("rank this first", "there is no such change"), "no patch"),
        (patch(Stage.QUERY, ClauseCost(query=SEWAGE, tau=1.2)), "solves nothing"),
    ],
)
def test_every_refusal_has_a_reason(proposal: Patch | Unusable, reason: str) -> None:
    judges = _offering(proposal)
    made = _loop(SEWAGE, judges=judges).refine(_episodes(SEWAGE)[0])
    attempt = made.steps[0].attempts[0]
    assert not attempt.verdict.accepted
    assert reason in attempt.verdict.reasons[0]
    assert made.state_before == made.state_after


def test_judges_who_disagree_let_nothing_pass() -> None:
    split = Evaluator(Labels(), Labels(), Labels({}), k=3)
    made = _loop(SEWAGE, judges=RefinementRoles.local(split, Offers(ALIAS))).refine(
        _episodes(SEWAGE)[0]
    )
    assert not made.accepted
    assert "disagree" in made.steps[0].attempts[0].verdict.reasons[0]


@pytest.mark.parametrize("compression", ["distractors", "top1_relevance"])
def test_the_gate_sees_the_same_with_and_without_traces(compression: str) -> None:
    judges = RefinementRoles.local(Evaluator(Labels(), k=3, compression=compression))
    loop = _loop(SEWAGE, LOCK, EMPLOYEE, judges=judges)
    for state in (loop.state, route(loop.state, ALIAS)):
        for episode in _episodes(SEWAGE, LOCK, EMPLOYEE):
            scoring = loop.system.scoring(episode.query, state)
            found = scoring.ranking(3), scoring.document.segments
            assert loop._judge(state, episode) == judges.evaluator.signals(episode, *found)


def test_a_question_without_evidence_anywhere_keeps_nothing_and_says_what_was_tried() -> None:
    dearer = patch(Stage.QUERY, ClauseCost(family=Family.CONCEPT, weight=0.89))
    blind = RefinementRoles.local(Evaluator(Labels({}), k=3), Offers(ALIAS, dearer))
    made = _loop(SEWAGE, LOCK, judges=blind).refine(_episodes(SEWAGE)[0])
    (step,) = made.steps
    assert [attempt.patch for attempt in step.attempts] == [ALIAS, dearer]
    assert all("solves nothing" in attempt.verdict.reasons[-1] for attempt in step.attempts)
    assert made.patches == ()
    assert made.end is End.FIXED_POINT


def test_a_query_that_is_not_in_the_file_is_refused() -> None:
    with pytest.raises(InputError, match="not among the episodes"):
        _loop(LOCK).refine(_episodes(SEWAGE)[0])


WORDS = ("wastewater", "lock", "pier", "tea", "crane", "gate", "market", "worker")
RANDOM = st.one_of(
    st.builds(
        lambda a, b, d: patch(Stage.MAP, Alias(f"concept:{a}", f"concept:{b}", d / 10)),
        st.sampled_from(WORDS),
        st.sampled_from(("sewage", "harbour", "alarm", "lock", "pier")),
        st.integers(0, 5),
    ),
    st.builds(
        lambda a, b: patch(Stage.EVENT, EventMapping(f"event:{a}", f"event:{b}")),
        st.sampled_from(("paint", "find", "mend", "open")),
        st.sampled_from(("raise", "see", "payment")),
    ),
    st.builds(
        lambda f, w: patch(Stage.QUERY, ClauseCost(family=f, weight=w / 100)),
        st.sampled_from(list(Family)),
        st.integers(1, 120),
    ),
    st.builds(
        lambda q, t: patch(Stage.QUERY, ClauseCost(query=q, tau=t / 10)),
        st.sampled_from((SEWAGE, EMPLOYEE, LOCK)),
        st.integers(1, 40),
    ),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(RANDOM, max_size=8))
def test_whatever_is_proposed_the_run_ends_and_harms_no_solved_case(some: list[Patch]) -> None:
    judges = _offering(*some)
    loop = _loop(SEWAGE, SECOND, EMPLOYEE, LOCK, judges=judges)
    start = loop.state
    run = loop.run()
    served = all(signals.sufficient for signals in loop._signals(loop.state).values())
    assert served or run.end is not End.ACCEPTED
    assert run.potential_after >= run.potential_before
    assert (run.potential_after > run.potential_before) == bool(run.patches)
    states = [run.state_before, *(made.state_after for made in run.refinements if made.accepted)]
    assert len(set(states)) == len(states)
    again = Loop(loop.system, judges, start, _episodes(SEWAGE, SECOND, EMPLOYEE, LOCK))
    assert potential(again._signals(start)) == run.potential_before
    solved = again._signals(start)[LOCK].sufficient
    assert not solved or loop._signals(loop.state)[LOCK].sufficient
