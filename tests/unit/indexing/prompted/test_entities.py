"""NormNE with a model: aliases that pay, confirmed where they are risky."""

from typing import Any

import pytest

from abstrag.config import MERGE_CONFIRM
from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.entities import NormalizeEntities
from abstrag.indexing.layers import Entities
from abstrag.indexing.operator import IndexDraft, ReplyFault
from abstrag.indexing.pipeline import canonical_texts
from abstrag.indexing.prompted.entities import PromptedEntities, Risk
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.term import Edge, Family, LicenceKind, Relation
from tests.unit.indexing.drafts import draft_of
from tests.unit.indexing.prompted.models import given, prompts, silent

BRIDGE = "The Golden Gate Bridge opened in 1937. Tourists love the Big Red Bridge of California."


def layered(model: ScriptedModel, text: str) -> IndexDraft:
    bound = prompts(model)
    operator = PromptedEntities(bound["normalize_entities"], bound["confirm_merge"], bound.encoder)
    return operator(ResolveCoreference()(draft_of(text)))


def entities(draft: IndexDraft) -> Entities:
    assert draft.entities is not None
    return draft.entities


def alias(**changed: Any) -> dict[str, Any]:
    said = {
        "segment": "doc#1",
        "form": "Big Red Bridge of California",
        "name": "Golden Gate Bridge",
        "quote": "the Big Red Bridge of California",
        "verdict": "same",
        "confidence": 95,
    }
    return {"aliases": [said | changed], "ambiguous": []}


def bought(draft: IndexDraft) -> list[Edge]:
    return [e for e in entities(draft).edges if e.licence.kind is LicenceKind.MODEL]


def confirming(verdict: str, confidence: float) -> Any:
    def reply(request: Any) -> Any:
        said = {"verdict": verdict, "confidence": round(100 * confidence)}
        return {"verdicts": [{"pair": p["id"], **said} for p in given(request)["pairs"]]}

    return reply


def test_an_alias_the_model_is_sure_of_becomes_two_directed_edges_that_pay() -> None:
    edges = bought(layered(silent(normalize_entities=alias()), BRIDGE))
    assert len(edges) == 2
    for edge in edges:
        assert (edge.relation, edge.family) == (Relation.IMPLIES, Family.EXPRESSION)
        assert not edge.truth_preserving
        assert edge.cost > 0.35


def test_a_model_changes_no_canonical_text() -> None:
    plain = NormalizeEntities()(ResolveCoreference()(draft_of(BRIDGE)))
    helped = layered(silent(normalize_entities=alias()), BRIDGE)
    assert canonical_texts(helped) == canonical_texts(plain)
    assert entities(helped).rewrites == entities(plain).rewrites


@pytest.mark.parametrize(
    "changed",
    [
        {"quote": "both are one bridge"},  # not in the text
        {"segment": "doc#7"},
        {"form": "Oakland Bay Bridge"},  # nowhere in the document
        {"verdict": "different"},
    ],
)
def test_an_alias_that_the_text_does_not_bear_out_is_dropped(changed: dict[str, Any]) -> None:
    model = silent(normalize_entities=alias(**changed), confirm_merge=confirming("same", 0.99))
    assert bought(layered(model, BRIDGE)) == []


def test_an_unsure_alias_goes_to_the_judge_who_must_be_sure() -> None:
    doubt = alias(verdict="unsure", confidence=60)
    yes = silent(normalize_entities=doubt, confirm_merge=confirming("same", MERGE_CONFIRM))
    no = silent(normalize_entities=doubt, confirm_merge=confirming("same", MERGE_CONFIRM - 0.01))
    assert len(bought(layered(yes, BRIDGE))) == 2
    assert bought(layered(no, BRIDGE)) == []


def test_a_risky_form_is_confirmed_however_sure_the_model_is() -> None:
    text = "John Smith founded Acme. Later Smithy sold the firm to Beta Systems."
    said = alias(
        form="Smithy", name="John Smith", quote="Later Smithy sold the firm", confidence=99
    )
    model = silent(normalize_entities=said, confirm_merge=confirming("different", 0.9))
    draft = layered(model, text)
    assert any(r.stage == "confirm_merge" for r in model.requests)
    assert bought(draft) == []


def test_names_that_look_alike_are_put_to_the_judge() -> None:
    text = "Acme Robotics Systems grew. The Acme Robotic Systems board met in May."
    model = silent(confirm_merge=confirming("same", 0.9))
    draft = layered(model, text)
    (request,) = [r for r in model.requests if r.stage == "confirm_merge"]
    (pair,) = given(request)["pairs"]
    assert {pair["left"], pair["right"]} == {"Acme Robotics Systems", "Acme Robotic Systems"}
    assert "board met" in pair["left_context"] + pair["right_context"]
    assert bought(draft)


def test_a_guess_of_the_rules_is_withdrawn_when_the_judge_refuses_it() -> None:
    text = "Microsoft Research Labs hired Ann Lee. Micrsoft Research Labs grew."
    plain = entities(NormalizeEntities()(ResolveCoreference()(draft_of(text))))
    guesses = [e for e in plain.edges if not e.truth_preserving]
    assert guesses
    refused = layered(silent(confirm_merge=confirming("different", 0.9)), text)
    assert not [e for e in entities(refused).edges if not e.truth_preserving]
    unasked = layered(silent(), text)  # the reply says nothing about the pair
    assert [e for e in entities(unasked).edges if not e.truth_preserving] == guesses


def test_an_invented_pair_is_dropped_and_counted() -> None:
    text = "Acme Robotics Systems grew. The Acme Robotic Systems board met in May."
    reply = {"verdicts": [{"pair": "p99", "verdict": "same", "confidence": 100}]}
    draft = layered(silent(confirm_merge=reply), text)
    assert bought(draft) == []
    assert [(s.fault, s.count) for s in draft.shortfalls] == [(ReplyFault.UNKNOWN_ID, 1)]


@pytest.mark.parametrize(
    ("left", "right", "risky"),
    [
        ("Paris", "City of Paris", True),  # a lone word
        ("J. Smith", "John A. Smith", True),  # initials
        ("Ann Miller", "Anne Maria Miller", True),  # a surname two people share
        ("Golden Gate Bridge", "Big Red Bridge of California", False),
    ],
)
def test_risky_forms_are_told_from_safe_ones(left: str, right: str, risky: bool) -> None:
    assert Risk.among(["Ann Miller", "Anne Maria Miller", left, right])(left, right) is risky


def test_an_acronym_with_several_expansions_is_risky() -> None:
    names = ["American Medical Group", "Asian Metal Group", "AMG Holding Europe"]
    assert Risk.among(names)("AMG Holding Europe", "Some Other Company")
    assert not Risk.among(names[1:])("AMG Holding Europe", "Some Other Company")
