"""AbstRAG with a language model as a system: what it asks, when, and what a record says of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import BadReply, InputError, NeedsModel
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.prompt import Prompt
from abstrag.llm.scripted import ScriptedModel
from abstrag.policy.load import load_programs
from abstrag.search.calibration import (
    ModelCalibration,
    fitted,
    program_hash,
    read_calibration,
    save_calibration,
)
from abstrag_bench.abstrag_llm import (
    PARTS,
    AbstragLlmSystem,
    build_llm,
    calibrated,
    llm_names,
    unsure,
)
from abstrag_bench.abstrag_system import SharedIndexer
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import run
from abstrag_bench.systems import Builder, SystemSpec, asks_model, system_names
from tests.unit.bench.makers import make_dataset, make_pool

QUERY = "What does a shark hunt?"
SILENT: dict[str, Any] = {
    "normalize_query": {"literals": [], "answer_type": ""},
    "expand_query": {"clauses": []},
    "read_query": {"literals": [], "answer_type": "", "clauses": []},
}


def judging(request: ModelRequest) -> dict[str, Any]:
    """Prefer what speaks of a museum, whatever was asked."""
    inputs = json.loads(request.user.removeprefix("<data>\n").removesuffix("\n</data>"))
    return {
        "judgements": [
            {
                "segment": one["id"],
                "literals": [
                    {"literal": literal["id"], "met": "yes" if "museum" in one["text"] else "no"}
                    for literal in inputs["literals"]
                ],
            }
            for one in inputs["segments"]
        ]
    }


def backing() -> tuple[Backing, ScriptedModel]:
    model = ScriptedModel({**SILENT, "entailment": judging})
    return Backing(Models.of(model), load_programs()), model


def test_every_part_can_be_left_out_by_name() -> None:
    assert set(llm_names()) <= set(system_names())
    assert all(asks_model(name) for name in llm_names())
    own, _ = backing()
    for part in PARTS:
        made = build_llm("x", f"abstrag-llm-no-{part}", own, SharedIndexer())
        assert made.parts == frozenset(PARTS) - {part}
    cheap = build_llm("x", "abstrag-llm-cheap", own, SharedIndexer())
    assert cheap.parts == {"query", "expand", "judge"}  # the document is indexed locally
    with pytest.raises(InputError, match="no system is called"):
        build_llm("x", "abstrag-llm-no-such", own, SharedIndexer())


def test_without_a_model_it_says_what_is_missing() -> None:
    with pytest.raises(NeedsModel, match="asks a language model"):
        Builder()(SystemSpec.of("abstrag-llm"))


def test_the_judge_reads_the_first_hits_in_one_call_and_its_word_counts() -> None:
    own, model = backing()
    system = AbstragLlmSystem("x", own, frozenset({"judge"}))
    system.index(make_pool())
    ranked, told = system.search_explained(QUERY, 10)
    local = system.searcher.search(QUERY, k=10, fill=True).hits
    plain = {hit.text: hit.relevance for hit in local}
    museum = next(score for text, score in plain.items() if "museum" in text)
    shark = next(score for text, score in plain.items() if "shark" in text)
    scores = dict(ranked)
    assert scores["2"] == pytest.approx(museum)  # the model is all for it
    assert scores["1"] == pytest.approx(0.02 * shark)  # and says no to this, which is no veto
    assert [one.stage for one in model.requests] == ["entailment"]
    assert told["llm_calls"] == 1
    assert told["details"]["stages"]["entailment"]["calls"] == 1
    assert told["details"]["stages"]["entailment"]["tokens_in"] > 0


def test_cheaply_nobody_is_asked_where_the_local_ranking_is_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, model = backing()
    system = build_llm("x", "abstrag-llm-cheap", own, SharedIndexer())
    system.index(make_pool())
    queries = (QUERY, "Which fish swim to Antarctica?", "When do lions sleep?")
    for close, reasons in ((0.25, [False, False, False]), (0.0, [False, True, False])):
        monkeypatch.setattr("abstrag_bench.abstrag_llm.CLOSE", close)
        for query, expected in zip(queries, reasons, strict=True):
            model.requests.clear()
            _, told = system.search_explained(query, 10)
            why = unsure(system.local_searcher.search(query, k=10, fill=True))
            assert bool(why) == expected  # the judge is sure of the other two
            assert told["details"]["asked_because"] == why
            asked = [one.stage for one in model.requests]
            assert asked == (["read_query", "entailment"] if why else [])


def test_reading_a_query_and_proposing_alternatives_is_one_call() -> None:
    own, model = backing()
    system = AbstragLlmSystem("x", own, frozenset({"query", "expand"}))
    system.index(make_pool())
    _, told = system.search_explained(QUERY, 10)
    assert [one.stage for one in model.requests] == ["read_query"]
    assert told["llm_calls"] == 1


def test_a_judge_whose_word_was_found_to_say_nothing_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path))
    own, model = backing()
    prompt = Prompt(own.programs["entailment"], own.models[CallRole.JUDGE], CallRole.JUDGE)
    shares = [0.1, 0.9, 0.2, 0.8] * 20
    name, wording = prompt.model.fingerprint, program_hash(prompt)
    blind = fitted(name, wording, shares, [True, False, False, True] * 20)
    seeing = fitted(name, wording, shares, [False, True, False, True] * 20)
    assert (blind.tells, seeing.tells) == (False, True)
    for made in (blind, seeing):
        save_calibration(made)
        model.requests.clear()
        system = AbstragLlmSystem("x", own, frozenset({"judge"}))
        system.index(make_pool())
        _, told = system.search_explained(QUERY, 10)
        assert told["details"]["judged"] == made.tells
        assert [one.stage for one in model.requests] == ["entailment"] * made.tells


def test_a_calibration_is_kept_under_the_model_and_the_wording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path))
    shares = [0.9, 0.8, 0.95, 0.1, 0.2, 0.85, 0.05, 0.3]
    evidence = [True, False, True, False, False, False, False, True]
    made = fitted("a/model", "abc", shares, evidence)
    assert made.slope > 0
    assert made(0.9) > made(0.1)
    assert made.loss_after <= made.loss_before
    save_calibration(made)
    assert read_calibration("a/model", "abc") == made
    assert read_calibration("a/model", "another wording") is None
    assert read_calibration("b/model", "abc") is None
    with pytest.raises(InputError, match="some that are not"):
        fitted("a/model", "abc", [0.5], [True])


def test_a_run_counts_calls_by_stage_and_goes_on_where_it_ended(tmp_path: Path) -> None:
    own, model = backing()
    specs = [SystemSpec.of("abstrag-llm-no-index"), SystemSpec.of("abstrag-llm-cheap")]
    first = run(make_dataset(2), specs, tmp_path / "run", backing=own)
    assert first.added == 12
    asked = model.calls
    records = RunFolder(tmp_path / "run").records()
    answerable = [one for one in records if one.gold]  # the third asks for nothing
    assert [one.error for one in answerable] == [None] * 8
    assert all("stages" in one.details for one in answerable)
    again = run(make_dataset(2), specs, tmp_path / "run", backing=own)
    assert (again.added, model.calls) == (0, asked)


def test_a_curve_is_fitted_to_what_people_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path))
    own, _ = backing()
    made = calibrated(make_dataset(2).cases, own)
    assert calibrated(make_dataset(2).cases, own, at_once=4) == made
    assert made.pairs == 12  # three segments of each of four cases with gold
    save_calibration(made)
    system = AbstragLlmSystem("x", own, frozenset({"judge"}))
    assert system.calibration == made
    assert system.state != AbstragLlmSystem("x", own, frozenset({"judge", "query"})).state


def test_refinement_is_a_switch_whose_calls_are_counted_by_stage_and_bounded() -> None:
    model = ScriptedModel(
        {
            **SILENT,
            "entailment": judging,
            "critic": {"sufficient": False, "failure": None},
            "explain": {
                "unmet": [],
                "dominant": "none",
                "ambiguities": [],
                "over_expansion": [],
                "reading": "",
            },
            "localize": {"stage": "query", "reason": "none is unmet"},
            "refine": {"patches": []},
        }
    )
    own = Backing(Models.of(model), load_programs())
    system = build_llm("x", "abstrag-llm-refine", own, SharedIndexer())
    assert system.parts == frozenset({*PARTS, "refine"})
    system.parts = frozenset({"refine"})
    pool = make_pool()
    system.index(pool)
    ranked, told = system.search_explained(QUERY, 10)
    assert ranked
    assert {"critic", "explain", "localize", "refine"} <= told["details"]["stages"].keys()
    assert told["llm_calls"] <= len(system.worst(QUERY, pool))
    assert "end" in told["details"]["refined"]


def test_a_word_that_repeats_the_local_ranking_adds_nothing_to_it() -> None:
    local = [1.0, 0.5, 0.2, 0.1] * 30
    marked = [True, False, False, False] * 28 + [False, True, False, False] * 2
    echo = fitted("m", "p", local, marked, local)
    assert (echo.tells, echo.adds) == (True, False)
    flat = [1.0, 0.95, 0.9, 0.85] * 30
    sees = [0.9 if one else 0.3 if n % 7 else 0.8 for n, one in enumerate(marked)]
    own = fitted("m", "p", sees, marked, flat)
    assert (own.tells, own.adds) == (True, True)
    assert own.odds(0.9, 0.85) > own.odds(0.3, 1.0)
    assert own.odds(0.9, 1.0) > own.odds(0.9, 0.85)
    wrong = fitted("m", "p", [1 - one for one in sees], marked, flat)
    assert (wrong.tells, wrong.adds) == (False, False)


def test_hits_are_ordered_by_what_the_word_is_worth_beside_their_relevance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path))
    own, _ = backing()
    prompt = Prompt(own.programs["entailment"], own.models[CallRole.JUDGE], CallRole.JUDGE)
    name, wording = prompt.model.fingerprint, program_hash(prompt)

    def ranked(**worth: float) -> list[str]:
        known = ModelCalibration(name, wording, 1.0, 0.0, 99, loss_rank=0.5, loss_both=0.1, **worth)
        save_calibration(known)
        system = AbstragLlmSystem("x", own, frozenset({"judge"}))
        system.index(make_pool())
        assert system.judge_tells
        return [element for element, _ in system.search(QUERY, 10)]

    local = AbstragLlmSystem("x", own, frozenset())
    local.index(make_pool())
    alone = [element for element, _ in local.search(QUERY, 10)]
    assert ranked(of_rank=1.0, of_word=1e-9)[0] == alone[0]
    assert ranked(of_rank=-1.0, of_word=1e-9)[-1] == alone[0]
    assert ranked(of_rank=0.0, of_word=1.0)[0] == "2"  # the model is all for it


def test_a_case_whose_reply_cannot_be_used_is_left_out_of_a_calibration() -> None:
    whole, _ = backing()
    first = make_dataset(2).cases[0].query

    def failing(request: ModelRequest) -> dict[str, Any]:
        if first in request.user:
            raise BadReply("cut off")
        return judging(request)

    model = ScriptedModel({**SILENT, "entailment": failing})
    some = calibrated(make_dataset(2).cases, Backing(Models.of(model), load_programs()))
    assert 0 < some.pairs < calibrated(make_dataset(2).cases, whole).pairs
