"""AbsConcept and AbsEvent with a model: everything it adds is an edge that pays."""

from math import log
from typing import Any

import pytest

from abstrag.config import DELTA_INTENT_CAP, MERGE_CONFIRM, OMEGA
from abstrag.indexing.concepts import AbstractConcepts
from abstrag.indexing.events import AbstractEvents
from abstrag.indexing.operator import IndexDraft, ReplyFault
from abstrag.indexing.prompted.concepts import PromptedConcepts
from abstrag.indexing.prompted.events import PromptedEvents
from abstrag.llm.model import ModelRequest
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.distances import event_distance
from abstrag.model.term import Edge, Family, LicenceKind
from tests.unit.indexing.prompted.models import given, prompts, silent
from tests.unit.indexing.readied import readied

TEXT = "The fab shipped wafers to Acme. Acme inked a pact with the union."
WAFERS: dict[str, Any] = {
    "segment": "doc#0",
    "quote": "wafers",
    "kind": "concept",
    "broader": "semiconductor product",
}
INKED: dict[str, Any] = {
    "segment": "doc#1",
    "trigger": "inked a pact",
    "type": "contract signing",
    "participants": [{"role": "who", "quote": "Acme"}, {"role": "whom", "quote": "the union"}],
    "negated": False,
    "artifact": False,
    "confidence": 90,
}


def aligning(relation: str, confidence: float) -> Any:
    def reply(request: ModelRequest) -> Any:
        said = {"relation": relation, "confidence": round(100 * confidence)}
        return {"alignments": [{"pair": p["id"], **said} for p in given(request)["pairs"]]}

    return reply


def concepts(model: ScriptedModel, text: str = TEXT) -> IndexDraft:
    bound = prompts(model)
    operator = PromptedConcepts(
        bound["extract_concepts"],
        bound["align_concepts"],
        bound["role_probability"],
        bound.encoder,
    )
    return operator(readied(text, names=["Acme"]))


def events(model: ScriptedModel, text: str = TEXT) -> IndexDraft:
    bound = prompts(model)
    draft = AbstractConcepts()(readied(text, names=["Acme"]))
    return PromptedEvents(bound["extract_events"], bound["align_events"])(draft)


def bought(layer: Any) -> list[Edge]:
    return [e for e in layer.edges if e.licence.kind is LicenceKind.MODEL]


def test_a_broader_class_is_an_edge_that_pays_by_our_distances() -> None:
    model = silent(extract_concepts={"concepts": [WAFERS]}, align_concepts=aligning("implies", 0.9))
    (edge,) = [e for e in bought(concepts(model).concepts) if "semiconductor" in e.target]
    assert (edge.source, edge.target) == ("concept:wafer", "concept:semiconductor product")
    assert (edge.family, edge.truth_preserving) == (Family.CONCEPT, False)
    assert edge.weight == OMEGA[Family.CONCEPT]
    assert edge.distance >= 0.15  # it holds in one direction only


def test_the_confidence_of_the_model_is_no_part_of_the_price() -> None:
    prices = set()
    for sure in (0.6, 0.99):
        model = silent(
            extract_concepts={"concepts": [WAFERS]}, align_concepts=aligning("implies", sure)
        )
        prices |= {e.units for e in bought(concepts(model).concepts) if "semicond" in e.target}
    assert len(prices) == 1


@pytest.mark.parametrize(
    ("relation", "confidence", "edges"),
    [
        ("equivalent", MERGE_CONFIRM, 2),
        ("equivalent", MERGE_CONFIRM - 0.01, 0),
        ("implies", 0.5, 1),
        ("implies", 0.4, 0),
        ("none", 1.0, 0),
    ],
)
def test_synonyms_are_believed_from_0_85_on(relation: str, confidence: float, edges: int) -> None:
    model = silent(
        extract_concepts={"concepts": [WAFERS]}, align_concepts=aligning(relation, confidence)
    )
    found = bought(concepts(model).concepts)
    assert len([e for e in found if "semiconductor" in e.source + e.target]) == edges


def test_words_that_look_alike_are_put_to_the_model_as_synonyms() -> None:
    model = silent(align_concepts=aligning("equivalent", 0.9))
    draft = concepts(model, "The data base is old. Each database takes days. A dog barks.")
    (request,) = [r for r in model.requests if r.stage == "align_concepts"]
    pairs = {frozenset((p["left"], p["right"])) for p in given(request)["pairs"]}
    assert frozenset(("data base", "database")) in pairs
    assert bought(draft.concepts)


def test_what_the_rules_found_stays_as_it_is() -> None:
    model = silent(
        extract_concepts={"concepts": [WAFERS]}, align_concepts=aligning("equivalent", 0.95)
    )
    local, helped = AbstractConcepts()(readied(TEXT, names=["Acme"])), concepts(model)
    assert local.concepts is not None
    assert helped.concepts is not None
    assert set(local.concepts.edges) <= set(helped.concepts.edges)
    assert set(local.concepts.mentions) <= set(helped.concepts.mentions)


def test_concepts_that_are_not_in_the_text_are_dropped_and_counted() -> None:
    wrong = [WAFERS | {"quote": "chips"}, WAFERS | {"segment": "s9"}, WAFERS | {"broader": "42"}]
    model = silent(extract_concepts={"concepts": wrong}, align_concepts=aligning("implies", 1.0))
    draft = concepts(model)
    assert not [e for e in bought(draft.concepts) if e.source == "concept:wafer"]
    counted = {s.fault: s.count for s in draft.shortfalls}
    assert counted == {
        ReplyFault.NOT_QUOTED: 1,
        ReplyFault.UNKNOWN_ID: 1,
        ReplyFault.NOT_ALLOWED: 1,
    }


@pytest.mark.parametrize(("p", "context"), [(0.5, False), (0.5, True), (0.0, False), (1.0, True)])
def test_an_office_costs_the_surprisal_of_its_type(p: float, context: bool) -> None:
    text = "The CTO of Acme spoke. Acme is a startup."

    def reply(request: ModelRequest) -> Any:
        said = {"probability": round(100 * p), "context_sensitive": context}
        return {"probabilities": [{"pair": x["id"], **said} for x in given(request)["pairs"]]}

    draft = concepts(silent(role_probability=reply), text)
    assert draft.concepts is not None
    edges = [e for e in draft.concepts.edges if e.family is Family.INTENT]
    assert edges
    surprisal = min(DELTA_INTENT_CAP, -log(p)) if p else DELTA_INTENT_CAP
    for edge in edges:
        assert edge.distance == pytest.approx(surprisal + 0.2 * context, abs=1e-4)
        assert edge.licence.kind is LicenceKind.MODEL


def test_an_office_the_model_says_nothing_about_keeps_the_offline_distance() -> None:
    text = "The CTO of Acme spoke. Acme is a startup."
    local = AbstractConcepts()(readied(text, names=["Acme"]))
    assert local.concepts is not None
    helped = concepts(silent(), text).concepts
    assert helped is not None
    assert [e for e in helped.edges if e.family is Family.INTENT] == [
        e for e in local.concepts.edges if e.family is Family.INTENT
    ]


def test_an_event_only_the_model_sees_is_a_term_of_its_own_with_an_edge_that_pays() -> None:
    said = INKED | {"trigger": "union", "type": "alliance"}
    model = silent(extract_events={"events": [said]}, align_events=aligning("implies", 0.9))
    layer = events(model).events
    local = AbstractEvents()(AbstractConcepts()(readied(TEXT, names=["Acme"]))).events
    assert layer is not None
    assert local is not None
    (edge,) = bought(layer)
    assert edge.family is Family.EVENT
    assert edge.cost == OMEGA[Family.EVENT]
    assert edge.source not in {f.event for f in local.frames}
    (frame,) = [f for f in layer.frames if f.event == edge.source]
    assert [s.name for s in frame.slots] == ["who", "whom"]
    assert frame.slots[0].term == "entity:acme"
    assert [f for f in layer.frames if f != frame] == list(local.frames)


def test_frames_of_the_rules_get_no_slots_from_a_model() -> None:
    model = silent(
        extract_events={"events": [INKED | {"trigger": "shipped", "segment": "doc#0"}]},
        align_events=aligning("implies", 0.9),
    )
    local = AbstractEvents()(AbstractConcepts()(readied(TEXT, names=["Acme"]))).events
    layer = events(model).events
    assert layer is not None
    assert local is not None
    assert set(local.frames) <= set(layer.frames)


def test_an_artifact_pays_more() -> None:
    told = INKED | {"trigger": "shipped", "segment": "doc#0", "type": "delivery contract"}
    prices = []
    for artifact in (False, True):
        model = silent(
            extract_events={"events": [told | {"artifact": artifact}]},
            align_events=aligning("implies", 0.9),
        )
        (edge,) = bought(events(model).events)
        prices.append(edge.distance)
    assert prices == [
        event_distance(unfilled=0, coerced=0, artifact=artifact) for artifact in (False, True)
    ]
