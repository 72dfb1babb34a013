"""Critic, explainer and localizer as rules over the trace."""

from dataclasses import replace

import pytest

from abstrag.model.patch import Diagnosis, Failure, OverExpansion, Stage
from abstrag.model.query import LiteralKind
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Family
from abstrag.refine.critic import Criticism, LocalCritic
from abstrag.refine.explain import LocalExplainer, localize
from abstrag.refine.feedback import Episode
from tests.unit.refine.harbour import EMPLOYEE, LOCK, SEWAGE, evaluator, refiner
from tests.worlds import literal, query


def _criticism(text: str, gold: tuple[str, ...] = ()) -> Criticism:
    scoring = refiner().system.scoring(text, refiner().initial)
    episode = Episode("harbour", text, gold)
    return LocalCritic(evaluator())(episode, scoring, scoring.ranking(3))


def _failure(text: str, gold: tuple[str, ...] = ()) -> Failure:
    scoring = refiner().system.scoring(text, refiner().initial)
    episode = Episode("harbour", text, gold)
    return LocalExplainer(evaluator())(episode, scoring, scoring.ranking(3))


def test_the_critic_names_the_evidence_it_accepts() -> None:
    assert _criticism(LOCK) == Criticism(True, "evidence: s7")


def test_the_critic_says_what_is_missing() -> None:
    assert _criticism(SEWAGE).reason == "the first 3 hits do not hold evidence"
    assert (
        _criticism(LOCK, ("s1",)).reason == "the first 3 hits do not hold all of the gold evidence"
    )


def test_a_failure_is_about_the_evidence_that_was_missed() -> None:
    failure = _failure(SEWAGE)
    assert failure.segment == "s5"
    assert "sewage" in failure.diagnosis.unmet
    assert failure.gap > 0
    assert "“sewage”" in failure.diagnosis.reading
    assert from_json(Failure, to_json(failure)) == failure


def test_gold_says_what_was_missed() -> None:
    assert _failure(LOCK, ("s7", "s15")).segment == "s15"


def test_without_any_evidence_the_first_hit_is_the_nearest() -> None:
    failure = _failure("Who opens the lock?")
    assert failure.segment == "s8"
    assert failure.diagnosis.reading.startswith("the nearest is s8")


def test_a_query_that_finds_nothing_fails_on_no_segment() -> None:
    failure = _failure("Who flies aeroplanes?")
    assert failure.segment is None
    assert failure.bridges == ()
    assert failure.gap == 4.0


def test_the_dearest_family_comes_first() -> None:
    failure = _failure("Is there a structure with a vessel?", ("s3",))
    shares = [term.share for term in failure.diagnosis.dominant]
    assert failure.diagnosis.dominant[0].family is Family.CONCEPT
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)


def test_a_bridge_that_serves_evidence_is_no_over_expansion() -> None:
    wide = _failure("Is there a structure?", ("s13",)).diagnosis.over_expansion
    assert wide
    spared = _failure("Is there a structure?", ("s13", "s1", "s2", "s6", "s11")).diagnosis
    assert len(spared.over_expansion) < len(wide)


def _about(*unmet: tuple[LiteralKind, str], **seen: object) -> Failure:
    literals = [literal(f"x:{label}", kind=kind) for kind, label in unmet]
    asked = query(*literals or [literal("concept:other")])
    diagnosis = replace(Diagnosis(unmet=tuple(label for _, label in unmet)), **seen)  # type: ignore[arg-type]
    return Failure("q", "s1", asked, (), 1.0, diagnosis)


@pytest.mark.parametrize(
    ("failure", "stage"),
    [
        (_about((LiteralKind.TIME, "2024")), Stage.CONTEXT),
        (_about((LiteralKind.EVENT, "sell")), Stage.EVENT),
        (_about((LiteralKind.ENTITY, "Malta")), Stage.MAP),
        (_about((LiteralKind.CONCEPT, "ship")), Stage.MAP),
        (_about(over_budget_by=0.4), Stage.QUERY),
        (_about(over_expansion=(OverExpansion("a", "b", Family.CONCEPT, 3),)), Stage.QUERY),
        (_about(), Stage.QUERY),
    ],
)
def test_a_failure_is_put_down_to_one_stage(failure: Failure, stage: Stage) -> None:
    found = localize(failure)
    assert found.stage is stage
    assert found.reason
    assert stage not in found.others


def test_the_heaviest_unmet_condition_decides() -> None:
    failure = _failure(EMPLOYEE)
    heaviest = max(
        (each for each in failure.canonical.literals if each.label in failure.diagnosis.unmet),
        key=lambda each: each.weight,
    )
    assert heaviest.kind is LiteralKind.EVENT
    assert localize(failure).stage is Stage.EVENT
    assert Stage.MAP in localize(failure).others
