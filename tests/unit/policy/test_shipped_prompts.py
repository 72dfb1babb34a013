"""Every shipped program says whose work it is and what its terms mean, and shows how it is done."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Example, Program
from abstrag.llm.shape import misfit
from abstrag.policy.load import load_program
from abstrag.policy.location import PROGRAMS

INSTRUCTION = 450  # characters: small models read it too
SYSTEM = 3000  # about 750 tokens, examples and all
STEM = 6  # letters by which a choice is known again: SUPPORTS in "support"
IDS = ("segment", "pair", "passage", "antecedent_segment")
COPIED = ("quote", "trigger", "mention", "form")  # from the segment that the entry is about


def all_in(listed: str, field: str, *values: object) -> Callable[[Example], bool]:
    """Return whether every entry of a reply has one of some values."""
    return lambda example: all(one[field] in values for one in example.output[listed])


def nothing(*listed: str) -> Callable[[Example], bool]:
    return lambda example: all(example.output[one] == [] for one in listed)


def says(field: str, value: object) -> Callable[[Example], bool]:
    return lambda example: example.output[field] == value


def _a_segment_meets_nothing(example: Example) -> bool:
    judged = example.output["judgements"]
    return any(all(literal["met"] == "no" for literal in one["literals"]) for one in judged)


def _improbable(example: Example) -> bool:
    return all(one["probability"] <= 5 for one in example.output["probabilities"])


def _nothing_unmet(example: Example) -> bool:
    return not example.inputs["diagnosis"]["unmet"]


def _denies(example: Example) -> bool:
    return " not " in example.output["passage"]


# program → what a negative example of it is: nothing found, none, not enough, not met
NEGATIVE: dict[str, Callable[[Example], bool]] = {
    "lift_context": nothing("values"),
    "normalize_entities": nothing("aliases", "ambiguous"),
    "extract_concepts": nothing("concepts"),
    "align_concepts": all_in("alignments", "relation", "none"),
    "extract_events": nothing("events"),
    "align_events": all_in("alignments", "relation", "none"),
    "normalize_query": nothing("literals"),
    "coreference": nothing("links"),
    "extract_statements": nothing("statements"),
    "entailment": _a_segment_meets_nothing,
    "truth_eval": all_in("verdicts", "label", "insufficient"),
    "confirm_merge": all_in("verdicts", "verdict", "different", "unsure"),
    "role_probability": _improbable,
    "expand_query": nothing("clauses"),
    "read_query": nothing("clauses"),
    "critic": says("sufficient", False),
    "explain": says("dominant", "none"),
    "localize": _nothing_unmet,
    "refine": nothing("patches"),
    "answer": says("status", "not_in_document"),
    "verdict": says("label", "NOT_ENOUGH_INFO"),
    "hyde": _denies,  # a claim is refuted as well as supported
    "ircot": says("done", False),
    "self_rag": all_in("passages", "is_supported", "no"),
    "crag": all_in("grades", "grade", "incorrect"),
}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    """Return every program as it is shipped."""
    return load_program(request.param, root=tmp_path)


def test_it_begins_with_a_role_defines_its_terms_and_is_short(program: Program) -> None:
    role, *rest = program.instruction.split(". ")
    assert role.startswith("You ")
    assert len(rest) >= 2, "between the role and the task the terms are defined"
    assert len(program.instruction) <= INSTRUCTION
    assert len(program.request(CallRole.INDEX, {}).system) < SYSTEM


def test_every_choice_that_a_reply_has_is_explained(program: Program) -> None:
    told = " ".join((program.instruction, *program.rules)).casefold()
    choices = [choice for one in _schemas(program.output_schema) for choice in one.get("enum", ())]
    assert [one for one in choices if one.casefold()[:STEM] not in told] == []


def test_it_shows_a_few_different_examples_that_obey_the_schema(program: Program) -> None:
    assert 2 <= len(program.few_shot) <= 4
    for example in program.few_shot:
        assert misfit(example.output, program.output_schema) is None
    shown = {json.dumps(example.inputs, sort_keys=True) for example in program.few_shot}
    assert len(shown) == len(program.few_shot)


def test_an_example_is_negative_and_another_is_not(program: Program) -> None:
    negative = [NEGATIVE[program.stage](example) for example in program.few_shot]
    assert True in negative
    if program.stage != "entailment":  # each of its examples has segments of both sorts
        assert False in negative


def test_examples_speak_of_nothing_that_was_not_asked_about(program: Program) -> None:
    for example in program.few_shot:
        given = {value for _, value in _leaves(example.inputs)}
        for entry in _entries(example.output):
            assert {entry[name] for name in IDS if name in entry} <= given


@pytest.mark.parametrize(
    ("stage", "asked", "answered", "name"),
    [
        ("align_concepts", "pairs", "alignments", "pair"),
        ("align_events", "pairs", "alignments", "pair"),
        ("confirm_merge", "pairs", "verdicts", "pair"),
        ("role_probability", "pairs", "probabilities", "pair"),
        ("truth_eval", "segments", "verdicts", "segment"),
        ("entailment", "segments", "judgements", "segment"),
        ("self_rag", "passages", "passages", "passage"),
        ("crag", "passages", "grades", "passage"),
    ],
)
def test_examples_answer_everything_once_in_order(
    stage: str, asked: str, answered: str, name: str, tmp_path: Path
) -> None:
    for example in load_program(stage, root=tmp_path).few_shot:
        ids = [one.get("id", one.get(name)) for one in example.inputs[asked]]
        assert [one[name] for one in example.output[answered]] == ids


def test_examples_copy_words_exactly_from_the_place_they_are_about(program: Program) -> None:
    for example in program.few_shot:
        texts = {
            one["id"]: one["text"] for one in example.inputs.get("segments", ()) if "id" in one
        }
        numbered = {
            one["number"]: one["text"]
            for one in example.inputs.get("passages", ())
            if "number" in one
        }
        for entry in _entries(example.output):
            where = entry.get("source", entry.get("segment"))
            text = numbered.get(entry.get("number"), texts.get(where))
            given = json.dumps(example.inputs, ensure_ascii=False) if text is None else text
            for name, value in _leaves(entry):
                if name in COPIED:
                    assert value in given, value
            if "cue" in entry:
                assert entry["cue"] in entry["quote"]
            if "antecedent" in entry:
                assert entry["antecedent"] in texts[entry["antecedent_segment"]]
            if program.stage == "lift_context":
                assert entry["name"] in texts[entry["segment"]]
            if program.stage == "truth_eval":
                assert all(one in texts[entry["segment"]] for one in entry["missing"])
            if program.stage == "refine" and "kind" in entry:
                labels = {one["label"] for one in _entries(example.inputs) if "label" in one}
                assert {entry["source"], entry["target"]} <= labels


def test_hypothetical_passages_have_the_length_that_is_asked_for(tmp_path: Path) -> None:
    for example in load_program("hyde", root=tmp_path).few_shot:
        assert 3 <= example.output["passage"].count(". ") + 1 <= 5


def _schemas(schema: Any) -> Iterator[Any]:
    """Go through a schema and all that are in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for one in (*inner, *filter(None, [schema.get("items")])):
        yield from _schemas(one)


def _entries(data: Any) -> Iterator[dict[str, Any]]:
    """Go through the objects that are listed in a reply, the outer ones first."""
    for one in data.values() if isinstance(data, dict) else data:
        if isinstance(one, list):
            for entry in one:
                if isinstance(entry, dict):
                    yield entry
                    yield from _entries(entry)


def _leaves(data: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in _leaves(value, key)]
    if isinstance(data, list):
        return [leaf for value in data for leaf in _leaves(value, name)]
    return [(name, data)]
