"""Programs are read from their family, over the baseline, over what is shipped."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import PolicyError
from abstrag.llm.model import CallRole
from abstrag.llm.shape import misfit
from abstrag.model.index import Field, Profile, StatementKind
from abstrag.model.patch import DeltaKind, EditOp, Stage
from abstrag.model.query import LiteralKind
from abstrag.model.term import Family
from abstrag.policy.load import base_hash, load_program, load_programs, schema_faults
from abstrag.policy.location import FIXED, MUTABLE, PROGRAMS, policy_root
from abstrag.search.query.operators import OPERATORS

STAGE = "align_concepts"
OF_THE_PAPER = (  # a model is asked about no other family
    Family.EXPRESSION,
    Family.CONCEPT,
    Family.INTENT,
    Family.EVENT,
    Family.CONTEXT,
)


def write(root: Path, family: str, content: object, stage: str = STAGE) -> Path:
    path = root / family / f"{stage}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def field(stage: str, *path: str) -> Any:
    """Return the schema of a field of a program's reply."""
    schema: Any = load_program(stage, root=Path("nowhere")).output_schema
    for name in path:
        schema = schema.get("items", schema)
        schema = next((one for one in schema.get("anyOf", [schema]) if "properties" in one), schema)
        schema = schema["properties"][name]
    return schema.get("items", schema)


@pytest.mark.parametrize("stage", PROGRAMS)
def test_every_shipped_program_is_whole_strict_and_short(stage: str, tmp_path: Path) -> None:
    program = load_program(stage, root=tmp_path)
    assert program.stage == stage
    assert program.mutable == (stage in MUTABLE)
    assert schema_faults(program.output_schema) == []
    assert program.rules
    assert len(program.request(CallRole.INDEX, {}).system) < 3000  # with three examples
    for example in program.few_shot:
        assert misfit(example.output, program.output_schema) is None


def test_how_sure_a_model_is_is_asked_for_in_whole_percents(tmp_path: Path) -> None:
    """Servers that enforce schemas keep integers in their range, but not fractions."""
    asked = 0
    for program in load_programs(root=tmp_path).values():
        for name, schema in _fields(program.output_schema):
            if name in ("confidence", "probability"):
                assert schema == {"type": "integer", "minimum": 0, "maximum": 100}, program.stage
                asked += 1
    assert asked >= 10


def _fields(schema: Any) -> list[tuple[str, Any]]:
    own = schema.get("properties", {})
    inner = [*own.values(), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])]
    return [*own.items(), *(field for one in inner for field in _fields(one))]


def test_what_a_model_may_choose_is_what_the_code_knows() -> None:
    """An enum of a schema and an enum of the code must not drift apart."""
    kinds = [kind.value for kind in LiteralKind]
    assert field("normalize_query", "literals", "kind")["enum"] == kinds
    assert field("extract_statements", "statements", "profile")["enum"] == list(Profile)
    assert field("extract_statements", "statements", "kind")["enum"] == list(StatementKind)
    assert set(field("lift_context", "values", "field")["enum"]) == set(Field) - {Field.EVIDENCE}
    offered = field("expand_query", "clauses", "edges", "operator")["enum"]
    assert offered == ["alias", "synonym", "hypernym", "role", "event", "time"]
    assert set(offered) <= set(OPERATORS)
    assert field("refine", "patches", "stage")["enum"] == list(Stage)
    proposed = [kind for kind in DeltaKind if kind is not DeltaKind.PRECEDENT]
    assert field("refine", "patches", "kind")["enum"] == proposed
    assert field("refine", "patches", "edit", "op")["enum"] == list(EditOp)
    assert field("localize", "stage")["enum"] == list(Stage)
    for stage, path in (("explain", ["dominant"]), ("critic", ["failure", "dominant"])):
        assert field(stage, *path)["enum"] == [*OF_THE_PAPER, "none"]


def test_a_family_overrides_the_baseline_file_by_file(tmp_path: Path) -> None:
    write(tmp_path, "_base", {"rules": ["For all."]})
    write(tmp_path, "news", {"rules": ["For news."]})
    assert load_program(STAGE, root=tmp_path).rules == ("For all.",)
    assert load_program(STAGE, "news", tmp_path).rules == ("For news.",)
    assert load_program(STAGE, "legal", tmp_path).rules == ("For all.",)
    assert load_program("align_events", "news", tmp_path).rules != ("For news.",)


def test_a_slot_that_a_file_leaves_out_comes_from_underneath(tmp_path: Path) -> None:
    shipped = load_program(STAGE, root=tmp_path)
    write(tmp_path, "news", {"rules": []})
    program = load_program(STAGE, "news", tmp_path)
    assert program.rules == ()
    assert program.instruction == shipped.instruction
    assert program.few_shot == shipped.few_shot


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "cannot be read"),
        ("[]", "JSON object"),
        ('{"rules": [], "rules": []}', "'rules' stands there twice"),
        ({"rule": []}, "unknown slot 'rule'"),
        ({"rules": "one"}, "rules"),
        ({"rules": ["a", 3]}, "rules.1"),
        ({"instruction": " "}, "instruction"),
        ({"few_shot": [{"inputs": {}}]}, "few_shot.0.output"),
        ({"few_shot": [{"inputs": {}, "output": {"alignments": 3}}]}, "few_shot.0.output"),
        ({"output_schema": {"type": "object", "properties": {}}}, "additionalProperties"),
        ({"output_schema": {"type": "array"}}, "maxItems"),
    ],
)
def test_a_broken_file_is_named_with_its_field(tmp_path: Path, content: object, named: str) -> None:
    path = write(tmp_path, "news", content)
    with pytest.raises(PolicyError) as caught:
        load_program(STAGE, "news", tmp_path)
    assert str(path) in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "string"}, "maxLength"),
        ({"type": "array", "items": {"type": "null"}}, "maxItems"),
        ({"type": "date"}, "unknown type"),
        ({"anyOf": [{"type": "string"}]}, "anyOf[0]"),
        (3, "not a schema"),
    ],
)
def test_an_open_schema_is_seen_wherever_it_is(schema: object, fault: str) -> None:
    whole = {
        "type": "object",
        "properties": {"x": schema},
        "required": ["x"],
        "additionalProperties": False,
    }
    (found,) = schema_faults(whole)
    assert fault in found
    assert "$.x" in found
    assert schema_faults({**whole, "required": []})[0] == "$: every field must be required"
    assert schema_faults({"type": "null"}) == ["$: a reply is an object"]


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(PolicyError, match="no program 'nowhere'"):
        load_program("nowhere")


def test_the_hash_is_of_the_content_and_not_of_the_layout(tmp_path: Path) -> None:
    write(tmp_path, "a", '{"rules": ["One."]}')
    write(tmp_path, "b", '{\n  "rules": [\n "One."]\n}\n')
    write(tmp_path, "c", '{"rules": ["Two."]}')
    one, same, other = (base_hash(load_program(STAGE, family, tmp_path)) for family in "abc")
    assert one == same != other


def test_the_folder_comes_from_the_caller_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "env"))
    assert policy_root() == tmp_path / "env"
    assert policy_root(tmp_path) == tmp_path
    monkeypatch.delenv("ABSTRAG_POLICY")
    assert policy_root().name == "policy"


def test_programs_are_either_editable_or_fixed() -> None:
    assert set(MUTABLE).isdisjoint(FIXED)
    assert len(MUTABLE) == 7
    assert set(MUTABLE.values()) == set(Stage)
