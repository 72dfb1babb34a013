"""A wording of a prompt gets a number from a small labelled set."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from abstrag.llm.model import ModelRequest
from abstrag.llm.prompt import fenced
from abstrag.llm.scripted import ScriptedModel
from abstrag.policy.load import load_program
from abstrag.policy.location import PROGRAMS
from abstrag_bench.prompt_scores import SCORED, items_of, score_prompt


def test_every_program_has_a_labelled_set_but_the_one_that_invents() -> None:
    assert set(PROGRAMS) - set(SCORED) == {"hyde"}
    for name in SCORED:
        items = items_of(name)
        assert 5 <= len(items) <= 10
        assert all(inputs and expected for inputs, expected in items)


@pytest.mark.parametrize("name", SCORED)
def test_no_item_is_an_example_of_its_own_prompt(name: str) -> None:
    """What the prompt shows the answer of measures nothing."""
    shown = {text for one in load_program(name).few_shot for text in _sentences(one.inputs)}
    items = [text for inputs, _ in items_of(name) for text in _sentences(inputs)]
    assert shown.isdisjoint(items)


@pytest.mark.parametrize("name", SCORED)
def test_what_is_to_be_found_stands_in_the_item(name: str) -> None:
    for inputs, expected in items_of(name):
        given = json.dumps(inputs, ensure_ascii=False)
        for row in expected.get("found", ()):
            where = {one.get("id"): one["text"] for one in inputs.get("segments", ())}
            words = [one for one in row if isinstance(one, str) and one not in where]
            kinds = _choices(load_program(name).output_schema)
            assert all(one in given for one in words if one not in kinds), row


def _sentences(data: Any) -> list[str]:
    """Return the texts of some words in an input."""
    if isinstance(data, str):
        return [data] if data.count(" ") >= 2 else []
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [text for one in inner for text in _sentences(one)]


def _choices(schema: Any) -> set[str]:
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += filter(None, [schema.get("items")])
    return set(schema.get("enum", ())).union(*(_choices(one) for one in inner))


def _listed(listed: str, *fields: str, **rest: object) -> Callable[[Any], Any]:
    return lambda wanted: {
        listed: [{**rest, **dict(zip(fields, row, strict=True))} for row in wanted["found"]]
    }


def _each(listed: str, name: str, field: str, **rest: object) -> Callable[[Any], Any]:
    return lambda wanted: {
        listed: [{name: one, field: value, **rest} for one, value in wanted.items()]
    }


_PATCH = {"stage": "map", "start": "", "end": "", "amount": 0, "reason": "", "edit": None}
_LINK = {"antecedent_segment": "s1", "kind": "pronoun", "confidence": 90}
_EVENT: dict[str, Any] = {"type": "", "participants": [], "artifact": False, "confidence": 90}
_STATEMENT = {"quote": "", "kind": "claim", "cue": "", "confidence": 90}
_VALUE = {"field": "time", "value": "", "quote": "", "confidence": 90}
_ALIAS = {"segment": "s1", "quote": "", "verdict": "same", "confidence": 90}
_FAILED: dict[str, Any] = {"dominant": "none", "ambiguities": [], "reading": ""}

# program → what a model that knows the labels would reply
KNOWING: dict[str, Callable[[Any], Any]] = {
    "extract_concepts": _listed("concepts", "segment", "quote", "kind", broader=""),
    "extract_events": _listed("events", "segment", "trigger", "negated", **_EVENT),
    "extract_statements": _listed("statements", "segment", "profile", **_STATEMENT),
    "lift_context": _listed("values", "segment", "name", "source", **_VALUE),
    "normalize_entities": lambda wanted: {
        **_listed("aliases", "form", "name", **_ALIAS)(wanted),
        "ambiguous": [],
    },
    "coreference": lambda wanted: {
        **_listed("links", "segment", "mention", "antecedent", **_LINK)(wanted),
        "unresolved": [],
    },
    "align_concepts": _each("alignments", "pair", "relation", confidence=90),
    "align_events": _each("alignments", "pair", "relation", confidence=90),
    "confirm_merge": _each("verdicts", "pair", "verdict", confidence=90),
    "truth_eval": _each("verdicts", "segment", "label", missing=[]),
    "role_probability": lambda wanted: {
        "probabilities": [
            {"pair": one, "probability": 100 * value, "context_sensitive": False}
            for one, value in wanted.items()
        ]
    },
    "explain": lambda wanted: {
        **_FAILED,
        "unmet": wanted["unmet"],
        "over_expansion": [{"source": a, "target": b} for a, b in wanted["over_expansion"]],
    },
    "localize": lambda wanted: {**wanted, "reason": ""},
    "refine": _listed("patches", "kind", "source", "target", **_PATCH),
    "ircot": lambda wanted: {**wanted, "thought": "", "query": ""},
    "self_rag": lambda wanted: {
        "passages": [
            {"passage": one, "is_relevant": value, "is_supported": "fully" if value else "no"}
            for one, value in wanted["supported"].items()
        ],
        "should_retrieve": not wanted["enough"],
        "follow_up": "",
    },
    "crag": lambda wanted: {
        **_each("grades", "passage", "grade", confidence=90)(wanted),
        "rewritten_query": "",
    },
}


@pytest.mark.parametrize("name", KNOWING)
def test_who_knows_the_labels_has_every_point_and_who_swaps_them_has_not(name: str) -> None:
    replies = [(fenced(inputs), KNOWING[name](expected)) for inputs, expected in items_of(name)]
    right = dict(replies)
    swapped = {
        asked: reply
        for (asked, _), (_, reply) in zip(replies, replies[1:] + replies[:1], strict=True)
    }

    def score(said: dict[str, Any]) -> tuple[int, float]:
        def reply(request: ModelRequest) -> Any:
            return said[request.user]

        made = score_prompt(load_program(name), ScriptedModel({name: reply}))
        return made.items - made.obeyed, made.score

    assert score(right) == (0, 1.0)
    assert score(swapped)[1] < 1.0


def test_a_model_that_finds_nothing_is_right_where_nothing_is_to_be_found() -> None:
    score = score_prompt(load_program("refine"), ScriptedModel({"refine": {"patches": []}}))
    empty = [expected["found"] == [] for _, expected in items_of("refine")]
    assert 0 < sum(empty) < len(empty)
    assert score.score == round(sum(empty) / len(empty), 6)


def test_case_and_articles_make_no_difference_but_other_words_do() -> None:
    def reply(request: ModelRequest) -> Any:
        said = [{"segment": "s2", "mention": "it", "antecedent": "tower", **_LINK}]
        return {"links": said if "tower" in request.user else [], "unresolved": []}

    score = score_prompt(load_program("coreference"), ScriptedModel({"coreference": reply}))
    right = [e["found"] == [] or "The tower" in e["found"][0] for _, e in items_of("coreference")]
    assert score.score == round(sum(right) / len(right), 6)


def test_a_model_that_says_one_label_is_right_as_often_as_that_label_is() -> None:
    said = {"label": "REFUTES", "citations": [], "reason": "", "missing": []}
    score = score_prompt(load_program("verdict"), ScriptedModel({"verdict": said}))
    labels = [expected["label"] for _, expected in items_of("verdict")]
    assert score.score == labels.count("REFUTES") / len(labels)
    assert score.obeyed == score.items == len(labels)


def test_a_reply_that_does_not_obey_is_worth_nothing() -> None:
    score = score_prompt(load_program("critic"), ScriptedModel({"critic": {"sufficient": "yes"}}))
    assert (score.obeyed, score.score) == (0, 0.0)
