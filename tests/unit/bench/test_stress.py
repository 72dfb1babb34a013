"""The stress slice: every arm on the same cases, resumable, with figures from the records alone."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.config import MAX_GAP
from abstrag.errors import InputError
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EffectKind,
    HypernymRestriction,
    Stage,
    StepPrice,
)
from abstrag.model.term import Family
from abstrag.refine.explain import LocalExplainer
from abstrag.refine.feedback import Episode
from abstrag.refine.limits import RefineBudget, objection
from abstrag.refine.state import classify, route
from abstrag.search.relevance import ALIGNED
from abstrag.stores.sqlite import MEMORY
from abstrag.workspace.lessons import gold_evaluator
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset
from abstrag_bench.stress import (
    ARMS,
    UNREFINED,
    GuessingProposer,
    Stress,
    interacting,
    run_stress,
    summarize,
    to_markdown,
)
from tests.unit.refine.harbour import EMPLOYEE, PRESET, evaluator, refiner
from tools import stress_slice

TEXTS = (
    "Untreated wastewater ran into the basin.",
    "The river is long.",
    "The river is deep.",
    "The river freezes in winter.",
    "Boats cross the river at noon.",
)


def _dataset(documents: int = 2) -> Dataset:
    cases = []
    for d in range(documents):
        elements = [Element(str(i), t, ElementKind.SENTENCE) for i, t in enumerate(TEXTS)]
        pool = Pool(f"d{d}", "Rivers", tuple(elements))
        for q, (query, gold) in enumerate(
            [
                ("Is there sewage in the river?", "0"),
                ("When does the river freeze?", "3"),
                ("Why?", ""),
            ]
        ):
            found = (gold,) if gold else ()
            cases.append(Case("plain", "dev", f"d{d}-q{q}", pool, query, found, (found,)))
    return Dataset("plain", "dev", tuple(cases))


def _stress(*, guessing: bool = False) -> Stress:
    return Stress(
        lambda _searcher: gold_evaluator(k=2), k=2, gold=True, preset=PRESET, guessing=guessing
    )


def test_every_arm_runs_on_the_same_cases(tmp_path: Path) -> None:
    records = run_stress(_dataset(), _stress(), tmp_path)
    assert {r.system for r in records} == {UNREFINED, *ARMS}
    for arm in (UNREFINED, *ARMS):
        own = [r.case_id for r in records if r.system == arm]
        assert own == ["d0-q0", "d0-q1", "d1-q0", "d1-q1"]
    full = {r.case_id: r for r in records if r.system == "full gate"}
    assert full["d0-q0"].details["triggered"]
    assert "0" in full["d0-q0"].ranked
    assert full["d0-q0"].patched == ("0",)
    assert full["d0-q1"].preserved is True


def test_a_stopped_run_goes_on_and_a_torn_line_is_dropped(tmp_path: Path) -> None:
    whole = run_stress(_dataset(), _stress(), tmp_path / "whole")
    run_stress(_dataset(), _stress(), tmp_path / "part", limit=1)
    path = tmp_path / "part" / "records.jsonl"
    lines = (tmp_path / "whole" / "records.jsonl").read_text().splitlines()
    with path.open("a") as file:
        file.write(lines[-1] + "\n" + lines[-1][:40])
    seen: list[str] = []
    again = run_stress(
        _dataset(), _stress(), tmp_path / "part", on_document=lambda name, *_: seen.append(name)
    )
    assert seen == ["d1"]
    assert again == whole
    assert path.read_text() == (tmp_path / "whole" / "records.jsonl").read_text()


def test_the_summary_has_intervals_and_paired_differences(tmp_path: Path) -> None:
    summary = summarize(run_stress(_dataset(), _stress(), tmp_path), k=2)
    assert summary.documents == summary.slice_documents == 2
    arms = {arm.arm: arm for arm in summary.arms}
    assert arms[UNREFINED].metrics["Suff@2"].mean == 0.5
    assert arms["full gate"].metrics["Suff@2"].mean == 1.0
    assert arms["full gate"].change["Suff@2"].mean == 0.5
    assert arms["full gate"].triggered == 0.5
    assert "OverExp@2" in arms["no compression control"].control
    table = to_markdown(summary)
    assert "| full gate − unrefined |" in table
    assert json.dumps(table)


def test_a_split_without_gold_is_refused(tmp_path: Path) -> None:
    bare = Dataset("plain", "dev", tuple(c for c in _dataset().cases if not c.gold))
    with pytest.raises(InputError, match="no case with gold"):
        run_stress(bare, _stress(), tmp_path)


def test_the_script_writes_its_tables_and_refuses_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stress_slice, "load_dataset", lambda *_: _dataset(1))
    common = ["--dataset", "plain", "--data", ".", "--out", str(tmp_path), "--evaluator", "gold"]
    stress_slice.main([*common, "-k", "2"])
    assert "| full gate |" in capsys.readouterr().out
    assert json.loads((tmp_path / "summary.json").read_text())["documents"] == 1
    assert "OverExp@2" in (tmp_path / "summary.md").read_text()
    with pytest.raises(InputError, match="other settings"):
        stress_slice.main([*common, "-k", "3"])


def test_guesses_are_unlicensed_and_the_widest_come_first() -> None:
    one = refiner()
    scoring = one.system.scoring(EMPLOYEE, one.initial)
    failure = LocalExplainer(evaluator())(Episode("h", EMPLOYEE), scoring, scoring.ranking(3))
    made = list(GuessingProposer()(failure, Stage.MAP, scoring))
    first = made[0].delta
    assert isinstance(first, Alias)
    assert first.source in ("role:worker", "concept:worker")  # three sentences, others have one
    assert {patch.licence.reference for patch in made} == {"guessed"}
    assert all(classify(patch) is not EffectKind.NO_OP for patch in made)


def test_guesses_keep_out_whole_families_first_and_stay_within_the_limits() -> None:
    one = refiner()
    asked = "Is there a vessel?"  # served by steps to a broader concept alone
    scoring = one.system.scoring(asked, one.initial)
    failure = LocalExplainer(evaluator())(Episode("h", asked), scoring, scoring.ranking(3))
    made = list(GuessingProposer()(failure, Stage.MAP, scoring))
    narrow = [p for p in made if isinstance(p.delta, ClauseCost | HypernymRestriction)]
    assert narrow[0].delta == ClauseCost(family=Family.CONCEPT, weight=0.89)
    assert isinstance(narrow[1].delta, HypernymRestriction)
    document = one.searcher.index
    assert all(objection(p, one.initial, document, budget=RefineBudget()) is None for p in narrow)
    barred = route(one.initial, narrow[1])
    served = len(scoring.ranking(10).hits)
    assert len(one.system.scoring(asked, barred).ranking(10).hits) < served


def test_where_words_have_prices_any_word_is_let_in_and_the_commonest_are_ruled_out() -> None:
    with Workspace(WorkspaceConfig(MEMORY, options=SearchOptions(preset=ALIGNED))) as workspace:
        document = workspace.document(to_document(_dataset(1).cases[0].document).document)
        asked = "Is there sewage in the river?"
        scoring = document.searcher.scoring(asked)
        (missed,) = [s.id for s in document.index.segments if "wastewater" in s.text]
        episode = Episode("d0", asked, (missed,))
        failure = LocalExplainer(gold_evaluator(k=2))(episode, scoring, scoring.ranking(2))
        failure = replace(failure, segment=missed)
        made = [patch.delta for patch in GuessingProposer(2)(failure, Stage.MAP, scoring)]
    steps = [delta for delta in made if isinstance(delta, StepPrice)]
    assert StepPrice("sewage", "basin", at_most=0.0) in steps
    assert StepPrice("river", "river", at_least=MAX_GAP) in steps
    assert not any(s.at_most == 0 and s.asked == s.said for s in steps)


def test_the_slice_is_where_a_patch_can_do_harm(tmp_path: Path) -> None:
    both = _dataset(1)
    alone = replace(both.cases[1], document=replace(both.cases[1].document, id="d9"))
    alone = replace(alone, case_id="d9-q1")
    records = run_stress(replace(both, cases=(*both.cases, alone)), _stress(), tmp_path)
    assert {r.document for r in records} == {"d0", "d9"}
    chosen = interacting(records)
    assert {r.document for r in chosen} == {"d0"}
    assert len(chosen) == 2 * (1 + len(ARMS))
    arms = {arm.arm: arm for arm in summarize(chosen, k=2).arms}
    assert arms["full gate"].metrics["Preserved of controls"].n == 1


def test_arms_may_be_left_out(tmp_path: Path) -> None:
    stress = replace(_stress(), arms={"full gate": ARMS["full gate"]})
    records = run_stress(_dataset(1), stress, tmp_path)
    assert {r.system for r in records} == {UNREFINED, "full gate"}
    assert run_stress(_dataset(1), stress, tmp_path) == records
    assert [arm.arm for arm in summarize(records, k=2).arms] == [UNREFINED, "full gate"]
