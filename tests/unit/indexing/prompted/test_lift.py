"""LiftCtx with a model: statements, proposed values, and pruning by a vote."""

from collections.abc import Callable
from typing import Any

import pytest

from abstrag.config import JUDGE_CALL_BUDGET, JUDGE_SAMPLES, JUDGE_TEMPERATURE
from abstrag.errors import BadReply, ModelUnreachable
from abstrag.indexing.layers import Contexts
from abstrag.indexing.lift import LiftContext
from abstrag.indexing.operator import IndexDraft, ReplyFault
from abstrag.indexing.pipeline import standard_chain
from abstrag.indexing.prompted.context_values import call_of
from abstrag.indexing.prompted.lift import PromptedLift
from abstrag.indexing.prompted.truth import SegmentVote, world_model
from abstrag.llm.model import ModelRequest
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.background import Background
from abstrag.model.index import Profile, StatementKind
from tests.unit.indexing.drafts import draft_of
from tests.unit.indexing.prompted.models import given, prompts, silent

TEXT = "Acme sued Initech in London. It won the case."
IT: dict[str, Any] = {
    "segment": "doc#1",
    "field": "entities",
    "name": "It",
    "value": "the company Acme",
    "source": "doc#0",
    "quote": "Acme",
    "confidence": 80,
}


def before(text: str = TEXT, title: str = "", date: str | None = None) -> IndexDraft:
    """Return a draft that is ready for LiftCtx."""
    draft = draft_of(text, title=title, date=date)
    for op in standard_chain().operators[1:4]:
        draft = op(draft)
    return draft


def lifted(model: ScriptedModel, draft: IndexDraft | None = None, **settings: Any) -> IndexDraft:
    bound = prompts(model)
    operator = PromptedLift(
        bound["extract_statements"], bound["lift_context"], bound["truth_eval"], **settings
    )
    return operator(draft or before())


def contexts(draft: IndexDraft) -> Contexts:
    assert draft.contexts is not None
    return draft.contexts


def judging(sufficient: Callable[[dict[str, Any]], bool]) -> Any:
    def reply(request: ModelRequest) -> Any:
        verdicts = [
            {
                "segment": s["id"],
                "label": "sufficient" if sufficient(s) else "insufficient",
                "missing": [] if sufficient(s) else ["It"],
            }
            for s in given(request)["segments"]
        ]
        return {"verdicts": verdicts}

    return reply


def names(segment: dict[str, Any]) -> list[str]:
    return [value["name"].split(" (")[0] for value in segment["context"]]


def test_a_value_the_model_proposes_is_kept_in_the_words_of_the_document() -> None:
    model = silent(lift_context={"values": [IT]}, truth_eval=judging(lambda s: "It" in names(s)))
    layer = contexts(lifted(model))
    (value,) = layer.contexts[1].entities
    assert (value.value, value.term) == ("Acme", "entity:acme")
    assert value.span is not None
    assert call_of(value) is not None


def test_the_model_is_told_which_words_are_open_and_only_where_they_are() -> None:
    model = silent()
    lifted(model)
    (request,) = [one for one in model.requests if one.stage == "lift_context"]
    assert [one.get("open") for one in given(request)["segments"]] == [None, ["It"]]


def test_the_judge_sees_what_a_word_stands_for_and_nothing_of_how_we_keep_it() -> None:
    model = silent(lift_context={"values": [IT]}, truth_eval=judging(lambda _: False))
    lifted(model)
    shown = [one for one in model.requests if one.stage == "truth_eval"]
    whole, bare = given(shown[0])["segments"]
    assert whole["context"] == [{"name": "It", "value": "Acme"}]
    assert bare["context"] == []


@pytest.mark.parametrize(("name", "kept"), [("it", 1), ("IT", 0)])
def test_the_case_of_a_first_letter_is_not_held_against_a_copied_word(name: str, kept: int) -> None:
    said = IT | {"name": name}
    model = silent(lift_context={"values": [said]}, truth_eval=judging(lambda s: bool(names(s))))
    assert len(contexts(lifted(model)).contexts[1].entities) == kept


def test_a_value_the_segment_can_do_without_is_pruned() -> None:
    model = silent(lift_context={"values": [IT]}, truth_eval=judging(lambda _: True))
    assert contexts(lifted(model)).contexts[1].entities == ()


def test_a_context_that_does_not_suffice_is_left_alone_and_says_what_it_lacks() -> None:
    model = silent(lift_context={"values": [IT]}, truth_eval=judging(lambda _: False))
    layer = contexts(lifted(model))
    assert len(layer.contexts[1].entities) == 1
    assert [(a.segment, a.start, a.end, a.reason) for a in layer.ambiguities] == [
        (1, 0, 2, "context lacks: It")
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"quote": "Acme Incorporated"},
        {"source": "doc#9"},
        {"segment": "doc#9"},
        {"name": "they"},
        {"source": "doc#1", "quote": "the case"},  # the segment says that itself
        {"confidence": 30},
    ],
)
def test_a_value_that_cannot_be_found_is_dropped_and_counted(changed: dict[str, Any]) -> None:
    model = silent(
        lift_context={"values": [IT | changed]}, truth_eval=judging(lambda s: "It" in names(s))
    )
    draft = lifted(model)
    assert contexts(draft).contexts[1].entities == ()
    assert sum(s.count for s in draft.shortfalls if s.what == "contexts") == 1


def test_the_judge_is_three_samples_at_temperature_0_3() -> None:
    model = silent(truth_eval=judging(lambda _: False))
    lifted(model)
    asked = [r for r in model.requests if r.stage == "truth_eval"]
    assert [r.sample for r in asked] == list(range(JUDGE_SAMPLES))
    assert {r.temperature for r in asked} == {JUDGE_TEMPERATURE}


def test_the_majority_decides_and_what_is_missing_is_the_union() -> None:
    def reply(request: ModelRequest) -> Any:
        label = "insufficient" if request.sample == 1 else "sufficient"
        missing = {0: [], 1: ["when"], 2: ["where"]}[request.sample]
        shown = given(request)["segments"]
        return {
            "verdicts": [{"segment": s["id"], "label": label, "missing": missing} for s in shown]
        }

    model = silent(lift_context={"values": [IT]}, truth_eval=reply)
    assert contexts(lifted(model)).contexts[1].entities == ()  # two of three say it suffices
    assert SegmentVote(("sufficient", "insufficient", "sufficient")).sufficient
    assert not SegmentVote(("sufficient", "insufficient", "insufficient")).sufficient


def test_a_reply_that_cannot_be_read_is_a_vote_against() -> None:
    def reply(request: ModelRequest) -> Any:
        if request.sample < 2:
            return BadReply("not JSON at all")
        return judging(lambda _: True)(request)

    draft = lifted(silent(lift_context={"values": [IT]}, truth_eval=reply))
    assert len(contexts(draft).contexts[1].entities) == 1
    assert not any(s.missed for s in draft.shortfalls)


def test_a_segment_the_judge_passes_over_is_not_evaluable() -> None:
    model = silent(lift_context={"values": [IT]}, truth_eval={"verdicts": []})
    assert len(contexts(lifted(model)).contexts[1].entities) == 1


def test_a_segment_costs_at_most_the_budget_of_judge_calls() -> None:
    values = [IT | {"quote": q} for q in ("Acme", "Initech", "London", "sued")]
    needs_one = judging(lambda s: len(s["context"]) > 0 or "doc#1" not in s["id"])
    model = silent(lift_context={"values": values}, truth_eval=needs_one)
    layer = contexts(lifted(model))
    judged = [given(r)["segments"] for r in model.requests if r.stage == "truth_eval"]
    asked = [s["id"] for segments in judged for s in segments if s["id"].startswith("doc#1")]
    assert 2 * JUDGE_SAMPLES < len(asked) <= JUDGE_CALL_BUDGET
    assert len(layer.contexts[1].entities) == 1  # the surest of those that will do


def test_what_the_rules_bound_is_not_up_for_pruning() -> None:
    draft = before("Ada Byron wrote notes. She published them in 1843.", date="1850-01-01")
    plain = contexts(LiftContext()(draft))
    helped = contexts(lifted(silent(truth_eval=judging(lambda _: True)), draft))
    assert plain.contexts == helped.contexts


def test_facts_are_the_header_and_the_background() -> None:
    background = Background(aliases={"Acme": ("ACM",)}, classes={"Acme": ("robot maker",)})
    facts = world_model(background)
    model = silent()
    lifted(model, before(title="Report", date="2024-05-15"), facts=facts)
    (first, *_) = [r for r in model.requests if r.stage == "truth_eval"]
    assert given(first)["facts"] == [
        "the document's title is Report",
        "the document's date is 2024-05-15",
        "Acme is a robot maker",
        "Acme is also called ACM",
    ]


def test_a_judge_that_breaks_down_leaves_the_segments_without() -> None:
    def reply(request: ModelRequest) -> Any:
        return BadReply("no") if request.stage == "lift_context" else {"statements": []}

    model = silent(lift_context=reply, truth_eval=judging(lambda _: True))
    draft = lifted(model)
    assert {s.segment for s in draft.shortfalls if s.missed} == {0, 1}
    assert {s.what for s in draft.shortfalls} == {"contexts"}


def test_nobody_to_be_reached_is_an_error_at_once() -> None:
    model = silent(extract_statements=ModelUnreachable("no answer from http://localhost"))
    with pytest.raises(ModelUnreachable):
        lifted(model)
    assert model.calls == 1


def test_a_statement_of_the_model_takes_the_place_of_the_same_one_by_rule() -> None:
    said = {
        "segment": "doc#1",
        "quote": "It won the case",
        "kind": "claim",
        "profile": "disputed",
        "cue": "",
        "confidence": 80,
    }
    draft = lifted(silent(extract_statements={"statements": [said, said | {"quote": "never"}]}))
    (statement,) = contexts(draft).statements[1]
    assert (statement.kind, statement.profile) == (StatementKind.CLAIM, Profile.DISPUTED)
    assert statement.cue.startswith("model call ")
    assert contexts(draft).statements[0] == contexts(LiftContext()(before())).statements[0]
    assert [(s.what, s.fault, s.count) for s in draft.shortfalls] == [
        ("statements", ReplyFault.NOT_QUOTED, 1)
    ]
